"""Linear algebra of small matrices: Cholesky factors, and BLAS limited to one thread.

LAPACK is called directly, without the checks of ``scipy.linalg``, on column-major arrays so that nothing is copied.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from xstar.core.compiled import dpotrf, dtrsm
from xstar.models.kernels import Array

JITTER = 1e-9
"""Jitter of the diagonal, relative to its mean: ten times the rounding error of a matrix of a few hundred rows."""
LADDER = (1.0, 1e2, 1e4, 1e6, 1e7, 1e8)
"""Multiples of ``JITTER`` to try, in order, until the matrix is positive definite. Rounding never requires more than
the second. Kernels over distances may have eigenvalues of -1 % of the diagonal; the jitter needed for those counts as
noise."""

ROUNDING = 2
"""How many of ``LADDER`` rounding may require."""
LEAST_LEFT = 1e-6
"""What is left of the variance of a new row at least, relative to the prior variance."""


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


def lifted(K: Array, scale: float) -> tuple[Array, float]:
    """Return the factor of what is left of the variance of new rows, and the jitter relative to ``scale``, the prior variance.

    What is left of a variance that is known nearly to the last digit may be negative under a kernel that is not positive
    definite. No multiple of it helps then: its diagonal is raised until its lowest eigenvalue is a little above 0.
    """
    try:
        return steadied(K)
    except NotPositiveDefinite:
        lift = LEAST_LEFT * scale - float(np.linalg.eigvalsh(K)[0])
        if not np.isfinite(lift):
            raise
        return cholesky(K + lift * np.eye(len(K))), lift / scale


def forward(L: Array, B: Array) -> Array:
    """Return L⁻¹ B."""
    made: Array = dtrsm(1.0, L, B, lower=1)
    return made


def backward(L: Array, B: Array) -> Array:
    """Return L⁻ᵀ B."""
    made: Array = dtrsm(1.0, L, B, lower=1, trans_a=1)
    return made


def noisy_factor(K: Array, noise: float, rungs: int = len(LADDER)) -> Array | None:
    """Return the lower factor of K + σ²I (upper triangle not cleared), or None if there is none with so many rungs of
    ``LADDER``. ``K`` is restored."""
    diagonal = np.einsum("ii->i", K)
    kept = diagonal.copy()
    base = JITTER * (float(np.add.reduce(kept)) / len(kept))
    for multiple in LADDER[:rungs]:
        diagonal[:] = kept + (noise + base * multiple)
        L, failed = dpotrf(K.T, lower=1, clean=0)
        if not failed:
            break
    diagonal[:] = kept
    return None if failed else L


# ---------------------------------------------------------------- one thread
#
# The matrices here are small, and threads cost more than they save. With one thread the result does not depend on the number of
# cores, so an audit on another machine can reproduce it bit for bit. The limit of most libraries is one for the whole process.
# Programs may decide in several threads, about one study in turn or about several at once: the first decision sets the limit,
# and the last one that is under way takes it back.

Counts = list[tuple[Any, int]]
"""Libraries and the threads that each had."""


@lru_cache(maxsize=1)
def _libraries() -> list[Any]:
    """Return a ``LibController`` of each BLAS."""
    return [each for each in ThreadpoolController().lib_controllers if each.user_api == "blas"]


class _Limit:
    """The limit of the whole process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._decisions = 0
        self._before: Counts = []

    def begin(self) -> None:
        with self._lock:
            if self._decisions == 0:
                self._before = _limited([each for each in _libraries() if not _is_per_thread(each)])
            self._decisions += 1

    def end(self) -> None:
        with self._lock:
            self._decisions -= 1
            if self._decisions == 0:
                _set(self._before)


_LIMIT = _Limit()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Let BLAS use one thread. ``ThreadpoolController.limit`` does the same, and takes 70 µs of each decision."""
    own = _limited([each for each in _libraries() if _is_per_thread(each)])
    _LIMIT.begin()
    try:
        yield
    finally:
        _LIMIT.end()
        _set(own)


def _is_per_thread(library: Any) -> bool:
    return getattr(library, "threading_layer", None) == "openmp"


def _limited(libraries: list[Any]) -> Counts:
    """Limit those that use several threads; return how many they used."""
    several = [(each, count) for each in libraries if (count := each.get_num_threads()) != 1]
    _set([(each, 1) for each, _ in several])
    return several


def _set(counts: Counts) -> None:
    for each, count in counts:
        # Since threadpoolctl 3.8 only the thread that set a limit first can set another, and all others do so in vain.
        if (release := getattr(each, "clear_controlling_thread", None)) is not None:
            release(force=True)
        each.set_num_threads(count)
        if release is not None:
            release(force=True)
