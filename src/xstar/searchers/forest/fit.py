"""How a forest is grown from a history: at the counts of a schedule, from at most ``limit`` observations.

Newer observations are grafted onto it (``models/grafting.py``).
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
from xstar.models.grafting import Grafted
from xstar.models.kernels import Array
from xstar.models.standardise import Targets
from xstar.models.subset import choose
from xstar.searchers.forest.searcher import Forest
from xstar.searchers.model_based.learner import Learned, Learner
from xstar.searchers.model_based.schedule import last_refit


@dataclass(frozen=True)
class Chosen:
    """The observations among the first ``last`` that a forest is grown from."""

    last: int
    places: NDArray[np.intp]


@dataclass(frozen=True)
class Grown:
    """The forest of the first ``last`` observations."""

    last: int
    learned: Learned


@dataclass(frozen=True)
class ForestLearner(Learner):
    """A random forest."""

    settings: Forest

    name: ClassVar[str] = "forest"

    @property
    def explores(self) -> bool:
        every = self.settings.explore_every
        return every > 0 and len(self.history.trials) % every == 0

    def learn(self, purpose: str, X: Array, y: Array) -> Learned:
        regrow = self.settings.regrow
        if not regrow or len(y) < 2 * regrow:
            return self._grown(purpose, X, y)
        # Only observations are counted: the rows after them, failed trials that count as bad values, come and go.
        last = last_refit(min(self.data.count, len(y)), regrow)
        kept = self.history.memo.get(Grown, self._key(purpose))
        if kept is None or kept.last != last:
            kept = self.history.memo.put(Grown(last, self._grown(purpose, X[:last], y[:last])), self._key(purpose))
        targets, (base,) = kept.learned.targets, kept.learned.models
        assert isinstance(base, forest.Forest)
        return Learned(targets, [Grafted(base, X[last:], targets(y[last:]))])

    def _grown(self, purpose: str, X: Array, y: Array) -> Learned:
        places = self._chosen(purpose, X, y)
        targets = Targets.of(y[places], straighten=self.settings.straighten)
        growth = forest.Growth(self.settings.trees, self.settings.columns, self.settings.least_leaf)
        # One stream for a metric throughout: between two suggestions the forest changes with the data alone.
        seed = int(Streams(self.history.seed).generator(zlib.crc32(purpose.encode()), "forest").integers(2**32))
        return Learned(targets, [forest.Forest.fit(X[places], targets(y[places]), growth, seed)])

    def _chosen(self, purpose: str, X: Array, y: Array) -> NDArray[np.intp]:
        """Return the observations to grow from: all of them up to the limit, then some and the newest.

        Which ones is decided at the counts of the refit schedule; the rows after the observations, which are failed trials
        that count as bad values, are always among them.
        """
        limit, last = self.settings.limit, last_refit(len(y))
        if len(y) <= limit:
            return np.arange(len(y))
        kept = self.history.memo.get(Chosen, self._key(purpose))
        if kept is None or kept.last != last:
            budget = X[:last, -1] if self.over_budgets and purpose == "loss" else np.ones(last)
            kept = self.history.memo.put(Chosen(last, choose(X[:last], y[:last], budget, limit)), self._key(purpose))
        return np.concatenate([kept.places, np.arange(last, len(y))])

    @property
    def learned_from(self) -> tuple[str, Mapping[str, Any]]:
        if self.data.count <= self.settings.limit:
            return super().learned_from
        return ", n={n}, grown from {limit}", {"n": self.data.count, "limit": self.settings.limit}
