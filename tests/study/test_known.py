"""Objectives that are functions of the configuration: never reported, never learned, never beyond their threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.trials import ask
from xstar.core.pareto import hypervolume
from xstar.errors import InvalidArgument, StudyMismatch
from xstar.look.audit import audit
from xstar.schedulers import ASHA
from xstar.searchers import GP
from xstar.searchers.acquisition.hypervolume import boxes, log_improvement
from xstar.searchers.bo.fronts import CERTAIN
from xstar.space import Config
from xstar.study import Study
from xstar.study.methods import METHODS

SPACE = xs.Space(
    width=xs.Int(1, 100), lr=xs.Float(1e-4, 1.0, log=True), skip=xs.Bool(), rate=xs.Float(0, 1, when={"skip": True})
)
LIMIT = 40.0


def size(config: Config) -> float:
    return float(config["width"])


def error(config: Config) -> float:
    return 1 / config["width"] + abs(np.log10(config["lr"]) + 2) + config.get("rate", 0.0)


METRIC: dict[str, Any] = {"error": "min", "size": xs.Known(size, "min", LIMIT)}


def searched(trials: int, **options: Any) -> Study:
    study = Study(SPACE, seed=0, **{"metric": METRIC, **options})
    for _ in range(trials):
        trial = study.ask()
        if trial is None:
            break
        study.tell(trial, error(trial.config))
    return study


@pytest.mark.usefixtures("short_training")
@pytest.mark.parametrize("method", sorted(set(METHODS) - {"nasbot-paper", "treebo"}))
def test_every_method_stays_within_the_threshold_and_can_decide_again(method: str) -> None:
    study = searched(16, method=method, max_budget=9 if "budget" in _needs(method) else None)
    assert study.trials
    assert all(trial.config["width"] <= LIMIT for trial in study.trials)
    assert all(trial.metrics["size"] == trial.config["width"] for trial in study.trials if trial.losses)
    assert audit(study).findings == []


def _needs(method: str) -> str:
    try:
        METHODS[method][1](None)
    except InvalidArgument:
        return "budget"
    return ""


def test_values_are_on_record_from_the_moment_of_the_decision() -> None:
    study = searched(3)
    trial = ask(study)
    assert trial.known == {"size": trial.config["width"]}
    study.tell(trial, {"error": 1.0, "size": -5.0})  # what a trial says of it does not count
    assert study.trials[-1].metrics == {"error": 1.0, "size": float(trial.config["width"])}
    added = study.add({"width": 7, "lr": 0.1, "skip": False}, 0.5)
    assert added.losses == (0.5, 7.0)


def test_another_function_under_a_resumed_study_is_refused(tmp_path: Path) -> None:
    stored: dict[str, Any] = {"study": "s", "storage": tmp_path / "s.db", "method": "random"}
    searched(3, **stored).close()
    other = METRIC | {"size": xs.Known(lambda config: size(config) + 1.0, "min", LIMIT)}
    with pytest.raises(StudyMismatch, match=r"'size' gives .* for trial 0 here"):
        Study(SPACE, metric=other, **stored)
    rounded = METRIC | {"size": xs.Known(lambda config: size(config) * (1 + 1e-12), "min", LIMIT)}
    Study(SPACE, metric=rounded, **stored).close()


def test_the_rest_of_a_study_is_as_with_any_other_objective() -> None:
    study = searched(20)
    assert [trial.values["error"] for trial in study.front] == sorted(trial.values["error"] for trial in study.front)
    assert study.why(15).recomputed.startswith("Made again from those events, the decision is the same")
    fork = study.fork(at=20)
    assert (trial := fork.ask()) is not None
    assert trial.known
    result = xs.minimize(lambda trial: error(trial.config), SPACE, metric=METRIC, trials=6, seed=0, workers=1)
    assert [trial.config for trial in result.study.trials] == [trial.config for trial in study.trials[:6]]


def test_an_objective_that_is_maximised_has_its_threshold_below() -> None:
    study = searched(12, metric={"error": "min", "speed": xs.Known(lambda config: -size(config), "max", -LIMIT)})
    assert all(trial.config["width"] <= LIMIT for trial in study.trials)


@pytest.mark.parametrize("budgets", [False, True])
def test_the_model_knows_the_value_and_does_not_learn_it(budgets: bool) -> None:
    calls: list[Config] = []

    def counted(config: Config) -> float:
        calls.append(config)
        return 0.0 if config["width"] % 7 == 3 else 1.0  # no surrogate would find this out

    metric = {"error": "min", "odd": xs.Known(counted)}
    study = Study(SPACE, searcher=GP(initial=6), scheduler=ASHA(9) if budgets else None, metric=metric, seed=0)
    for _ in range(24):
        trial = ask(study)
        for budget in (1, 3, 9):
            if study.report(trial, error(trial.config) + 1 / budget, budget) is not xs.Verdict.CONTINUE:
                break
        else:
            study.complete(trial)
    assert calls
    modelled = study.trials[6:]
    assert sum(trial.config["width"] % 7 == 3 for trial in modelled) > len(modelled) / 2
    assert audit(study).findings == []


def test_a_certain_coordinate_leaves_the_improvement_of_the_others() -> None:
    """E HVI with an exact second objective is the integral over the first alone."""
    front, r = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([3.0, 3.0])
    mean, std, known = 1.2, 0.7, 1.5
    value, _ = log_improvement(
        [np.array([[mean]]), np.array([[known]])], [np.array([std]), np.array([CERTAIN])], [boxes(front, r)], False
    )
    draws = np.random.default_rng(0).normal(mean, std, 4000)
    plain = [hypervolume(np.vstack([front, [y, known]]), r) - hypervolume(front, r) for y in draws]
    assert np.exp(value[0]) == pytest.approx(np.mean(plain), rel=0.05)


def test_an_architecture_may_decide_it() -> None:
    space = xs.Space(net=xs.nets.MLP(inputs=4), lr=xs.Float(0, 1))
    metric = {"error": "min", "layers": xs.Known(lambda config: len(config["net"].layers), "min", 20)}
    study = Study(space, method="nasbot", metric=metric, seed=0)
    for _ in range(14):
        trial = ask(study)
        assert len(trial.config["net"].layers) <= 20
        study.tell(trial, trial.config["lr"] + 1 / len(trial.config["net"].layers))
    assert study.trials[-1].origin.method == "nasbot"
    assert audit(study).findings == []


def test_a_stored_study_is_looked_at_without_the_function_and_goes_on_with_it(tmp_path: Path) -> None:
    storage = str(tmp_path / "studies.db")
    xs.minimize(lambda t: error(t.config), SPACE, metric=METRIC, trials=8, seed=0, study="k", storage=storage)
    with Study.open("k", storage) as looked:
        assert looked.front
        assert {trial.known["size"] for trial in looked.trials} == {float(t.config["width"]) for t in looked.trials}
        with pytest.raises(InvalidArgument, match=r"function of the known objective 'size'.*xs\.Known"):
            looked.ask()
    more = xs.minimize(lambda t: error(t.config), SPACE, metric=METRIC, trials=14, seed=0, study="k", storage=storage)
    plain = xs.minimize(lambda t: error(t.config), SPACE, metric=METRIC, trials=14, seed=0)
    assert [t.config for t in more.study.trials] == [t.config for t in plain.study.trials]
    with pytest.raises(StudyMismatch, match="metric"):
        Study.open("k", storage, metric={"error": "min", "size": ("min", LIMIT)})


def test_a_search_ends_where_nothing_is_left() -> None:
    study = searched(1, method="random", metric={"error": "min", "size": xs.Known(size, "min", 0.0)})
    assert not study.trials
    assert study.ended is not None
    assert "within the threshold of size" in study.ended


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ({"size": xs.Known(size)}, "an objective besides"),
        ({"a": "min", "size": xs.Known(size, "down")}, "must be min or max"),
        ({"a": "min", "size": xs.Known(lambda config: float("nan"))}, "finite number for every configuration"),
    ],
)
def test_mistakes_are_named(metric: Any, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        Study(SPACE, metric=metric, seed=0).ask()
    with pytest.raises(InvalidArgument, match="needs a function"):
        xs.Known(3)  # type: ignore[arg-type]
