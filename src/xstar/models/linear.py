"""DNGO's head: Bayesian linear regression on a network's basis, with a quadratic prior mean.

Equation numbers refer to Snoek et al. 2015, eqs. 4 to 9.

Notation

=========  ==========================================================================================  ===========
symbol     meaning                                                                                     shape
=========  ==========================================================================================  ===========
``Phi``    basis functions φ(x) at the observations                                                    (N, D)
``Q, a``   design and coefficients of the prior mean η(x) = Q a (``quadratic.py``)                     (N, q), (q,)
``Z``      [Phi, Q]                                                                                    (N, D + q)
``y``      targets                                                                                     (N,)
``α, β``   precision of the weights' prior, and of the noise
``K``      β PhiᵀPhi + α I (7), with the lower Cholesky factor ``L``                                   (D, D)
``m``      β K⁻¹ Phiᵀ(y - Q a) (6), one column per fantasy                                             (D, M)
``theta``  (log α, λ, c, log Λ, -log β): the logarithm of the noise's variance comes last, as in a GP
=========  ==========================================================================================  ===========

N observations are summarised by N, ZᵀZ, Zᵀy and yᵀy. These are sums over observations, so adding one takes O(D²). The
likelihood (8) of any theta, the posterior and a prediction cost the same for a hundred observations and for a million.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from xstar.core.compiled import dpotrf
from xstar.models.features import Evaluated, Network
from xstar.models.gp import LEAST_VARIANCE
from xstar.models.kernels import Array
from xstar.models.linalg import backward, cholesky, forward
from xstar.models.model import Prediction, normal_draws
from xstar.models.quadratic import Quadratic
from xstar.models.slice_sampling import slice_sample

WEIGHTS = (0.0, 1.5, -7.0, 7.0)
"""Prior of log α: mean, standard deviation, bounds. At α = 1 fifty functions of size 1/2 have a prior variance of
12."""
NOISE = (float(np.log(1e-3)), 2.3, float(np.log(1e-6)), 0.0)
"""Prior of log 1/β: the same as for the noise of a GP here. The lower bound leaves six digits in ``K``."""
BURN_IN, THIN = 10, 2
"""Slice-sampling sweeps before the first draw and between draws. The chain starts at the best of 15 points."""
UPDATES = 400
"""Maximum number of coordinate updates in the burn-in; it applies from 40 coordinates on. In 200 dimensions there are
403 coordinates."""


@dataclass(frozen=True)
class Basis:
    """The functions in which a head is linear: a network's last layer, and the columns of the prior mean."""

    network: Network
    mean: Quadratic

    def __post_init__(self) -> None:
        object.__setattr__(self, "_last", (np.empty((0, 0)), None))

    @property
    def width(self) -> int:
        """D, the number of basis functions."""
        return self.network.width

    def design(self, X: Array) -> Array:
        """Return Z: (N, D + q)."""
        return np.hstack([self.network(X), self.mean.design(X)])

    def at(self, X: Array) -> Evaluated:
        """Return the basis functions with their gradient. The last result is cached: heads that differ only in theta
        ask for the same inputs in turn."""
        kept: tuple[Array, Evaluated] = self._last  # type: ignore[attr-defined]
        if kept[0].shape == X.shape and np.array_equal(kept[0], X):
            return kept[1]
        made = self.network.at(X)
        object.__setattr__(self, "_last", (X.copy(), made))
        return made


# ---------------------------------------------------------------- sufficient statistics


@dataclass(frozen=True)
class Statistics:
    """Sums over observations."""

    count: int
    gram: Array
    """ZᵀZ"""
    cross: Array
    """Zᵀy"""
    square: float
    """yᵀy"""

    @classmethod
    def none(cls, size: int) -> Statistics:
        """Return the statistics of no observations."""
        return cls(0, np.zeros((size, size)), np.zeros(size), 0.0)

    def joined(self, other: Statistics) -> Statistics:
        """Return the statistics of both sets of observations."""
        return Statistics(
            self.count + other.count, self.gram + other.gram, self.cross + other.cross, self.square + other.square
        )

    def extended(self, Z: Array, y: Array) -> Statistics:
        """Return the statistics with more observations added: O(D²) for each."""
        return Statistics(self.count + len(y), self.gram + Z.T @ Z, self.cross + Z.T @ y, self.square + float(y @ y))


