"""While nothing tells configurations apart, trials spread over the space, and do not go to its corners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import ask, run
from xstar.look.audit import audit
from xstar.schedulers import ASHA
from xstar.searchers import DNGO, GP, TPE, Forest, Searcher

CUBE = xs.Space({f"x{place}": xs.Float(0.0, 1.0) for place in range(3)})
ANY = pytest.mark.parametrize(
    "searcher", [GP(), DNGO(networks=1), Forest(), TPE()], ids=["gp", "dngo", "forest", "tpe"]
)


def never(config: dict[str, Any]) -> float:
    raise ArithmeticError("never")


def inside(config: dict[str, Any]) -> float:
    """A value in a twelfth of the cube."""
    if any(abs(value - 0.26) > 0.22 for value in config.values()):
        raise ArithmeticError("outside")
    return float(sum((value - 0.35) ** 2 for value in config.values()))


def at_border(trial: xs.Trial) -> bool:
    return min(min(value, 1.0 - value) for value in trial.config.values()) < 1e-6


@ANY
@pytest.mark.parametrize(
    ("loss", "why", "every"),
    [(never, "too few trials have a value", 2), (lambda config: 0.9, "all losses are the same", 1)],
    ids=["failures", "one loss"],
)
def test_trials_are_points_of_a_sobol_sequence(searcher: Searcher, loss: Any, why: str, every: int) -> None:
    study = xs.Study(CUBE, searcher=searcher, seed=1)
    trials = run(study, 40, loss)
    spread = [trial for trial in trials if trial.origin.endswith(why)]
    assert [trial.number for trial in spread] == list(range(spread[0].number, 40, every))
    assert len(spread) >= 15
    assert not any(at_border(trial) for trial in spread)
    halves = np.array([list(trial.config.values()) for trial in spread]) > 0.5
    assert (np.abs(halves.mean(axis=0) - 0.5) < 0.2).all(), "in every parameter both halves"
    assert audit(study).findings == []


@ANY
def test_two_losses_that_differ_are_enough_for_a_model(searcher: Searcher) -> None:
    study = xs.Study(CUBE, searcher=searcher, seed=1)
    study.add({"x0": 0.5, "x1": 0.3, "x2": 0.7}, 1.0)
    study.add({"x0": 0.5, "x1": 0.3, "x2": 0.6}, 2.0)
    assert not any("too few" in trial.origin or "the same" in trial.origin for trial in run(study, 8, never))


def test_a_small_region_with_values_is_found() -> None:
    found = [run(xs.Study(CUBE, searcher=GP(), seed=seed), 60, inside) for seed in range(3)]
    assert all(any(trial.state is xs.State.COMPLETE for trial in trials) for trials in found)


def test_a_metric_that_is_measured_guides_where_nothing_is_feasible() -> None:
    study = xs.Study(CUBE, searcher=GP(initial=3), metric="loss", constraints={"size": -1.0}, seed=3)
    for _ in range(8):
        trial = ask(study)
        study.tell(trial, {"loss": 1.0, "size": trial["x0"]})
    assert study.history.trials[-1].origin.startswith("gp: log p ")


def test_over_budgets_it_is_the_same() -> None:
    study = xs.Study(CUBE, searcher=GP(), scheduler=ASHA(max_budget=9), seed=1)
    for _ in range(14):
        trial = ask(study)
        study.fail(trial, "never")
    assert all(trial.origin.endswith("too few trials have a value") for trial in study.history.trials[5::2])
    assert audit(study).findings == []


def test_a_penalty_is_no_obstacle() -> None:
    def returned(config: dict[str, Any]) -> float:
        try:
            return inside(config)
        except ArithmeticError:
            return 1e9

    ended = [run(xs.Study(CUBE, method="gp", seed=seed), 50, returned) for seed in range(3)]
    assert max(min(trial.value or 0.0 for trial in trials) for trials in ended) < 0.05
