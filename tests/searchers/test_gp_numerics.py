"""GP search where numbers are awkward, data are many or few, and trials fail: a suggestion all the same, and never NaN."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, ask, best_value, bowl, of_the_model, run
from xstar.searchers import GP
from xstar.searchers.bo.observations import last_refit

# ---------------------------------------------------------------- hard numerics


@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e200])
@pytest.mark.parametrize("offset", [0.0, 1e12])
def test_any_unit(scale: float, offset: float) -> None:
    study = xs.Study(SQUARE, searcher=GP(initial=3), seed=1)
    trials = run(study, 8, lambda config: offset + scale * bowl(config))
    assert len(of_the_model(trials)) == 5


def test_the_unit_does_not_matter() -> None:
    def searched(unit: float) -> list[xs.Trial]:
        return run(xs.Study(SQUARE, searcher=GP(initial=3), seed=1), 7, lambda config: unit * bowl(config))

    runs = [searched(unit) for unit in (1.0, 2.0**40)]
    for one, two in zip(*runs, strict=True):
        assert list(one.config.values()) == pytest.approx(list(two.config.values()), abs=1e-3)


def test_constant_targets() -> None:
    study = xs.Study(SQUARE, searcher=GP(initial=3), seed=1)
    trials = run(study, 10, lambda config: 0.25)
    assert len(of_the_model(trials)) == 7
    assert len({tuple(trial.config.values()) for trial in trials}) == 10


def test_one_diverged_trial() -> None:
    study = xs.Study(SQUARE, searcher=GP(initial=4), seed=1)
    trials = run(study, 14, lambda config: 1.7e308 if config["x"] > 0.7 else bowl(config))
    assert len(of_the_model(trials)) == 10
    assert best_value(study) < 0.02


def test_duplicated_points() -> None:
    study = xs.Study(SQUARE, searcher=GP(initial=2), seed=1)
    for _ in range(12):
        study.enqueue({"x": 0.5, "y": 0.5})
    noise = np.random.default_rng(0)
    run(study, 12, lambda config: bowl(config) + 0.01 * noise.standard_normal())
    assert len(of_the_model(run(study, 3))) == 3


def test_equal_points_that_tell_nothing_else() -> None:
    study = xs.Study(SQUARE, searcher=GP(initial=2), seed=1)
    for _ in range(6):
        study.enqueue({"x": 0.5, "y": 0.5})
    trials = run(study, 9, lambda config: 1.0)
    assert len(of_the_model(trials)) == 3


def test_one_observation() -> None:
    study = xs.Study(SQUARE, searcher=GP(initial=1), seed=1)
    trials = run(study, 3)
    assert "a step of" in trials[1].origin
    assert "n=2" in trials[2].origin


def test_two_thousand_observations() -> None:
    space = xs.Space(**{f"x{i}": xs.Float(0, 1) for i in range(3)})
    study = xs.Study(space, searcher=GP(max_observations=120), seed=1)
    for row in np.random.default_rng(0).random((2000, 3)):
        study.add({f"x{i}": float(value) for i, value in enumerate(row)}, float(((row - 0.4) ** 2).sum()))
    assert "n=2000, fitted to 120 of 1969" in ask(study).origin
    trial = ask(study)
    assert re.fullmatch(rf"gp: log EI .*, n=2000, fitted to 120 of {last_refit(2000)}", trial.origin)
    assert sum((value - 0.4) ** 2 for value in trial.config.values()) < 0.1


def test_sixty_dimensions() -> None:
    space = xs.Space(**{f"x{i}": xs.Float(0, 1) for i in range(60)})
    study = xs.Study(space, searcher=GP(initial=5), seed=1)
    trials = run(study, 8, lambda config: sum((value - 0.5) ** 2 for value in config.values()))
    assert len(of_the_model(trials)) == 3


# ---------------------------------------------------------------- what cannot be evaluated


@pytest.mark.parametrize("kind", [xs.Infeasible, ArithmeticError])
def test_all_trials_fail(kind: type[Exception]) -> None:
    def never(config: dict[str, Any]) -> float:
        raise kind("never")

    study = xs.Study(SQUARE, searcher=GP(initial=3), seed=1)
    trials = run(study, 9, never)
    assert all(trial.origin.endswith("too few trials have a value") for trial in trials[3::2])
    for trial in trials[4::2]:
        assert re.match(r"gp: log p -?[\d.e+-]+, nothing is known to be feasible", trial.origin)
    places = np.array([list(trial.config.values()) for trial in trials])
    assert (np.linalg.norm(places[:, None] - places, axis=2) + np.eye(9)).min() > 0.01  # it looks elsewhere each time


def test_all_but_one_fail() -> None:
    study = xs.Study(SQUARE, searcher=GP(initial=3), seed=1)
    study.add({"x": 0.9, "y": 0.9}, 1.0)
    study.add({"x": 0.8, "y": 0.9}, 2.0)

    def never(config: dict[str, Any]) -> float:
        raise xs.Infeasible("never")

    assert all("n=2" in trial.origin for trial in run(study, 8, never)[1:])


def left_half(best: float) -> Callable[[dict[str, Any]], float]:
    def loss(config: dict[str, Any]) -> float:
        if config["x"] > 0.5:
            raise xs.Infeasible("x is above 1/2")
        return float((config["x"] - best) ** 2 + (config["y"] - 0.5) ** 2)

    return loss


@pytest.mark.parametrize("acquisition", ["ei", "ucb", "thompson"])
def test_half_of_the_space_is_infeasible(acquisition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The share of infeasible suggestions falls, and the optimum in the other half is found."""
    monkeypatch.setattr("xstar.searchers.bo.suggest.MOST_STEPS", 0)  # Sobol points are in both halves
    shares = []
    for seed in (2, 3):
        study = xs.Study(SQUARE, searcher=GP(initial=8, acquisition=acquisition), seed=seed)
        bad = [trial.state is xs.State.INFEASIBLE for trial in run(study, 30, left_half(0.3))]
        shares.append([np.mean(bad[:8]), np.mean(bad[8:])])
        assert best_value(study) < 1e-3
    first, then = np.mean(shares, axis=0)
    assert first >= 0.4
    assert then < 0.5 * first


def test_the_optimum_behind_the_border() -> None:
    """It draws the search to the border; at least a good part of it stays on this side."""
    study = xs.Study(SQUARE, searcher=GP(initial=8), seed=2)
    bad = [trial.state is xs.State.INFEASIBLE for trial in run(study, 30, left_half(0.55))]
    assert np.mean(bad[8:]) < 0.6
    assert best_value(study) < 0.0025 + 0.01