# ---------------------------------------------------------------- the likelihood of theta


class Quadric(NamedTuple):
    """log p(y | α, β, a) as a function of a: constant - (quad - 2 aᵀv + aᵀP a)/2."""

    constant: float
    quad: float
    v: Array
    P: Array

    def at(self, a: Array) -> float:
        """Return the log marginal likelihood (8)."""
        return self.constant - 0.5 * (self.quad - 2.0 * float(a @ self.v) + float(a @ (self.P @ a)))


def quadric(statistics: Statistics, width: int, log_alpha: float, log_noise: float) -> Quadric:
    """Return eq. (8) as a function of the prior mean's coefficients. O(D³ + D² q).

    With m from (6), β|ỹ - Phi m|² + α mᵀm = β ỹᵀỹ - β² bᵀK⁻¹b with b = Phiᵀỹ. Both are quadratic in a through ỹ = y - Q
    a.
    """
    beta = float(np.exp(-log_noise))
    gram, cross = statistics.gram, statistics.cross
    L = _factor(gram[:width, :width], log_alpha, beta)
    U = forward(L, np.column_stack([cross[:width], gram[:width, width:]]))
    u, V = U[:, 0], U[:, 1:]
    constant = 0.5 * width * log_alpha - 0.5 * statistics.count * (log_noise + float(np.log(2.0 * np.pi)))
    constant -= float(np.log(np.diagonal(L)).sum())
    quad = beta * statistics.square - beta * beta * float(u @ u)
    v = beta * cross[width:] - beta * beta * (V.T @ u)
    P = beta * gram[width:, width:] - beta * beta * (V.T @ V)
    return Quadric(constant, quad, v, P)


def _factor(gram: Array, log_alpha: float, beta: float) -> Array:
    K = beta * gram
    K.flat[:: len(K) + 1] += np.exp(log_alpha)
    return factor(K)


def factor(K: Array) -> Array:
    """Return the lower Cholesky factor of a precision matrix.

    The prior makes the matrix positive definite. Jitter relative to the diagonal, which grows with N, would outweigh
    that prior, so it is added only if rounding makes the factorisation fail.
    """
    L, failed = dpotrf(K, lower=1, clean=1)
    if failed:
        return cholesky(K)
    made: Array = L
    return made


def log_prior(mean: Quadratic, theta: Array) -> float:
    """Return log p(theta) up to a constant: -inf outside the bounds."""
    total = 0.0
    for value, (centre, spread, low, high) in ((theta[0], WEIGHTS), (theta[-1], NOISE)):
        if not low <= value <= high:
            return -np.inf
        total -= 0.5 * ((value - centre) / spread) ** 2
    return total + mean.log_prior(theta[1:-1])


