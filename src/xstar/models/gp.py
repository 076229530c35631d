"""Gaussian-process regression: the fit of its hyperparameters, and the posterior.

Notation (MOBSTER, A.1)

=========  ==========================================================================================  ===========
symbol     meaning                                                                                     shape
=========  ==========================================================================================  ===========
``X``      inputs of the observations                                                                  (n, w)
``y``      standardised targets                                                                        (n,)
``L``      the lower Cholesky factor of K + σ²I                                                        (n, n)
``P``      whitened targets L⁻¹(Y - m), one column per fantasy                                         (n, M)
``A``      inputs at which to predict                                                                  (N, w)
=========  ==========================================================================================  ===========

The posterior mean at ``A`` is m + k L⁻ᵀ P and the variance is k(a, a) - |L⁻¹ k|²: M means, but one variance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xstar.core.compiled import dpotri
from xstar.models.gp_prior import GPPrior, Plain
from xstar.models.kernels import Array, Covariance
from xstar.models.lbfgs import descend
from xstar.models.linalg import (
    ROUNDING,
    NotPositiveDefinite,
    backward,
    cholesky,
    forward,
    lifted,
    noisy_factor,
    steadied,
)
from xstar.models.model import Prediction, normal_draws
from xstar.models.priors import Prior
from xstar.models.slice_sampling import slice_sample

LEAST_VARIANCE = 1e-12
"""Posterior variances are differences of nearly equal numbers: below this (targets have variance 1) they are
rounding."""


# ---------------------------------------------------------------- the fit

STEPS = 50
"""Maximum number of L-BFGS iterations."""
TOLERANCE = 1e-4
"""L-BFGS stops at a smaller relative improvement of the log posterior: after 10 to 25 evaluations, 0.01 from the
optimum."""
BURN_IN, THIN = 10, 2
"""Sweeps before the first draw of the hyperparameters and between draws. Few suffice: the chain starts at the mode."""


def fit(surrogate: GPPrior, X: Array, y: Array) -> Array:
    """Return the MAP estimate of ``theta``, by L-BFGS from the centre of the priors."""
    priors = surrogate.priors
    prior = as_arrays(priors)
    centre, spread = prior.centre, np.array([prior.spread for prior in priors])
    low = (np.array([prior.low for prior in priors]) - centre) / spread
    high = (np.array([prior.high for prior in priors]) - centre) / spread

    def objective(z: Array) -> tuple[float, Array]:
        """Evaluate in units of the priors, which match the curvature: a fifth fewer evaluations than in theta."""
        value, gradient = negative_log_posterior(surrogate, centre + spread * z, X, y, prior)
        return value, gradient * spread

    found, _ = descend(objective, np.zeros(len(centre)), low, high, STEPS, TOLERANCE)
    # At a bound, rounding may overshoot, and outside the bounds the posterior is 0.
    made: Array = np.clip(centre + spread * found, [prior.low for prior in priors], [prior.high for prior in priors])
    return made


def sample_fits(surrogate: GPPrior, X: Array, y: Array, rng: np.random.Generator, samples: int) -> list[Array]:
    """Draw ``theta`` from its posterior by slice sampling, starting at the MAP estimate; or, where its matrix is not positive
    definite, where nearly all is noise."""
    width = np.array([prior.spread if prior.low < prior.high else 0.0 for prior in surrogate.priors])
    mode = fit(surrogate, X, y)
    if not np.isfinite(log_posterior(surrogate, mode, X, y)):
        scales = [place for place, name in enumerate(surrogate.names) if name.startswith("scale")]
        mode[scales] = [surrogate.priors[place].low for place in scales]
        mode[-1] = surrogate.priors[-1].high
    if not np.isfinite(log_posterior(surrogate, mode, X, y)):
        raise NotPositiveDefinite(f"no hyperparameters fit {len(y)} observations")
    drawn = slice_sample(
        lambda theta: log_posterior(surrogate, theta, X, y),
        mode,
        width,
        rng,
        samples=samples,
        burn_in=BURN_IN,
        thin=THIN,
    )
    return list(drawn)


# ---------------------------------------------------------------- the posterior probability of hyperparameters


def negative_log_posterior(
    surrogate: GPPrior, theta: Array, X: Array, y: Array, prior: PriorArrays | None = None
) -> tuple[float, Array]:
    """Return -log p(y | X, theta) - log p(theta), up to a constant, and its gradient.

    ``prior``: the surrogate's priors as arrays, for those who ask more than once.
    """
    noise = float(np.exp(theta[-1]))
    mean = surrogate.mean(theta, X)
    covariance = surrogate.covariance(theta, X)
    L = noisy_factor(covariance.K, noise)
    if L is None:
        return UNUSABLE, np.zeros_like(theta)
    p = forward(L, y - mean.values)
    alpha = backward(L, p)
    value = 0.5 * float(p @ p) + float(np.add.reduce(np.log(L.diagonal())))
    # dvalue/dK = (K⁻¹ - ααᵀ)/2. LAPACK computes only the lower triangle of K⁻¹. For the derivative of a symmetric
    # matrix, twice the lower triangle with the diagonal counted once is equivalent.
    inverse, _ = dpotri(L, lower=1, overwrite_c=1)
    W = inverse - alpha[:, None] * alpha
    W *= _lower(len(W))
    gradient = covariance.to_theta(W) - mean.to_theta(alpha)
    gradient[-1] += noise * float(np.add.reduce(W.diagonal()))
    belief, slope = log_prior(prior or as_arrays(surrogate.priors), theta)
    return value - belief, gradient - slope


def log_posterior(surrogate: GPPrior, theta: Array, X: Array, y: Array) -> float:
    """Return log p(y | X, theta) + log p(theta) up to a constant: -inf outside the bounds, and where the matrix is not positive
    definite, so that there is no Gaussian process."""
    if any(not prior.low <= value <= prior.high for value, prior in zip(theta, surrogate.priors, strict=True)):
        return -np.inf
    L = noisy_factor(surrogate.covariance(theta, X).K, float(np.exp(theta[-1])), ROUNDING)
    if L is None:
        return -np.inf
    p = forward(L, y - surrogate.mean(theta, X).values)
    return log_prior(as_arrays(surrogate.priors), theta)[0] - 0.5 * float(p @ p) - float(np.log(np.diagonal(L)).sum())


@lru_cache(maxsize=8)
def _lower(n: int) -> Array:
    """Return a lower triangle of ones, with ½ on the diagonal; where n is small, ``np.tril`` takes four times as long."""
    made: Array = np.tri(n)
    made.flat[:: n + 1] = 0.5
    made.flags.writeable = False
    return made


UNUSABLE = 1e10
"""Replaces the likelihood where the matrix is not positive definite, so that L-BFGS steps back."""


class PriorArrays(NamedTuple):
    """The priors of all hyperparameters."""

    centre: Array
    spread: Array
    shared: tuple[tuple[NDArray[np.bool_] | slice, float], ...]
    """For each prior with a deviation in common: which hyperparameters have it, and g²/(s² + kg²).

    (s²I + g²11ᵀ)⁻¹ = (I - 11ᵀ g²/(s² + kg²))/s², with s the own and g the shared deviation of k hyperparameters.
    """


def as_arrays(priors: Sequence[Prior]) -> PriorArrays:
    shared = []
    for prior in {prior for prior in priors if prior.shared}:
        own = np.array([each == prior for each in priors])
        shared.append((_as_slice(own), prior.shared**2 / (prior.spread**2 + own.sum() * prior.shared**2)))
    centre = np.array([prior.centre for prior in priors])
    spread = np.array([np.inf if prior.flat else prior.spread for prior in priors])
    return PriorArrays(centre, spread, tuple(shared))


def _as_slice(own: NDArray[np.bool_]) -> NDArray[np.bool_] | slice:
    """Return places that follow each other as a slice, which takes less time."""
    places = np.flatnonzero(own).tolist()
    begin, end = places[0], places[-1] + 1
    return slice(begin, end) if end - begin == len(places) else own


def log_prior(prior: PriorArrays, theta: Array) -> tuple[float, Array]:
    """Return log p(theta), up to a constant, and its gradient."""
    z = (theta - prior.centre) / prior.spread
    weighed = z.copy()
    for own, weight in prior.shared:
        weighed[own] -= weight * np.add.reduce(z[own])
    return -0.5 * float(z @ weighed), -weighed / prior.spread


# ---------------------------------------------------------------- the posterior


@dataclass(frozen=True)
class Posterior:
    """The posterior distribution given the observations."""

    surrogate: GPPrior
    theta: Array
    X: Array
    L: Array
    P: Array
    jitter: float = 0.0
    """Jitter added because a matrix was not positive definite, relative to the mean of its diagonal."""
    before: tuple[Posterior, Array] | None = None
    """The posterior before the latest observations, and their targets: what is pending becomes rows together with these."""

    @classmethod
    def of(cls, surrogate: GPPrior, theta: Array, X: Array, y: Array) -> Posterior:
        """Return the posterior after observing ``y`` at ``X``."""
        K = surrogate.covariance(theta, X).K
        np.einsum("ii->i", K)[:] += np.exp(theta[-1])
        L, jitter = steadied(K)
        return cls(surrogate, theta, X, L, forward(L, y - surrogate.mean(theta, X).values)[:, None], jitter)

    @property
    def noise(self) -> float:
        """The noise variance σ²."""
        return float(np.exp(self.theta[-1]))

    @cached_property
    def weights(self) -> Array:
        """L⁻ᵀ P; the mean at ``A`` is m + k(A, X) @ weights."""
        return backward(self.L, self.P)

    @cached_property
    def _everywhere(self) -> tuple[float, float] | None:
        """The mean and the variance of the prior, where they are the same everywhere."""
        if isinstance(self.surrogate, Plain) and len(self.X):
            variance = self.surrogate.variance(self.theta, self.X[:1])
            return (float(self.theta[0]), float(variance.values[0])) if variance.constant else None
        return None

    @cached_property
    def _beside(self) -> Callable[[Array], Covariance]:
        """Maps inputs to their covariance with the observations."""
        if isinstance(self.surrogate, Plain):
            return self.surrogate.beside(self.theta, self.X)
        return lambda A: self.surrogate.covariance(self.theta, A, self.X)

    def extended(self, X: Array, y: Array, draws: Array | None = None) -> Posterior:
        """Return the posterior with more rows: the first have the targets ``y``, the others are pending.

        With K extended by rows, L = [[L, 0], [Q, C]], where C factorises the posterior covariance of the new rows. For
        rows drawn from that posterior, the whitened targets C⁻¹(target - mean) are standard normal. M joint fantasies
        (MOBSTER, A.1) are therefore ``draws`` of shape (pending, M), appended below P. Without draws, pending rows
        change only the variances: their whitened target is 0 and the mean stays (hallucination, NASBOT Section 4).
        """
        if len(X) == 0:
            return self
        covariance = self.surrogate.covariance(self.theta, X, self.X).K
        Q = forward(self.L, covariance.T).T
        inner = self.surrogate.covariance(self.theta, X).K
        np.einsum("ii->i", inner)[:] += np.exp(self.theta[-1])
        C, jitter = lifted(inner - Q @ Q.T, float(np.mean(np.diagonal(inner))))
        n, k = len(self.X), len(X)
        L = np.zeros((n + k, n + k), order="F")
        L[:n, :n] = self.L
        L[n:, :n] = Q
        L[n:, n:] = C
        known = len(y)
        M = self.P.shape[1] if draws is None else draws.shape[1]
        P = np.zeros((n + k, M))
        P[:n] = self.P
        if known:
            assert self.P.shape[1] == 1, "observations come before fantasies"
            rest = y - self.surrogate.mean(self.theta, X[:known]).values - Q[:known] @ self.P[:, 0]
            P[n : n + known] = forward(C[:known, :known], rest)[:, None]
        if draws is not None:
            P[n + known :] = draws
        before = (self, y) if known == k else None
        return Posterior(self.surrogate, self.theta, np.vstack([self.X, X]), L, P, max(self.jitter, jitter), before)

    def fantasised(self, A: Array, draws: int, rng: np.random.Generator) -> Posterior:
        """Return the posterior with ``A`` pending, conditioned on ``draws`` fantasies; 0 means hallucination."""
        normal = normal_draws(len(A), draws, rng) if draws else None
        if self.before is None:
            return self.extended(A, np.empty(0), normal)
        earlier, y = self.before
        return earlier.extended(np.vstack([self.X[len(earlier.X) :], A]), y, normal)

    def means(self, A: Array) -> Array:
        """Return the posterior means without variances: (N, M)."""
        k = self._beside(A).K
        made: Array = self.surrogate.mean(self.theta, A).values[:, None] + k @ self.weights
        return made

    def predict(self, A: Array) -> Prediction:
        """Return means and variances at ``A``."""
        covariance, everywhere = self._beside(A), self._everywhere
        V = forward(self.L, covariance.K.T)
        mean, explained = covariance.K @ self.weights, np.einsum("ij,ij->j", V, V)
        if everywhere is None:
            own = self.surrogate.variance(self.theta, A)
            mean += self.surrogate.mean(self.theta, A).values[:, None]
            variance = own.values - explained
        else:
            mean += everywhere[0]
            variance = everywhere[1] - explained
        np.maximum(variance, LEAST_VARIANCE, out=variance)

        def to_left(d_mean: Array, d_variance: Array) -> Array:
            W = d_mean @ self.weights.T - 2.0 * d_variance[:, None] * backward(self.L, V).T
            made = covariance.to_left(W)
            return made if everywhere is not None else made + own.to_left(d_variance)

        return Prediction(mean, variance, to_left)

    def sample(self, A: Array, normal: Array) -> Array:
        """Draw the function jointly at ``A`` (for the first fantasy) from standard normal numbers: (N, k) → (N, k)."""
        covariance = self.surrogate.covariance(self.theta, A, self.X).K
        V = forward(self.L, covariance.T)
        joint = cholesky(self.surrogate.covariance(self.theta, A).K - V.T @ V)
        mean = self.surrogate.mean(self.theta, A).values + covariance @ self.weights[:, 0]
        made: Array = mean[:, None] + joint @ normal
        return made
