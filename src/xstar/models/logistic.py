"""Bayesian logistic regression on a network's basis: it predicts feasibility (Snoek et al. 2015, Section 3.2).

Notation

=========  ==========================================================================================  ===========
symbol     meaning                                                                                     shape
=========  ==========================================================================================  ===========
``F``      basis functions and a constant, [φ(x), 1]                                                   (N, D + 1)
``s``      +1 where a trial had a value, -1 where it was infeasible or failed                          (N,)
``w``      weights; f = F w is the latent function, p(s | f) = 1 / (1 + exp(-κ s f))                   (D + 1,)
``A``      the precision of their normal distribution: α I before any data                             (D + 1, D + 1)
=========  ==========================================================================================  ===========

The posterior of w is approximated by a normal distribution at its mode (Laplace), found by Newton's method. That
posterior can serve as the prior for more observations, whatever data it came from.

Trials may fail at random, so the likelihood is that of noisy constraints: P[c = 1] (10) is the average of the logistic function
over f ~ N(μ, v), by MacKay's approximation logistic(μ / √(1 + πv/8)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xstar.models.features import Network
from xstar.models.kernels import Array
from xstar.models.linalg import backward, forward
from xstar.models.linear import factor

PRECISIONS = (0.01, 0.1, 1.0, 10.0)
"""Values of α compared by their evidence: from weights that form a steep boundary to those of a gentle slope."""
NEWTON = 30


@dataclass(frozen=True)
class Belief:
    """A normal distribution over the weights."""

    mean: Array
    A: Array

    @classmethod
    def prior(cls, size: int, precision: float, log_odds: float) -> Belief:
        """Return the prior, under which f has the mean ``log_odds`` everywhere."""
        mean = np.zeros(size)
        mean[-1] = log_odds
        return cls(mean, precision * np.eye(size))

    def after(self, F: Array, feasible: NDArray[np.bool_]) -> tuple[Belief, float]:
        """Return Laplace's approximation after more observations, and the log evidence."""
        if not len(F):
            return self, 0.0
        s = np.where(feasible, 1.0, -1.0)
        w, f = self.mean, F @ self.mean
        value = -float(np.logaddexp(0.0, -s * f).sum())
        for _ in range(NEWTON):
            miss = 1.0 / (1.0 + np.exp(np.clip(s * f, -700.0, 700.0)))  # the probability of the other outcome
            gradient = F.T @ (s * miss) - self.A @ (w - self.mean)
            L = factor(self.A + (F * (miss * (1.0 - miss))[:, None]).T @ F)
            step = backward(L, forward(L, gradient[:, None]))[:, 0]
            for share in (1.0, 0.5, 0.25, 0.1, 0.01):  # a full Newton step may overshoot the mode
                trial = w + share * step
                moved = F @ trial
                away = trial - self.mean
                reached = -float(np.logaddexp(0.0, -s * moved).sum()) - 0.5 * float(away @ (self.A @ away))
                if reached >= value:
                    break
            gain, w, f, value = reached - value, trial, moved, reached
            if gain < 1e-8 * (1.0 + abs(value)):
                break
        miss = 1.0 / (1.0 + np.exp(np.clip(s * f, -700.0, 700.0)))
        A = self.A + (F * (miss * (1.0 - miss))[:, None]).T @ F
        determinants = np.log(np.diagonal(factor(self.A))).sum() - np.log(np.diagonal(factor(A))).sum()
        return Belief(w, A), value + float(determinants)


def with_constant(Phi: Array) -> Array:
    """Return F: Phi with a column of ones appended."""
    return np.hstack([Phi, np.ones((len(Phi), 1))])


def fit(F: Array, feasible: NDArray[np.bool_]) -> Belief:
    """Return the posterior given all rows of ``F``, under the prior precision with the highest evidence."""
    # Far from the data, the odds are those of all trials so far, with one more of each outcome, rather than 1:1.
    log_odds = float(np.log((feasible.sum() + 1.0) / ((~feasible).sum() + 1.0)))
    found = [Belief.prior(F.shape[1], each, log_odds).after(F, feasible) for each in PRECISIONS]
    return max(found, key=lambda pair: pair[1])[0]


@dataclass(frozen=True)
class Constraint:
    """The probability of being feasible."""

    network: Network
    belief: Belief
    L: Array

    @classmethod
    def of(cls, network: Network, belief: Belief) -> Constraint:
        """Build a constraint, computing the Cholesky factor of A."""
        return cls(network, belief, factor(belief.A))

    def log_probability(self, A: Array) -> tuple[Array, Callable[[Array], Array]]:
        """Return log P[c = 1] (10) at ``A`` and a function that maps its derivative back to ``A``."""
        at = self.network.at(A)
        F = with_constant(at.values)
        mean = F @ self.belief.mean
        V = forward(self.L, F.T)
        variance = np.einsum("ij,ij->j", V, V)
        shrink = 1.0 / np.sqrt(1.0 + np.pi / 8.0 * variance)
        u = mean * shrink
        value = -np.logaddexp(0.0, -u)
        d_u = 1.0 / (1.0 + np.exp(np.clip(u, -700.0, 700.0)))
        d_mean, d_variance = d_u * shrink, d_u * mean * -0.5 * shrink**3 * np.pi / 8.0

        def to_left(w: Array) -> Array:
            d_F = (w * d_mean)[:, None] * self.belief.mean + 2.0 * (w * d_variance)[:, None] * backward(self.L, V).T
            return at.to_left(d_F[:, :-1])

        return value, to_left
