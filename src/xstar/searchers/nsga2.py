"""NSGA-II: evolution towards a front, the baseline of searches with several objectives.

Choose it when trials are cheap and numerous, and there are several objectives: for hundreds of evaluations ``gp`` and ``tpe``
find more of the front. With one objective it is evolution with a population of the best.

The population are the best ``population`` of all trials with a result: front by front, and within a front those first that
stand apart from their neighbours. Infeasible ones follow, by how much they break the constraints. Two binary tournaments choose
parents, whose parameters are crossed and then mutated as in ``mutation.py``. As soon as a trial has a result it may be a
parent, so that no worker waits for a generation to end.

References: Deb, Pratap, Agarwal and Meyarivan (2002), A fast and elitist multiobjective genetic algorithm: NSGA-II, IEEE
Transactions on Evolutionary Computation 6; Durillo et al. (2009) for a population that is renewed trial by trial.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xstar.core.checks import check_counts
from xstar.core.goals import Goals
from xstar.core.pareto import Array, fronts
from xstar.journal import History
from xstar.journal.trial import Config, Done, New, Origin, Suggestion
from xstar.searchers.base import SEARCHERS, exhausted
from xstar.searchers.evolution import LOSS, LatestLosses
from xstar.searchers.mutation import first_design, initial_trial, untried_child
from xstar.space import Space

CROSSED = 0.9
"""The share of children that have two parents (Deb et al. 2002, Section V)."""


@dataclass(frozen=True, slots=True)
class NSGA2:
    """Suggest children of configurations in the first fronts."""

    population: int = 20
    """The trials that may become parents, and those of the initial design. The paper has 100, for 25,000 evaluations."""

    def __post_init__(self) -> None:
        check_counts(self, {"population": 2})

    def handles(self, goals: Goals) -> bool:
        """Trials are ranked by fronts, however many objectives there are."""
        return True

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        if (done := exhausted(history)) is not None:
            return done
        number = len(history.trials)
        alive = history.memo.fold(LatestLosses, history).comparable(number, self.population, infeasible=True)
        if number < self.population or len(alive) < 2:
            return initial_trial("nsga2", first_design(history, task, rng), number)
        broken = alive[:, LOSS - 1]
        order = best_first(alive[:, LOSS:], broken, np.array(history.goals.thresholds))[: self.population]
        # In a binary tournament the better of two wins: the one that stands first.
        first, second = (int(alive[order[rng.integers(len(order), size=2).min()], 0]) for _ in range(2))
        mother, father = history.trials[first].config, history.trials[second].config
        child = crossed(history.space, mother, father, rng) if rng.random() < CROSSED else mother
        parents = "trial {first}" if child is mother else "trials {first} and {second}"
        origin = Origin("nsga2", f"from {parents} of {{alive}}", first=first, second=second, alive=len(order))
        return untried_child(history, child, rng, origin, first)


def best_first(Y: Array, broken: Array, thresholds: Array) -> NDArray[np.intp]:
    """Return the indices of rows of losses, best first (Sections III-B and VI-A). Feasible ones stand front by front, those
    with the most room around them first in each, and those beyond a threshold last; the others follow by how much is
    ``broken``. Ties go to the earlier row."""
    rank, room = np.zeros(len(Y), dtype=np.intp), np.zeros(len(Y))
    feasible = np.flatnonzero(broken == 0.0)
    rank[feasible] = fronts(Y[feasible])
    for front in range(int(rank.max(initial=-1)) + 1):
        members = feasible[rank[feasible] == front]
        room[members] = crowding(Y[members])
    return np.lexsort((-room, rank, (thresholds < Y).any(axis=1), broken))


def crowding(Y: Array) -> Array:
    """Return the crowding distance of each row of a front: ∞ at its ends, elsewhere the sum over objectives of the distance
    between its neighbours, as a share of the range.

    >>> crowding(np.array([[0.0, 4.0], [1.0, 3.0], [2.0, 2.0], [4.0, 0.0]])).tolist()
    [inf, 1.0, 1.5, inf]
    """
    room = np.zeros(len(Y))
    for column in Y.T if len(Y) else ():
        order = np.argsort(column, kind="stable")
        low, high = column[order[0]], column[order[-1]]
        room[order[[0, -1]]] = np.inf
        if high > low:
            room[order[1:-1]] += (column[order[2:]] - column[order[:-2]]) / (high - low)
    return room


def crossed(space: Space, mother: Config, father: Config, rng: np.random.Generator) -> Config:
    """Return a configuration with each value from either parent; what neither has is drawn (uniform crossover)."""
    taken = {name: father[name] for name in father if name not in mother or rng.random() < 0.5}
    return space.complete(taken, mother, rng)


SEARCHERS.register("nsga2", NSGA2)
