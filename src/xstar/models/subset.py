"""Select the observations to fit a model to when there are too many.

A GP costs O(n³). Above a limit it is fitted to a subset: the observations at the highest budgets (these are the target
of the search), the best quarter (the search concentrates there), and well-spread points from the rest (so that no
region appears unexplored).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xstar.models.kernels import Array


def choose(X: Array, loss: Array, budget: Array, limit: int) -> NDArray[np.intp]:
    """Return the indices of at most ``limit`` observations, in ascending order."""
    n = len(loss)
    if n <= limit:
        return np.arange(n)
    taken = np.zeros(n, dtype=bool)
    order = np.argsort(loss, kind="stable")
    if len(levels := np.unique(budget)) > 1:
        room = limit // 2
        for level in levels[:0:-1]:  # from the highest to the second lowest
            own = order[budget[order] == level]
            if len(own) > room:
                taken[own[:room]] = True  # the best observations of the first level that does not fit as a whole
                break
            taken[own] = True
            room -= len(own)
    quarter = order[~taken[order]][: limit // 4]
    taken[quarter] = True
    _spread(X, taken, limit)
    return np.flatnonzero(taken)


def _spread(X: Array, taken: NDArray[np.bool_], limit: int) -> None:
    """Fill up to ``limit`` greedily with the point farthest from those already taken."""
    distance = np.full(len(X), np.inf)
    for place in np.flatnonzero(taken):
        np.minimum(distance, ((X - X[place]) ** 2).sum(axis=1), out=distance)
    for _ in range(limit - int(taken.sum())):
        distance[taken] = -1.0
        farthest = int(distance.argmax())
        taken[farthest] = True
        np.minimum(distance, ((X - X[farthest]) ** 2).sum(axis=1), out=distance)
