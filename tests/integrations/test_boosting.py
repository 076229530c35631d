"""The callbacks of LightGBM and XGBoost report, prune and go on from the booster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xstar as xs
from xstar.errors import ObjectiveError

rng = np.random.default_rng(0)
X = rng.normal(size=(240, 5))
y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.1 * rng.normal(size=240)
SPACE = xs.Space(learning_rate=xs.Float(1e-3, 1.0, log=True), max_depth=xs.Int(1, 6))

Train = Callable[[Any, Any, "int | None"], Any]
"""Trains for so many rounds (``None``: as the report says) and returns the booster."""


def _lightgbm() -> tuple[Train, str]:
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    from xstar.integrations.lightgbm import Report

    fixed = {"objective": "l2", "verbosity": -1, "num_threads": 1, "num_leaves": 15, "deterministic": True, "seed": 0}

    def train(trial: Any, options: Any = None, rounds: int | None = None) -> Any:
        report = None if rounds else Report(trial, **(options or {}))
        return lightgbm.train(
            {**trial.config, **fixed},
            lightgbm.Dataset(X[:160], y[:160]),
            num_boost_round=rounds or report.rounds,  # type: ignore[union-attr]
            init_model=report and report.model,
            valid_sets=[lightgbm.Dataset(X[160:], y[160:])],
            callbacks=[report] if report else [],
        )

    return train, "valid_0-l2"


def _xgboost() -> tuple[Train, str]:
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
    from xstar.integrations.xgboost import Report

    def train(trial: Any, options: Any = None, rounds: int | None = None) -> Any:
        report = None if rounds else Report(trial, **(options or {}))
        return xgboost.train(
            {**trial.config, "nthread": 1, "seed": 0},
            xgboost.DMatrix(X[:160], y[:160]),
            num_boost_round=rounds or report.rounds,  # type: ignore[union-attr]
            xgb_model=report and report.model,
            evals=[(xgboost.DMatrix(X[160:], y[160:]), "valid")],
            verbose_eval=False,
            callbacks=[report] if report else [],
        )

    return train, "valid-rmse"


@pytest.fixture(params=[_lightgbm, _xgboost], ids=["lightgbm", "xgboost"])
def library(request: pytest.FixtureRequest) -> tuple[Train, str]:
    made: tuple[Train, str] = request.param()
    return made


def trees(booster: Any) -> int:
    return booster.num_trees() if hasattr(booster, "num_trees") else booster.num_boosted_rounds()


def test_bad_trials_end_early_and_good_ones_go_on(library: tuple[Train, str]) -> None:
    train, metric = library
    runs: list[int] = []

    def objective(trial: Any) -> None:
        before = trial.attempt
        booster = train(trial, {"every": 2}, None)
        assert trees(booster) == 18  # only a whole training comes back here
        runs.append(before)

    result = xs.minimize(objective, SPACE, metric=metric, method="asha", max_budget=9, trials=12, seed=0)
    trials = result.study.trials
    assert {trial.budget for trial in trials} == {1, 3, 9}
    assert not [trial.reason for trial in trials if trial.state is xs.State.FAILED]
    assert max(runs) > 0  # a paused trial went on


def test_a_trial_that_went_on_is_one_that_never_stopped(library: tuple[Train, str]) -> None:
    """Rounds 1, 2–3 and 4–9 in three runs give the scores of nine rounds in one."""
    train, metric = library
    asha = xs.minimize(
        lambda t: train(t, {}, None) and None, SPACE, metric=metric, method="asha", max_budget=9, trials=9, seed=0
    )
    best = asha.best
    assert best.attempt > 0
    assert best.budget == 9
    whole = xs.minimize(
        lambda t: train(t, {}, None) and None,
        xs.Space({name: xs.Constant(value) for name, value in best.config.items()}),
        metric=metric,
        method="random",
        max_budget=9,
        trials=1,
    )
    np.testing.assert_allclose(
        [each.metrics[metric] for each in best.reports],
        [each.metrics[metric] for each in whole.best.reports],
        rtol=1e-5,
    )


def test_the_rounds_need_an_end(library: tuple[Train, str]) -> None:
    train, metric = library
    with pytest.raises(ObjectiveError, match="max_budget: is needed"):
        xs.minimize(lambda t: train(t, {}, None), SPACE, metric=metric, trials=3, max_failures=1)
    with pytest.raises(ObjectiveError, match="every: must be"):
        xs.minimize(
            lambda t: train(t, {"every": 0}, None), SPACE, metric=metric, trials=3, max_failures=1, max_budget=3
        )


NOISE = rng.normal(size=240)
"""Nothing to learn: early stopping ends every training soon."""


def test_a_booster_that_xgboost_stopped_early_is_that_of_the_last_report() -> None:
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
    from xstar.integrations.xgboost import Report

    valid = xgboost.DMatrix(X[160:], NOISE[160:])

    def objective(trial: Any) -> None:
        report = Report(trial, every=2)
        fixed = {"max_depth": 2, "nthread": 1}
        train = xgboost.DMatrix(X[:160], NOISE[:160])
        evals = [(valid, "valid")]
        xgboost.train(
            {**trial.config, **fixed},
            train,
            report.rounds,
            evals=evals,
            callbacks=[report],
            xgb_model=report.model,
            early_stopping_rounds=6,
            verbose_eval=False,
        )

    space = xs.Space(eta=xs.Constant(0.5))
    result = xs.minimize(objective, space, metric="valid-rmse", method="asha-stop", max_budget=27, trials=1)
    assert result.best.state is xs.State.COMPLETE
    assert 3 < result.best.budget < 9  # past a rung, before the next
    booster = xgboost.Booster(model_file=result.load())
    assert booster.num_boosted_rounds() == 2 * result.best.budget
    assert float(booster.eval(valid).split(":")[1]) == pytest.approx(result.value, rel=1e-5)


@pytest.mark.parametrize("patience", [6, 100])
@pytest.mark.parametrize("cut", [False, True], ids=["kept", "cut"])
def test_the_booster_of_the_best_round_of_xgboost_is_kept(cut: bool, patience: int) -> None:
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
    from xstar.integrations.xgboost import Report

    scores: list[float] = []

    def objective(trial: Any) -> None:
        report = Report(trial, every=2)
        early = xgboost.callback.EarlyStopping(
            rounds=patience, save_best=cut
        )  # before the report, which is told after it
        data, valid = (xgboost.DMatrix(X[rows], NOISE[rows]) for rows in (slice(160), slice(160, 240)))
        options: Any = {"evals": [(valid, "valid")], "callbacks": [early, report], "verbose_eval": False}
        told: Any = {}
        fixed = {**trial.config, "max_depth": 2, "nthread": 1}
        booster = xgboost.train(fixed, data, report.rounds, evals_result=told, **options)
        scores.extend(told["valid"]["rmse"])
        if not cut or patience == 100:  # a training that was not ended early was saved at its last report
            report.keep(booster)

    space = xs.Space(eta=xs.Constant(0.5))
    options: Any = {"metric": "valid-rmse", "method": "asha-stop", "max_budget": 9, "trials": 1, "trial_value": "best"}
    result = xs.minimize(objective, space, **options)
    assert result.best.state is xs.State.COMPLETE
    assert len(scores) == (18 if patience == 100 else np.argmin(scores) + 1 + patience)
    booster = xgboost.Booster(model_file=result.load())
    assert booster.num_boosted_rounds() == np.argmin(scores) + 1


def test_lightgbm_stops_early_after_its_round_was_reported() -> None:
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    from xstar.integrations.lightgbm import Report

    def objective(trial: Any) -> None:
        report = Report(trial)
        fixed = {"objective": "l2", "verbosity": -1, "num_threads": 1}
        train, valid = (lightgbm.Dataset(X[rows], NOISE[rows]) for rows in (slice(160), slice(160, 240)))
        early = lightgbm.early_stopping(trial["patience"], verbose=False)
        callbacks = [report, early]
        report.keep(lightgbm.train({"learning_rate": 0.5, **fixed}, train, report.rounds, [valid], callbacks=callbacks))

    def best(patience: int) -> Any:
        space = xs.Space(patience=xs.Constant(patience))
        return xs.minimize(objective, space, metric="valid_0-l2", method="asha-stop", max_budget=9, trials=1)

    whole, early = best(100), best(3)
    assert whole.best.budget == 9
    assert early.best.budget < 9
    for each in (whole, early):
        losses = [report.metrics["valid_0-l2"] for report in each.best.reports]
        assert lightgbm.Booster(model_str=each.load()).num_trees() == np.argmin(losses) + 1