def sample(statistics: Statistics, basis: Basis, rng: np.random.Generator, samples: int) -> list[Array]:
    """Draw theta from its posterior, by slice sampling under (8). The cost does not grow with N."""
    mean = basis.mean

    @lru_cache(maxsize=8)
    def given(log_alpha: float, log_noise: float) -> Quadric:
        return quadric(statistics, basis.width, log_alpha, log_noise)

    def log_density(theta: Array) -> float:
        prior = log_prior(mean, theta)
        if not np.isfinite(prior):
            return -np.inf
        return prior + given(float(theta[0]), float(theta[-1])).at(mean.coefficients(theta[1:-1]))

    burn_in, thin = BURN_IN, THIN
    if 2 + mean.size > UPDATES // BURN_IN:
        burn_in, thin = max(1, UPDATES // (2 + mean.size)), 1
    begin = [
        np.concatenate([[log_alpha], mean.start(), [log_noise]])
        for log_alpha in (-2.0, 0.0, 2.0)
        for log_noise in np.linspace(NOISE[2] + 1.0, NOISE[3] - 1.0, 5)
    ]
    start = max(begin, key=log_density)
    widths = np.concatenate([[1.0], mean.widths(), [1.0]])
    return list(slice_sample(log_density, start, widths, rng, samples=samples, burn_in=burn_in, thin=thin))


# ---------------------------------------------------------------- the posterior


@dataclass(frozen=True)
class Head:
    """The posterior of the weights given theta."""

    basis: Basis
    theta: Array
    a: Array
    L: Array
    weights: Array
    """m: (D, M)"""
    of_observations: bool = False
    """Whether predicted variances are those of a new observation, with 1/β, as in eq. (5)."""
    fantasies: Array | None = None
    """The drawn outcomes of pending trials: (J, M)"""

    @classmethod
    def of(cls, statistics: Statistics, basis: Basis, theta: Array, *, of_observations: bool = False) -> Head:
        """Return the posterior by eqs. (6) and (7), computed from the sums."""
        width, beta = basis.width, float(np.exp(-theta[-1]))
        a = basis.mean.coefficients(theta[1:-1])
        L = _factor(statistics.gram[:width, :width], float(theta[0]), beta)
        b = statistics.cross[:width] - statistics.gram[:width, width:] @ a
        return cls(basis, theta, a, L, _solve(L, beta * b[:, None]), of_observations)

    @property
    def noise(self) -> float:
        """The noise variance 1/β."""
        return float(np.exp(self.theta[-1]))

    def fantasised(self, A: Array, draws: int, rng: np.random.Generator) -> Head:
        """Return the head with ``A`` pending, conditioned on ``draws`` fantasies; 0 means hallucination."""
        if not draws:
            return self.conditioned(A, None, None)
        normal = normal_draws(self.basis.width, draws, rng)
        return self.conditioned(A, normal, normal_draws(len(A), draws, rng))

    def conditioned(self, pending: Array, normal: Array | None, noise: Array | None) -> Head:
        """Return the head after M joint draws of the outcomes at ``pending`` inputs (J, K); without draws, only the
        variance changes.

        A draw is a function, m + L⁻ᵀ``normal`` (D, M), plus ``noise`` (J, M) of variance 1/β on its values. Both
        arguments hold standard normal numbers. M right-hand sides share one factor of K + β PhiᵀPhi.
        """
        beta = float(np.exp(-self.theta[-1]))
        Phi = self.basis.at(pending).values
        K = self.L @ self.L.T + beta * (Phi.T @ Phi)
        L = factor(K)
        if normal is None or noise is None:
            return replace(self, L=L)
        outcomes = Phi @ (self.weights + backward(self.L, normal)) + noise / np.sqrt(beta)
        right = self.L @ (self.L.T @ self.weights) + beta * (Phi.T @ outcomes)  # K'm' = Km + β Phiᵀ(Phi w + ε/√β)
        fantasies = outcomes + (self.basis.mean.design(pending) @ self.a)[:, None]
        return replace(self, L=L, weights=_solve(L, right), fantasies=fantasies)

    def means(self, A: Array) -> Array:
        """Return the posterior means (4) without variances: (N, M)."""
        made: Array = self.basis.at(A).values @ self.weights + (self.basis.mean.design(A) @ self.a)[:, None]
        return made

    def predict(self, A: Array) -> Prediction:
        """Return means (4) and variances (5); those of the function are without the noise 1/β. O(D²) for each row."""
        at = self.basis.at(A)
        mean = at.values @ self.weights + (self.basis.mean.design(A) @ self.a)[:, None]
        V = forward(self.L, at.values.T)
        variance = np.maximum(np.einsum("ij,ij->j", V, V), LEAST_VARIANCE)
        if self.of_observations:
            variance += self.noise

        def to_left(d_mean: Array, d_variance: Array) -> Array:
            back = at.to_left(d_mean @ self.weights.T + 2.0 * d_variance[:, None] * backward(self.L, V).T)
            back += d_mean.sum(axis=1)[:, None] * self.basis.mean.slope(self.a, A)
            return back

        return Prediction(mean, variance, to_left)


def _solve(L: Array, B: Array) -> Array:
    return backward(L, forward(L, B))
