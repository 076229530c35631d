"""When a place is exhausted: what could be gained there is less than the noise lets another trial tell.

Notation: ``X`` encoded configurations (n, w); ``t`` their targets (n,); σ the standard deviation of the noise.

A surrogate takes for noise what it cannot explain: also ripples that are finer than its observations. The noise that counts is
therefore no larger than what trials at the same place differ by, their *pure error*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xstar.models.kernels import Array

REPEATED = 1e-3
"""In sides of the cube: trials that are closer in every column are at the same place."""
ENOUGH_PAIRS = 3
"""Pairs of trials at the same place from which their difference is taken for noise."""
RESOLUTION = 1e-4
"""The smallest noise, in standard deviations of the losses: who wants more digits of an exact loss has its optimum already."""


def same_place(X: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs of rows that are at the same place, as two lists of indices.

    >>> one, other = same_place(np.array([[0.1, 0.5], [0.3, 0.5], [0.1005, 0.5]]))
    >>> one.tolist(), other.tolist()
    ([0], [2])
    """
    one, other = np.triu_indices(len(X), 1)
    for column in X.T:
        close = np.abs(column[one] - column[other]) < REPEATED
        one, other = one[close], other[close]
    return one, other


def confirmed_noise(learned: float, X: Array, t: Array) -> float:
    """Return the ``learned`` σ as far as trials at the same place confirm it; at least ``RESOLUTION``."""
    one, other = same_place(X)
    pure_error = np.sqrt(0.5 * np.mean((t[one] - t[other]) ** 2)) if len(one) >= ENOUGH_PAIRS else 0.0
    return max(min(learned, float(pure_error)), RESOLUTION)
