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
    with pytest.raises(ObjectiveError, match="max_budget: is needed to count the rounds that are left"):
        xs.minimize(lambda t: train(t, {}, None), SPACE, metric=metric, trials=3, max_failures=1)
    with pytest.raises(ObjectiveError, match="every: must be"):
        xs.minimize(
            lambda t: train(t, {"every": 0}, None), SPACE, metric=metric, trials=3, max_failures=1, max_budget=3
        )
