"""How a forest is grown from a history: at the counts of a schedule, from at most ``max_observations``.

Newer observations are grafted onto it (``models/forest.py``).
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from xstar.core.randomness import Streams
from xstar.models import forest
from xstar.models.kernels import Array
from xstar.models.targets import Targets, choose
from xstar.searchers.bo.learner import CONSTRAINT, Learned, Learner
from xstar.searchers.bo.observations import last_refit


@dataclass(frozen=True)
class Subset:
    """The observations among the first ``last`` that a forest is grown from."""

    last: int
    indices: NDArray[np.intp]


@dataclass(frozen=True)
class Grown:
    """The forest of the first ``last`` observations."""

    last: int
    learned: Learned


@dataclass(frozen=True)
class ForestOptions:
    """How a forest is grown."""

    growth: forest.Growth
    max_observations: int


REGROW = 50
"""The forest is grown anew when the observations have become more by one in this many, and for every suggestion below twice as
many. A suggestion at 1,000 trials of ten Floats takes 19 ms instead of 102. Best losses after 250 trials, grown anew for one in
50 and for every suggestion (means of three seeds): Hartmann6 −3.275 and −3.275 ± 0.04, Levy6 2.67 and 2.56 ± 2.3,
Styblinski–Tang −190.8 and −186.1 ± 7."""


@dataclass(frozen=True)
class ForestLearner(Learner):
    """A random forest."""

    options: ForestOptions

    name: ClassVar[str] = "forest"

    @property
    def explores(self) -> bool:
        return len(self.history.trials) % 4 == 0

    def learn(self, purpose: str, X: Array, y: Array) -> Learned:
        if len(y) < 2 * REGROW:
            return self._grown(purpose, X, y)
        # Only observations are counted: the rows after them, failed trials that count as bad values, come and go.
        last = last_refit(min(self.data.count, len(y)), REGROW)
        kept = self.history.memo.get(Grown, self._key(purpose))
        if kept is None or kept.last != last:
            kept = self.history.memo.put(Grown(last, self._grown(purpose, X[:last], y[:last])), self._key(purpose))
        targets, (base,) = kept.learned.targets, kept.learned.models
        assert isinstance(base, forest.Forest)
        return Learned(targets, [forest.Grafted(base, X[last:], targets(y[last:]))])

    def _grown(self, purpose: str, X: Array, y: Array) -> Learned:
        chosen = self._chosen(purpose, X, y)
        targets = Targets.of(y[chosen], transform=True)
        # One stream for a metric throughout: between two suggestions the forest changes with the data alone.
        metric = purpose.removeprefix(CONSTRAINT)
        seed = int(Streams(self.history.seed).generator(zlib.crc32(metric.encode()), "forest").integers(2**32))
        return Learned(targets, [forest.Forest.fit(X[chosen], targets(y[chosen]), self.options.growth, seed)])

    def _chosen(self, purpose: str, X: Array, y: Array) -> NDArray[np.intp]:
        """Return the observations to grow from: all of them up to the limit, then some and the newest.

        Which ones is decided at the counts of the refit schedule; the rows after the observations, which are failed trials
        that count as bad values, are always among them.
        """
        limit, last = self.options.max_observations, last_refit(len(y))
        if len(y) <= limit:
            return np.arange(len(y))
        kept = self.history.memo.get(Subset, self._key(purpose))
        if kept is None or kept.last != last:
            budget = X[:last, -1] if self.over_budgets and purpose == "loss" else np.ones(last)
            kept = self.history.memo.put(Subset(last, choose(X[:last], y[:last], budget, limit)), self._key(purpose))
        return np.concatenate([kept.indices, np.arange(last, len(y))])

    @property
    def learned_from(self) -> tuple[str, Mapping[str, Any]]:
        if self.data.count <= self.options.max_observations:
            return super().learned_from
        return ", n={n}, grown from {limit}", {"n": self.data.count, "limit": self.options.max_observations}
