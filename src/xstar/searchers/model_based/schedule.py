"""When a surrogate is refitted: at counts of observations that are fixed beforehand.

Hyperparameters are a function of the observations up to the last such count, and of nothing else. So whoever resumes or
audits a study computes the same numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FIRST = 2
"""A surrogate is fitted from so many observations on."""
GROWTH = 10
"""Refits happen when the data have grown by a tenth, and after every observation up to 20."""
MOST_NEW = 100
"""But after so many new observations at the latest: they are rows below a factor of at most 500 rows, and at 100,000 trials a
tenth would be 10,000 of them."""


def last_refit(count: int, growth: int = GROWTH, most_new: int | None = MOST_NEW) -> int:
    """The largest count of the schedule that is not above ``count``.

    >>> [last_refit(count) for count in (2, 19, 21, 23, 24)]
    [2, 19, 20, 22, 24]
    """
    at = FIRST
    steady = float("inf") if most_new is None else growth * most_new
    while at < steady and (after := at + max(1, at // growth)) <= count:
        at = after
    if most_new is not None and at >= steady:
        at += (count - at) // most_new * most_new
    return at


def last_full_refit(count: int, at_full: NDArray[np.bool_]) -> int:
    """The same, but no refit while nothing new has reached the full budget (MOBSTER, A.1).

    Always refit up to 20, and when ``GROWTH * MOST_NEW`` observations have come since.
    """
    at = last = FIRST
    while (after := at + max(1, min(at // GROWTH, MOST_NEW))) <= count:
        at = after
        if at <= 2 * GROWTH or at_full[last:at].any() or at - last >= GROWTH * MOST_NEW:
            last = at
    return last
