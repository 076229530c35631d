"""The searcher protocol, and what all searchers share: finite spaces, and several objectives for those that know one number."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from xstar.core.goals import Goal, Goals
from xstar.core.pareto import Array, non_dominated
from xstar.core.registry import Registry
from xstar.journal import History
from xstar.journal.trial import Config, Done, New, Origin, Suggestion
from xstar.space import Parameter, Space

REJECTIONS = 64
"""Random draws before a systematic search for an untried configuration.

While a tenth of the space is untried, 64 draws miss it with probability 0.9⁶⁴ ≈ 0.001. Below that, the walk in
:func:`untried` finds an untried configuration in about ten steps.
"""

LARGEST_LIST = 100_000
"""Conditional spaces up to this size are enumerated as a list of distinct configurations. Enumerated by index, a space
of 2,000 configurations may have a million indices, most of which differ only in inactive parameters."""

LONGEST_WALK = 1_000_000
"""Maximum number of steps of the systematic walk before a repetition is accepted. Only conditional spaces with huge
inactive regions reach it."""


MOST_DRAWS = 100_000
"""Draws from a finite space with a domain before it is considered exhausted: one untried value in 10,000 is missed once
in 20,000 cases."""


class Searcher(Protocol):
    """Suggests configurations. A pure function of the history, the task and the given random stream."""

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        """Return a configuration for a new trial, or ``Done`` if nothing is left to suggest."""
        ...


@runtime_checkable
class Finite(Protocol):
    """An optional protocol for searchers that end even if the space is infinite."""

    def size(self, space: Space) -> int:
        """Return the total number of configurations that it suggests."""
        ...


SEARCHERS: Registry[Searcher] = Registry("searcher")


def at_random(history: History, rng: np.random.Generator, why: str) -> Suggestion | Done:
    """Suggest a random configuration instead of the method's own, and record the reason."""
    config = untried(history, rng)
    return config if isinstance(config, Done) else Suggestion(config, Origin("random", why))


def highest_budget(budgets: NDArray[np.float64], least: int) -> float:
    """Return the highest of these budgets that occurs ``least`` times; the one that occurs most often if none does, and the
    higher one in a tie.

    >>> highest_budget(np.array([1.0, 1.0, 1.0, 3.0, 3.0, 9.0]), 2)
    3.0
    """
    levels, counts = np.unique(budgets, return_counts=True)
    return float(levels[np.flatnonzero(counts >= min(least, counts.max()))[-1]])


def exhausted(history: History) -> Done | None:
    """Return ``Done`` if every configuration of a finite space was tried or is running."""
    size = history.space.size
    if history.distinct >= size and history.space.size_is_exact:
        return Done(f"all {size:,} configurations of the space have been tried")
    return None


def untried(history: History, rng: np.random.Generator) -> Config | Done:
    """Return a random configuration that was not tried before; running and failed trials count as tried.

    Draw from the prior first. If the draws keep repeating tried configurations, walk through the space from a random
    position. A walk takes (size / untried) steps on average, so filling a space of n configurations costs O(n log n) in
    total.
    """
    space = history.space
    config = space.sample(rng)
    if history.tried(config) is None:
        return config
    if (done := exhausted(history)) is not None:
        return done
    for _ in range(REJECTIONS):
        config = space.sample(rng)
        if history.tried(config) is None:
            return config
    if space.size == float("inf"):
        return config  # the prior covers a finite branch of an infinite space: there is nothing to enumerate
    if len(space.structure.plain) < len(space):  # the values of a domain have no index to enumerate
        for _ in range(MOST_DRAWS):
            config = space.sample(rng)
            if history.tried(config) is None:
                return config
        return Done(f"no untried configuration found in {MOST_DRAWS:,} draws")
    if space.structure.when and space.size <= LARGEST_LIST:
        every = _every(space)
        start = int(rng.random() * len(every))
        for step in range(len(every)):
            candidate = every[(start + step) % len(every)]
            if history.tried(candidate) is None:
                return dict(candidate)
    product = int(space.product)
    start = int(rng.random() * product)
    for step in range(min(product, LONGEST_WALK)):
        candidate = space.at((start + step) % product)
        if history.tried(candidate) is None:
            return candidate
    return Done(f"no untried configuration found among {min(product, LONGEST_WALK):,} neighbours in the space")


@lru_cache(maxsize=4)
def _every(space: Space) -> list[Config]:
    """Return all configurations of a finite space, each once."""
    sizes = [parameter.size for parameter in space.parameters.values() if isinstance(parameter, Parameter)]
    return list(space.grid(max(2, int(max(sizes)))))


# ---------------------------------------------------------------- several objectives
#
# Searchers that know one number are handed the history through a weighted scalarisation, the augmented Chebyshev function of
# ParEGO (Knowles 2006), whose minima are the points of the front, one for each weights w:
#
#     s(y) = max_j w_j z_j + ρ Σ_j w_j z_j,      z_j = (y_j − low_j) / (high_j − low_j)
#
# with low and high the range of the front of what was observed. The weights are drawn for each trial from its own random
# stream, so that the suggestions of a study spread over the front. A searcher that knows several objectives says so by
# ``handles``.

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
