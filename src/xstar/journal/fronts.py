"""Vectors of losses that come one by one, and the front that each belongs to (the notation is that of ``pareto.py``).

A row belongs to the front behind the last one that holds a row which dominates it. A new row changes the fronts before its own
not at all, and those behind only for rows that it dominates: each of these moves one front back, if a row has come to its front
that dominates it. So a row costs one comparison with all others, and one step for every front in which something moves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xstar.core.pareto import Array, fronts, nowhere_above

FEW = 16
"""Rows that wait to be sorted in are so one by one up to here or a 16th of all; more are sorted together with all others."""


class Fronts:
    """The rows of a set that grows, and their fronts. A row is sorted in when somebody asks for the fronts."""

    def __init__(self, m: int) -> None:
        self._Y = np.empty((m, 64))
        self._fronts = np.zeros(64, dtype=np.intp)
        self._count = self._sorted = 0

    def __len__(self) -> int:
        return self._count

    @property
    def Y(self) -> Array:
        """The rows, one column for each: (m, n)."""
        return self._Y[:, : self._count]

    def add(self, row: Array) -> None:
        """Append a row."""
        if self._count == self._Y.shape[1]:
            self._Y = np.concatenate([self._Y, np.empty_like(self._Y)], axis=1)
            self._fronts = np.concatenate([self._fronts, np.zeros_like(self._fronts)])
        self._Y[:, self._count] = row
        self._count += 1

    @property
    def numbers(self) -> NDArray[np.intp]:
        """The number of each row's front, from 0."""
        if self._count - self._sorted > max(FEW, self._sorted // FEW):
            self._fronts[: self._count] = fronts(self.Y.T)
            self._sorted = self._count
        while self._sorted < self._count:
            self._sort_in(self._sorted)
            self._sorted += 1
        return self._fronts[: self._count]

    def front_of(self, row: Array) -> int:
        """The front that a further row would belong to."""
        return self._behind(row, self.numbers, self.Y)

    def _behind(self, row: Array, numbers: NDArray[np.intp], Y: Array) -> int:
        over = nowhere_above(Y, row[:, None])
        over &= ~nowhere_above(row[:, None], Y)  # equal rows share a front
        return int(numbers[over].max(initial=-1)) + 1

    def _sort_in(self, index: int) -> None:
        row, Y, numbers = self._Y[:, index], self._Y[:, :index], self._fronts[:index]
        front = self._fronts[index] = self._behind(row, numbers, Y)
        below = np.flatnonzero(nowhere_above(row[:, None], Y) & (numbers >= front))
        below = below[np.argsort(numbers[below], kind="stable")]
        before = numbers[below]  # as they were
        moving = below[: np.searchsorted(before, front, side="right")]
        moving = moving[(Y[:, moving] != row[:, None]).any(axis=0)]
        while moving.size:
            front += 1
            begin, end = np.searchsorted(before, [front, front + 1])
            numbers[moving] = front
            there = below[begin:end]
            pairs = nowhere_above(Y[:, moving, None], Y[:, None, there])
            # Rows that are equal to one that moves were in its front, and move with it: here all pairs differ.
            moving = there[pairs.any(axis=0)]
