"""GP and DNGO where losses are awkward, data few or repeated, and trials fail: a suggestion all the same, and never NaN."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, best_value, bowl, of_the_model, run
from xstar.searchers import DNGO, GP, Searcher

pytestmark = pytest.mark.usefixtures("short_training")
BOTH = pytest.mark.parametrize("method", ["gp", "dngo"])


def made(method: str, initial: int) -> Searcher:
    return GP(initial=initial) if method == "gp" else DNGO(initial=initial, networks=2)


def study(method: str, initial: int, space: xs.Space = SQUARE) -> xs.Study:
    return xs.Study(space, searcher=made(method, initial), seed=1)


@BOTH
@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e200])
@pytest.mark.parametrize("offset", [0.0, 1e12])
def test_any_unit(method: str, scale: float, offset: float) -> None:
    trials = run(study(method, 3), 8, lambda config: offset + scale * bowl(config))
    assert len(of_the_model(trials, method)) == 5


@BOTH
def test_constant_targets(method: str) -> None:
    trials = run(study(method, 3), 12, lambda config: 0.25)
    assert len(of_the_model(trials, method)) == 9
    assert len({tuple(trial.config.values()) for trial in trials}) == 12


@BOTH
def test_one_diverged_trial(method: str) -> None:
    search = study(method, 4)
    trials = run(search, 14, lambda config: 1.7e308 if config["x"] > 0.7 else bowl(config))
    assert len(of_the_model(trials, method)) == 10
    assert best_value(search) < (0.02 if method == "gp" else 0.1)


@BOTH
def test_nan_losses_are_failures(method: str) -> None:
    search = study(method, 4)
    run(search, 14, lambda config: float("nan") if config["x"] > 0.6 else bowl(config))
    assert len(of_the_model(search.history.trials, method)) == 10
    assert best_value(search) < 0.1


@BOTH
@pytest.mark.parametrize("noise", [0.01, 0.0])
def test_repeated_points(method: str, noise: float) -> None:
    search = study(method, 2)
    for _ in range(12):
        search.enqueue({"x": 0.5, "y": 0.5})
    rng = np.random.default_rng(0)
    run(search, 12, lambda config: bowl(config) + noise * rng.standard_normal())
    assert len(of_the_model(run(search, 3), method)) == 3


@BOTH
def test_one_observation(method: str) -> None:
    trials = run(study(method, 1), 3)
    assert ("a step of" if method == "gp" else "sobol") in trials[1].origin
    assert "n=2" in trials[2].origin


@pytest.mark.parametrize(("method", "dimensions"), [("gp", 60), ("dngo", 200)])
def test_many_dimensions(method: str, dimensions: int) -> None:
    search = study(method, 5, xs.Space(**{f"x{i}": xs.Float(0, 1) for i in range(dimensions)}))
    trials = run(search, 7, lambda config: sum((value - 0.5) ** 2 for value in config.values()))
    assert len(of_the_model(trials, method)) == 2


@BOTH
def test_only_categories(method: str) -> None:
    search = study(method, 2, xs.Space(a=xs.Choice(list("uvwxyz")), b=xs.Bool()))
    trials = run(search, 12, lambda config: float(ord(config["a"])))
    assert len(of_the_model(trials, method)) == 10
    assert search.ask() is None


@BOTH
def test_one_constant(method: str) -> None:
    search = study(method, 2, xs.Space(a=3))
    (trial,) = run(search, 1, lambda config: 1.0)
    assert trial.config == {"a": 3}
    assert search.ask() is None
    assert search.ended == "all 1 configurations of the space have been tried"


@BOTH
@pytest.mark.parametrize("kind", [xs.Infeasible, ArithmeticError])
def test_all_trials_fail(method: str, kind: type[Exception]) -> None:
    def never(config: dict[str, Any]) -> float:
        raise kind("never")

    trials = run(study(method, 3), 12, never)
    assert all(trial.origin.endswith("too few trials have a value") for trial in trials[3::2])
    for trial in trials[4::2]:
        assert re.match(rf"{method}: log p -?[\d.e+-]+, nothing is known to be feasible", trial.origin)
    places = np.array([list(trial.config.values()) for trial in trials])
    apart = (np.linalg.norm(places[:, None] - places, axis=2) + np.eye(12)).min()
    assert apart > (0.01 if method == "gp" else 1e-3), "it looks elsewhere each time"
