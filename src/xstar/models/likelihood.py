"""The posterior probability of a GP's hyperparameters. Notation: ``gp.py``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotri

from xstar.models.cholesky import backward, forward, noisy_factor
from xstar.models.kernels import Array
from xstar.models.priors import Prior
from xstar.models.surrogate import Surrogate


def negative_log_posterior(
    surrogate: Surrogate, theta: Array, X: Array, y: Array, prior: PriorArrays | None = None
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


def log_posterior(surrogate: Surrogate, theta: Array, X: Array, y: Array) -> float:
    """Return log p(y | X, theta) + log p(theta) up to a constant: -inf outside the bounds."""
    if any(not prior.low <= value <= prior.high for value, prior in zip(theta, surrogate.priors, strict=True)):
        return -np.inf
    L = noisy_factor(surrogate.covariance(theta, X).K, float(np.exp(theta[-1])))
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
    centre, spread = np.array([prior.centre for prior in priors]), np.array([prior.spread for prior in priors])
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
