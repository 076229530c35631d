"""NSGA-II: who may be a parent, in what order, and what a child has from whom."""

from __future__ import annotations

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE
from xstar.core.pareto import Array, hypervolume
from xstar.errors import InvalidArgument
from xstar.look.audit import audit
from xstar.searchers import NSGA2
from xstar.searchers.nsga2 import best_first, crossed, crowding
from xstar.space import Config
from xstar.study import Study
from xstar.testing import check_searcher

FREE = np.full(2, np.inf)


def two(config: Config) -> dict[str, float]:
    return {"a": config["x"] ** 2 + config["y"], "b": (config["x"] - 1) ** 2 + config["y"]}


def searched(trials: int, searcher: NSGA2 = NSGA2(10), **options: object) -> Study:  # noqa: B008
    study = Study(SQUARE, searcher=searcher, metric=["a", "b"], seed=0, **options)  # type: ignore[arg-type]
    for _ in range(trials):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, two(trial.config) | {"x": trial.config["x"]})
    return study


def test_the_suite() -> None:
    check_searcher(NSGA2(6))


def test_decisions_can_be_made_again() -> None:
    assert audit(searched(40)).findings == []


def test_it_covers_more_than_chance() -> None:
    space = xs.Space(**{f"x{i}": xs.Float(0, 1) for i in range(6)})
    covered = {}
    for method in ("nsga2", "random"):
        study = xs.Study(space, method=method, metric=["a", "b"], seed=0)
        for _ in range(120):
            trial = study.ask()
            assert trial is not None
            x = list(trial.config.values())
            study.tell(trial, {"a": x[0] + sum(x[1:]), "b": 1 - x[0] + sum(x[1:])})
        covered[method] = hypervolume(np.array([each.losses for each in study.trials]), np.array([4.0, 4.0]))
    assert covered["nsga2"] > 1.3 * covered["random"]


def test_parents_are_in_the_population_of_before() -> None:
    study = searched(40)
    for trial in study.trials[10:]:
        assert trial.origin.method == "nsga2"
        known = study.trials[: trial.number]
        Y = np.array([each.losses for each in known])
        population = best_first(Y, np.zeros(len(Y)), FREE)[:10].tolist()
        assert {trial.origin.numbers["first"], trial.origin.numbers["second"]} <= set(population)


def crowding_plainly(Y: Array) -> list[float]:
    """The assignment of Section III-B, line by line."""
    found = [0.0] * len(Y)
    for m in range(Y.shape[1]):
        order = sorted(range(len(Y)), key=lambda i: Y[i, m])
        found[order[0]] = found[order[-1]] = float("inf")
        for before, i, after in zip(order, order[1:], order[2:], strict=False):
            found[i] += (Y[after, m] - Y[before, m]) / (Y[order[-1], m] - Y[order[0], m])
    return found


def test_crowding_is_that_of_the_paper() -> None:
    Y = np.random.default_rng(0).random((30, 3))
    np.testing.assert_allclose(crowding(Y), crowding_plainly(Y))
    assert crowding(np.ones((3, 2))).tolist() == [np.inf, 0.0, np.inf]


def test_the_order_is_feasible_then_within_thresholds_then_fronts() -> None:
    Y = np.array([[0.0, 0.0], [1.0, 3.0], [3.0, 1.0], [2.0, 2.0], [3.0, 3.0], [0.5, 9.0]])
    broken = np.array([0.2, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert best_first(Y, broken, np.array([np.inf, 8.0])).tolist() == [2, 1, 3, 4, 5, 0]
    assert best_first(Y, np.array([0.2, 0.1, 0.3, 0.4, 0.5, 0.6]), FREE).tolist() == [1, 0, 2, 3, 4, 5]


def test_with_one_objective_the_population_are_the_best() -> None:
    Y = np.array([[3.0], [1.0], [2.0]])
    assert best_first(Y, np.zeros(3), np.array([np.inf])).tolist() == [1, 2, 0]


def test_infeasible_parents_are_those_that_break_least() -> None:
    study = searched(40, constraints={"x": 1e-6})
    assert not study.front
    for trial in study.trials[20:]:
        nearest = sorted(study.trials[: trial.number], key=lambda each: each.config["x"])[:10]
        assert trial.origin.numbers["first"] in {each.number for each in nearest}
    assert study.trials[-1].config["x"] < 0.2


def test_a_child_has_each_value_from_a_parent_and_what_neither_has_is_drawn() -> None:
    space = xs.Space(
        kind=xs.Choice(["a", "b"]), depth=xs.Int(1, 3), u=xs.Float(0, 1, when={"kind": "a", "depth": xs.at_least(2)})
    )
    mother, father = {"kind": "a", "depth": 1}, {"kind": "b", "depth": 3}
    rng = np.random.default_rng(0)
    born = [crossed(space, mother, father, rng) for _ in range(40)]
    assert {(each["kind"], each["depth"]) for each in born} == {("a", 1), ("a", 3), ("b", 1), ("b", 3)}
    assert len({each["u"] for each in born if each["kind"] == "a" and each["depth"] == 3}) > 3
    assert all(space.parse(each) == each for each in born)


def test_a_population_has_two_members_at_least() -> None:
    with pytest.raises(InvalidArgument, match="population"):
        NSGA2(1)
