"""BOCA's choice of the budget, from the posterior of its Gaussian process; the notation is that of ``searcher.py``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from xstar.models.kernels import Array
from xstar.models.model import with_pending
from xstar.searchers.acquisition.criterion import confidence_weight
from xstar.searchers.gp.learner import GPLearner, unshifted
from xstar.space import Config

LEAST_WEIGHT = 1.5
"""β^(1/2) is at least this. With two parameters and ten observations the weight is 1.1, and a budget would have to be nearly
as far from the full one as any."""


@dataclass(frozen=True)
class BOCALearner(GPLearner):
    """The GP, and how far to train what it suggests."""

    name: ClassVar[str] = "boca"

    def budget_for(self, config: Config, choices: Sequence[int]) -> int:
        """Return the cheapest budget from which there is something to learn at ``config``, or the full one."""
        share = np.array(choices) / choices[-1]
        rows = self.data.encoded([config])
        at = np.hstack([np.repeat(rows, len(share), axis=0), share[:, None]])
        std, variance, correlation = self._uncertainty_at(at)
        gap = np.sqrt(np.maximum(1.0 - correlation**2, 0.0))
        count = len(self.data.cube.labels) + len(self.data.catalogues)
        weight = max(confidence_weight(count, self.data.count), LEAST_WEIGHT)
        return choices[cheapest(std, variance, gap, share, count, weight)]

    def _uncertainty_at(self, at: Array) -> tuple[Array, Array, Array]:
        """Return τ, κ₀ and φ at each row; the last row is at the full budget."""
        pending, parts = self.inputs_of(self.pending_trials), []
        for model in self.with_new(self.refit, 0):
            posterior = unshifted(model).posterior
            surrogate, theta = posterior.surrogate, posterior.theta
            prior = surrogate.variance(theta, at).values
            cross = surrogate.covariance(theta, at, at[-1:]).K[:, 0]
            expected = with_pending(model, pending, 0, np.random.default_rng(0))
            parts.append((np.sqrt(expected.predict(at).variance), prior, cross / np.sqrt(prior * prior[-1])))
        std, variance, correlation = (np.mean(column, axis=0) for column in zip(*parts, strict=True))
        return std, variance, correlation


def cheapest(std: Array, variance: Array, gap: Array, share: Array, count: int, weight: float) -> int:
    """Return the index of the cheapest budget that satisfies both conditions of equation (4), or of the full one."""
    threshold = np.sqrt(variance) * gap * share ** (1.0 / (count + 3.0))
    fine = (std > threshold) & (gap > gap.max() / weight) & (share < 1.0)
    return int(np.flatnonzero(fine)[0]) if fine.any() else len(share) - 1
