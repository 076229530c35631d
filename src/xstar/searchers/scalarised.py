"""Several objectives for searchers that know one number: the history through a weighted scalarisation.

The augmented Chebyshev function of ParEGO (Knowles 2006), whose minima are the points of the front, one for each weights w:

    s(y) = max_j w_j z_j + ρ Σ_j w_j z_j,      z_j = (y_j − low_j) / (high_j − low_j)

with low and high the range of the front of what was observed. The weights are drawn for each trial from its own random stream,
so that the suggestions of a study spread over the front. A searcher that knows several objectives says so by ``handles``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np

from xstar.core.goals import Goal, Goals
from xstar.core.pareto import Array, non_dominated
from xstar.journal import History
from xstar.journal.trial import Done, New, Suggestion
from xstar.searchers.base import Searcher

RHO = 0.05
"""ρ: without the sum, a point that another one dominates in all but its worst objective has the same value (Knowles 2006)."""
NAME = "scalarised"


@runtime_checkable
class HandlesGoals(Protocol):
    """A searcher (optionally) that knows what to do with several objectives."""

    def handles(self, goals: Goals) -> bool:
        """Whether it is to be handed the history as it is; otherwise it gets a scalarised one."""
        ...


def of_several(searcher: Searcher, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
    """What a searcher suggests where there may be several objectives, whether it knows several or one."""
    goals = history.goals
    if not goals.several or (isinstance(searcher, HandlesGoals) and searcher.handles(goals)):
        return searcher.suggest(history, task, rng)
    return searcher.suggest(scalarised(history, rng.dirichlet(np.ones(len(goals)))), task, rng)


class ScalarGoals(Goals):
    """The scalarisation as the only objective."""

    def __init__(self, goals: Goals, weights: Array, low: Array, high: Array) -> None:
        super().__init__([Goal(NAME)])
        self._goals, self._weights, self._low = goals, weights, low
        self._width = np.where(high > low, high - low, 1.0)

    def of(self, losses: Array) -> Array:
        """Return s at rows of losses: (n, m) → (n,)."""
        z = self._weights * (losses - self._low) / self._width
        made: Array = z.max(axis=1) + RHO * z.sum(axis=1)
        return made

    def losses(self, metrics: Mapping[str, float]) -> tuple[float, ...]:
        return (float(self.of(np.array([self._goals.losses(metrics)]))[0]),)

    def loss(self, metrics: Mapping[str, float]) -> float:
        return self.losses(metrics)[0]


def scalarised(history: History, weights: Array) -> History:
    """Return the history with one loss for each trial, for one suggestion."""
    observed = np.array([row[2:] for row in history.observed], dtype=np.float64).reshape(-1, len(weights))
    front = observed[non_dominated(observed)] if len(observed) else np.zeros((1, len(weights)))
    goals = ScalarGoals(history.goals, weights, front.min(axis=0), front.max(axis=0))
    return history.with_goals(goals, goals.of(observed).tolist() if len(observed) else [])
