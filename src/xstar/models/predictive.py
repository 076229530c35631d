"""The distribution of a loss that people are shown: an equal mixture of what unlike models predict, and its intervals.

Over budgets a Gaussian process alone is too sure of itself. A random forest of the same observations errs elsewhere, so that
intervals of the mixture cover about as much as they say (``benchmarks/curves.py``).

Notation: ``t`` targets, ``m, s`` mean and standard deviation of each of k normal distributions at N inputs (k, N).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.core.compiled import ndtr
from xstar.models.forest import Forest, Growth
from xstar.models.kernels import Array
from xstar.models.targets import Targets

SHOWN = 0.9
"""The probability of the intervals that people are shown."""
TREES = Growth(trees=30, least_leaf=2)
"""Of the forest beside a model over budgets."""
HALVINGS = 60


@dataclass(frozen=True)
class Mixture:
    """p(t) = mean over k of N(t; m, s²)."""

    means: Array
    deviations: Array

    @classmethod
    def of(cls, *parts: tuple[Array, Array]) -> Mixture:
        """Return the mixture of predictions, each the means and the variances (N,), noise included."""
        return cls(np.array([mean for mean, _ in parts]), np.sqrt([variance for _, variance in parts]))

    @property
    def mean(self) -> Array:
        made: Array = self.means.mean(axis=0)
        return made

    def below(self, t: Array) -> Array:
        """Return the probability of a target below each of ``t`` (N,)."""
        made: Array = ndtr((t - self.means) / self.deviations).mean(axis=0)
        return made

    def quantile(self, q: float) -> Array:
        """Return the targets below which the probability is ``q``: by bisection, as there is no closed form."""
        reach = 8.0 * self.deviations
        low, high = (self.means - reach).min(axis=0), (self.means + reach).max(axis=0)
        for _ in range(HALVINGS):
            middle = (low + high) / 2.0
            under = self.below(middle) < q
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        made: Array = (low + high) / 2.0
        return made

    def losses(self, targets: Targets, known: Array) -> tuple[Array, Array, Array]:
        """Return the expected losses and the ends of their intervals, within ``bounds(known)``."""
        ends = self.mean, self.quantile((1.0 - SHOWN) / 2.0), self.quantile((1.0 + SHOWN) / 2.0)
        mean, low, high = (np.clip(targets.inverse(t), *bounds(known)) for t in ends)
        return mean, low, high


def bounds(known: Array) -> tuple[float, float]:
    """Return the lowest and the highest loss that is shown as possible, by all that are known at any budget: none below 0
    where no loss is, none below -1 where all are negative shares (a maximised accuracy), none above the worst. Intervals that
    end there cover as much as without (within 0.2 % of losses in 78 states of ``benchmarks/curves.py``).

    >>> bounds(np.array([0.1, 0.7])), bounds(np.array([-0.9, -0.2])), bounds(np.array([-3.0, 12.0]))
    ((0.0, 0.7), (-1.0, -0.2), (-inf, 12.0))
    """
    least, worst = float(known.min()), float(known.max())
    return 0.0 if least >= 0.0 else -1.0 if least >= -1.0 and worst <= 0.0 else -np.inf, worst


def forest_over_budgets(X: Array, share: Array, t: Array) -> Forest:
    """Return the forest of targets at configurations and budgets, as shares of the full one."""
    return Forest.fit(with_budget(X, share), t, TREES, 0)


def with_budget(X: Array, share: Array | float) -> Array:
    """Return the inputs of that forest: its thresholds lie between neighbours, so budgets are logarithms."""
    return np.column_stack([X, np.broadcast_to(np.log(share), len(X))])
