"""GP search where numbers are awkward, data are many or few, and trials fail: a suggestion all the same, and never NaN."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, ask, best_value, bowl, run
from xstar.searchers import GP
from xstar.searchers.bo.observations import last_refit

# ---------------------------------------------------------------- hard numerics


def test_the_unit_does_not_matter() -> None:
    def searched(unit: float) -> list[xs.Trial]:
        return run(xs.Study(SQUARE, searcher=GP(initial=3), seed=1), 7, lambda config: unit * bowl(config))

    runs = [searched(unit) for unit in (1.0, 2.0**40)]
    for one, two in zip(*runs, strict=True):
        assert list(one.config.values()) == pytest.approx(list(two.config.values()), abs=1e-3)


def test_two_thousand_observations() -> None:
    space = xs.Space(**{f"x{i}": xs.Float(0, 1) for i in range(3)})
    study = xs.Study(space, searcher=GP(max_observations=120), seed=1)
    for row in np.random.default_rng(0).random((2000, 3)):
        study.add({f"x{i}": float(value) for i, value in enumerate(row)}, float(((row - 0.4) ** 2).sum()))
    assert "n=2000, fitted to 120 of 1969" in ask(study).origin
    trial = ask(study)
    assert re.fullmatch(rf"gp: log EI .*, n=2000, fitted to 120 of {last_refit(2000)}", trial.origin)
    assert sum((value - 0.4) ** 2 for value in trial.config.values()) < 0.1


# ---------------------------------------------------------------- what cannot be evaluated


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
    monkeypatch.setattr("xstar.searchers.bo.design.MOST_STEPS", 0)  # Sobol points are in both halves
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
