"""Cholesky factors of covariance matrices.

LAPACK is called directly, without the checks of ``scipy.linalg``, on column-major arrays so that nothing is copied.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf

from xstar.models.kernels import Array

JITTER = 1e-9
"""Jitter of the diagonal, relative to its mean: ten times the rounding error of a matrix of a few hundred rows."""
LADDER = (1.0, 1e2, 1e4, 1e6, 1e7, 1e8)
"""Multiples of ``JITTER`` to try, in order, until the matrix is positive definite. Rounding never requires more than
the second. Kernels over distances may have eigenvalues of -1 % of the diagonal; the jitter needed for those counts as
noise."""


class NotPositiveDefinite(ArithmeticError):
    """A covariance matrix that has no Cholesky factor, even with jitter."""


def cholesky(K: Array) -> Array:
    """Return the lower Cholesky factor of a symmetric matrix, column-major, with zeros above the diagonal."""
    return steadied(K)[0]


def steadied(K: Array) -> tuple[Array, float]:
    """Return the lower Cholesky factor, and the jitter relative to the mean diagonal: 0 if it is rounding-level."""
    base = JITTER * float(np.mean(np.diagonal(K))) + 1e-300
    for multiple in LADDER:
        trial = K.T.copy(order="F")
        trial.flat[:: len(K) + 1] += base * multiple
        L, failed = dpotrf(trial, lower=1, clean=1, overwrite_a=1)
        if failed == 0:
            factor: Array = L
            return factor, 0.0 if multiple == 1.0 else JITTER * multiple
    raise NotPositiveDefinite(f"a covariance matrix of {len(K)} rows is not positive definite")


def forward(L: Array, B: Array) -> Array:
    """Return L⁻¹ B."""
    made: Array = dtrsm(1.0, L, B, lower=1)
    return made


def backward(L: Array, B: Array) -> Array:
    """Return L⁻ᵀ B."""
    made: Array = dtrsm(1.0, L, B, lower=1, trans_a=1)
    return made


def noisy_factor(K: Array, noise: float) -> Array | None:
    """Return the lower factor of K + σ²I (upper triangle not cleared), or None if there is none. ``K`` is restored."""
    diagonal = np.einsum("ii->i", K)
    kept = diagonal.copy()
    base = JITTER * (float(np.add.reduce(kept)) / len(kept))
    for multiple in LADDER:
        diagonal[:] = kept + (noise + base * multiple)
        L, failed = dpotrf(K.T, lower=1, clean=0)
        if not failed:
            break
    diagonal[:] = kept
    return None if failed else L
