"""A Gaussian-process classifier for feasibility: it predicts where a trial returns a value.

Notation

=========  ==========================================================================================  ===========
symbol     meaning                                                                                     shape
=========  ==========================================================================================  ===========
``X``      inputs of finished trials                                                                   (n, w)
``s``      +1 where a trial had a value, -1 where it was infeasible or failed                          (n,)
``f``      the latent function, p(s | f) = 1 / (1 + exp(-s f))                                         (n,)
``D``      the curvature of the likelihood at f                                                        (n,)
=========  ==========================================================================================  ===========

The posterior of f is approximated by a normal distribution at its mode (Laplace; Rasmussen & Williams 2006, Algorithms
3.1 and 3.2). Newton's method finds the mode. The probability at a new point is the average of the logistic function
over a normal distribution, by MacKay's approximation: logistic(mean / √(1 + π variance / 8)).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xstar.models.kernels import Array, Stationary
from xstar.models.linalg import backward, cholesky, forward

LENGTHS = (0.15, 0.3, 0.6, 1.2)
"""Length scales compared by their evidence: from a small infeasible region to half of the space. Longer
ones for parameters without influence spare hardly a failure (development set of ``benchmarks/generality.py``)."""
VARIANCE = 9.0
"""Prior variance of the latent function. One standard deviation means odds of 20 to 1, three mean e⁹ (certainty)."""
NEWTON = 30


@dataclass(frozen=True)
class Feasibility:
    """A fitted classifier."""

    kernel: Stationary
    theta: Array
    X: Array
    slope: Array
    """The gradient of the log likelihood at the mode. The latent mean at a is k(a, X) @ slope + prior."""
    root: Array
    """√D"""
    L: Array
    """The Cholesky factor of I + √D K √D."""
    prior: float
    evidence: float
    length: float

    @classmethod
    def fit(
        cls,
        X: Array,
        feasible: NDArray[np.bool_],
        groups: tuple[int, ...],
        labels: tuple[str, ...],
        lengths: Sequence[float] = LENGTHS,
    ) -> Feasibility:
        """Fit one classifier per length scale and return the one with the highest evidence."""
        kernel = Stationary("matern52", groups, labels)
        return max((cls._at(kernel, length, X, feasible) for length in lengths), key=lambda fit: fit.evidence)

    @classmethod
    def _at(cls, kernel: Stationary, length: float, X: Array, feasible: NDArray[np.bool_]) -> Feasibility:
        d = len(kernel.labels)
        # Distances grow with √d. Without this factor, a short length scale in many dimensions isolates every point.
        theta = np.append(np.full(d, np.log(length * np.sqrt(max(1.0, d / 4.0)))), np.log(VARIANCE))
        s = np.where(feasible, 1.0, -1.0)
        # Far from the data, the odds are those of all trials so far, with one more of each outcome, rather than 1:1.
        prior = float(np.log((feasible.sum() + 1.0) / ((~feasible).sum() + 1.0)))
        K = kernel.at(theta, X).K
        a, f = np.zeros(len(s)), np.full(len(s), prior)
        value = -np.inf
        for _ in range(NEWTON):
            probability = 1.0 / (1.0 + np.exp(-f))
            D = np.maximum(probability * (1.0 - probability), 1e-12)
            root = np.sqrt(D)
            slope = (s + 1.0) / 2.0 - probability
            L = cholesky(np.eye(len(s)) + root[:, None] * K * root)
            b = D * (f - prior) + slope
            step = b - root * backward(L, forward(L, root * (K @ b))) - a
            for share in (1.0, 0.5, 0.25, 0.1):  # a full Newton step may overshoot the mode
                trial = a + share * step
                moved = K @ trial + prior
                reached = -0.5 * float(trial @ (moved - prior)) - float(np.logaddexp(0.0, -s * moved).sum())
                if reached > value:
                    break
            gain, a, f, value = reached - value, trial, moved, reached
            if gain < 1e-8:
                break
        probability = 1.0 / (1.0 + np.exp(-f))
        D = np.maximum(probability * (1.0 - probability), 1e-12)
        root = np.sqrt(D)
        L = cholesky(np.eye(len(s)) + root[:, None] * K * root)
        slope = (s + 1.0) / 2.0 - probability
        return cls(kernel, theta, X, slope, root, L, prior, value - float(np.log(np.diagonal(L)).sum()), length)

    def without_each(self, last: int) -> Array:
        """Return the leave-one-out latent mean at each of the ``last`` inputs; positive means the others predict a
        value.

        Removing one observation from Laplace's approximation leaves a normal distribution of its f, the cavity
        distribution. Its variance is v' = v/(1 - D v) and its mean is f - v' slope, where v is the variance with the
        observation. (Rasmussen & Williams 2006, Section 3.6, derive it for another approximation.)
        """
        rows = slice(len(self.X) - last, None)
        K = self.kernel.at(self.theta, self.X[rows], self.X).K
        V = forward(self.L, (K * self.root).T)
        variance = np.maximum(np.exp(self.theta[-1]) - np.einsum("ij,ij->j", V, V), 0.0)
        cavity = variance / np.maximum(1.0 - self.root[rows] ** 2 * variance, 1e-9)
        made: Array = self.prior + K @ self.slope - cavity * self.slope[rows]
        return made

    def log_probability(self, A: Array) -> tuple[Array, Callable[[Array], Array]]:
        """Return log p(feasible) at ``A`` and a function that maps its derivative back to ``A``."""
        covariance = self.kernel.at(self.theta, A, self.X)
        mean = self.prior + covariance.K @ self.slope
        V = forward(self.L, (covariance.K * self.root).T)
        variance = np.maximum(np.exp(self.theta[-1]) - np.einsum("ij,ij->j", V, V), 0.0)
        shrink = 1.0 / np.sqrt(1.0 + np.pi / 8.0 * variance)
        argument = mean * shrink
        value = -np.logaddexp(0.0, -argument)

        def to_left(w: Array) -> Array:
            d_argument = w / (1.0 + np.exp(argument))  # d log logistic(t) / dt = 1 - logistic(t)
            d_variance = d_argument * mean * -0.5 * shrink**3 * np.pi / 8.0
            W = (d_argument * shrink)[:, None] * self.slope - 2.0 * d_variance[:, None] * (
                backward(self.L, V).T * self.root
            )
            return covariance.to_left(W)

        return value, to_left
