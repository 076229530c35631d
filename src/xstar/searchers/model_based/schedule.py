"""The schedule of refits: fixed counts of observations.

Hyperparameters are a function of the observations up to the last such count, and of nothing else. Resuming or auditing
a study therefore reproduces the same numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FIRST = 2
"""A surrogate is fitted from this many observations on."""
GROWTH = 10
"""A refit happens when the data have grown by a tenth, and after every observation up to 20."""
LEAN_GROWTH = 5
"""The same where suggestions are to cost less: a refit when the data have grown by a fifth."""
MOST_NEW = 100
"""A refit happens after this many new observations at the latest. They are rows below a Cholesky factor of at most 500
rows, and at 100,000 trials a tenth would be 10,000 of them."""


def last_refit(count: int, growth: int = GROWTH, most_new: int | None = MOST_NEW) -> int:
    """Return the largest count of the schedule that is at most ``count``.

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


def last_lean_refit(count: int) -> int:
    """Return the same where a refit happens when the data have grown by a fifth.

    >>> [last_lean_refit(count) for count in (2, 19, 21, 23, 24, 640)]
    [2, 19, 20, 20, 24, 571]
    """
    at = FIRST
    while at < LEAN_GROWTH * MOST_NEW and (after := at + (1 if at < 2 * GROWTH else at // LEAN_GROWTH)) <= count:
        at = after
    return at if at < LEAN_GROWTH * MOST_NEW else at + (count - at) // MOST_NEW * MOST_NEW


def last_full_refit(count: int, at_full: NDArray[np.bool_]) -> int:
    """Return the count of the last refit, without refits while no new trial has reached the full budget (MOBSTER, A.1).

    Refits always happen up to 20 observations, and when ``GROWTH * MOST_NEW`` observations have been added since the
    last.
    """
    at = last = FIRST
    while (after := at + max(1, min(at // GROWTH, MOST_NEW))) <= count:
        at = after
        if at <= 2 * GROWTH or at_full[last:at].any() or at - last >= GROWTH * MOST_NEW:
            last = at
    return last
