"""When a place is exhausted: what could be gained there is less than the noise lets another trial tell.

Notation: ``X`` encoded configurations (n, w); ``t`` their targets (n,); σ the standard deviation of the noise.

A surrogate takes for noise what it cannot explain: also ripples that are finer than its observations. The noise that counts is
therefore no larger than what trials at the same place differ by, their *pure error*.

Measured on the development set of ``benchmarks/generality.py`` after 100 trials, with an eighth of σ and a lower bound of 10⁻⁸
for σ² (``priors.EXACT``). Four noisy functions, six seeds: losses lower in 5 searches, higher in 6, equal in 13; of the last
50 suggestions 2.8 instead of 8.6 at the place of an earlier one. Thirteen functions with hardly any noise, also of mixed and
conditional spaces, two seeds: lower in 9, higher in 3, equal in 14; 5.4 instead of 20.9. With the learned σ, confirmed or
not, the noisy ones were lower in 17 and higher in 5, but a rotated Rastrigin function was higher in 5 of 5 (15 instead of 3 in
the median): while ripples pass for noise, trials at the same place are what tells them apart.
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
