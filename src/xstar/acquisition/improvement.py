"""The logarithm of expected improvement.

Notation

=============  ======================================================================================  =========
symbol         meaning                                                                                 shape
=============  ======================================================================================  =========
``mean``       posterior means, one column per fantasy                                                 (N, M)
``std``        posterior standard deviations                                                           (N,)
``incumbent``  the loss to improve on, one per fantasy                                                 (M,)
``u``          (incumbent - mean) / std                                                                (N, M)
``h(u)``       φ(u) + u Φ(u), so that EI = std · h(u)                                                  (N, M)
=============  ======================================================================================  =========

Far from the incumbent, EI underflows, and its gradient vanishes exactly where the search needs a direction. Its
logarithm does not (Ament et al. 2023, Unexpected Improvements to Expected Improvement). With
h(u) = φ(u) (1 - |u| m(|u|)), where m(t) = (1 - Φ(t))/φ(t) is Mills' ratio:

    u > -1            log(φ + uΦ), evaluated directly
    -1e5 < u <= -1    log φ(u) + log(1 - |u| m(|u|)), with m from the scaled complementary error function
    u <= -1e5         log φ(u) - 2 log |u|: the next term of the series, 3/u², is below rounding
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from xstar.models.kernels import Array

Slopes = Callable[[], tuple[Array, Array]]
"""The derivatives, computed on request only: most scored points are candidates that are never optimised further."""

LOG_SQRT_2PI = 0.5 * float(np.log(2.0 * np.pi))
ROOT_HALF_PI = float(np.sqrt(np.pi / 2.0))


def log_h(u: Array) -> Array:
    """Return log(φ(u) + u Φ(u)) for any u."""
    if u.size and u.min() > -1.0:  # as at most of the points that climb
        return _near(u)
    near = u > -1.0
    made, deep = np.empty_like(u), u <= -1e5
    made[near] = _near(u[near])
    if deep.any():
        v = u[deep]
        made[deep] = -0.5 * v * v - LOG_SQRT_2PI - 2.0 * np.log(-v)
    middle = ~(near | deep)
    v = -u[middle]
    # 1 - v·m(v) loses digits as v·m(v) approaches 1, about v² units of rounding: at v = 1e5, six digits are left.
    made[middle] = -0.5 * v * v - LOG_SQRT_2PI + np.log1p(-v * ROOT_HALF_PI * erfcx(v / np.sqrt(2.0)))
    return made


def _near(u: Array) -> Array:
    """Return the same above -1."""
    made: Array = np.log(np.exp(-0.5 * u * u - LOG_SQRT_2PI) + u * ndtr(u))
    return made


def log_expected_improvement(mean: Array, variance: Array, incumbent: Array) -> tuple[Array, Slopes]:
    """Return log EI averaged over fantasies (N,), and a function for its derivatives by ``mean`` (N, M) and
    ``variance`` (N,)."""
    std = np.sqrt(variance)
    u = (incumbent - mean) / std[:, None]
    logs = log_h(u)
    share: Array | None = None  # of each fantasy in the average
    if logs.shape[1] == 1:
        value = np.log(std) + logs[:, 0]
    else:
        top = logs.max(axis=1, keepdims=True)
        parts = np.exp(logs - top)
        total = parts.sum(axis=1, keepdims=True)
        share = parts / total
        value = np.log(std) + top[:, 0] + np.log(total[:, 0] / logs.shape[1])

    def slopes() -> tuple[Array, Array]:
        slope = _log_h_slope(u, logs)
        if share is not None:
            slope *= share
        d_std = (1.0 - np.add.reduce(slope * u, 1)) / std
        return -slope / std[:, None], d_std * 0.5 / std

    return value, slopes


def _log_h_slope(u: Array, logs: Array) -> Array:
    """Return d log h / du = Φ(u)/h(u), as a difference of logarithms: both may underflow.

    Far below 0, where that difference loses its digits (all of them at u = -1e8), the derivative is -u: the next term, -2/u, is
    below rounding.
    """
    if not u.size or u.min() > -1e5:
        made: Array = np.exp(log_ndtr(u) - logs)
        return made
    deep = u <= -1e5
    return np.where(deep, -u, np.exp(np.where(deep, 0.0, log_ndtr(u) - logs)))
