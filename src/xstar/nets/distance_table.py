"""The distances between the networks of a catalogue, each pair computed once, and only on request.

A network gets a row and a column of the table when its distances are first asked for; ``catalogue.py`` has the notation.
Column 0 stands for "no network", which is one unit away from all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from xstar.nets.distance import STRUCTURE, Array, distances

Numbers = NDArray[np.int64]

REMEMBERED = 4_000
"""Maximum number of cached exact rows of candidates: 25 MB at 200 networks."""


class DistanceTable:
    """d of all pairs of tabulated networks, in a unit of mass."""

    def __init__(self, unit: float) -> None:
        self.unit = unit
        self.computed = 0
        """The number of pairs computed so far."""
        self._numbers: list[int] = [0]
        """The index of the network of each column."""
        self._values: list[Any] = [None]
        """The network of each column."""
        self._column = np.full(64, -1, dtype=np.int64)
        """The column of each index; -1: none."""
        self._column[0] = 0
        self._table = np.zeros((64, 64, len(STRUCTURE)))
        self._remembered: dict[Any, Array] = {}

    def __len__(self) -> int:
        """How many columns there are."""
        return len(self._numbers)

    def make_room(self, count: int) -> None:
        """Allow indices below ``count``."""
        if count > len(self._column):
            self._column = larger(self._column, (count,), -1)

    def columns(self, numbers: Numbers | Sequence[int]) -> Numbers:
        """Return the columns of tabulated indices."""
        return self._column[numbers]

    def untabulated(self, numbers: Sequence[int]) -> list[int]:
        """Return those of the indices that are not in the table."""
        columns = self._column[numbers].tolist()
        return [number for number, column in zip(numbers, columns, strict=True) if column < 0]

    def add(self, numbers: Sequence[int], values: Sequence[Any]) -> None:
        """Enter networks that are not in the table: compute their distances to each other and to the others."""
        start, end = len(self), len(self) + len(numbers)
        if end > len(self._table):
            room = max(2 * len(self._table), end)
            self._table = larger(self._table, (room, room, len(STRUCTURE)), 0.0)
        across = np.array([self.exact_row(value) for value in values])
        self._table[start:end, :start] = across
        self._table[:start, start:end] = across.transpose(1, 0, 2)
        self._table[start:end, start:end] = distances(values) / self.unit
        self.computed += len(numbers) * (len(numbers) - 1) // 2
        self._column[numbers] = range(start, end)
        self._numbers += numbers
        self._values += values

    def keep(self, numbers: list[int]) -> None:
        """Drop all networks but these, the first of which is 0."""
        columns = self._column[numbers]
        self._table[: len(columns), : len(columns)] = self._table[np.ix_(columns, columns)]
        self._column[:] = -1
        self._column[numbers] = range(len(numbers))
        self._numbers, self._values = numbers, [self._values[column] for column in columns.tolist()]
        self._remembered = {}

    def row(self, number: int) -> Array:
        """Return d of a tabulated network to all of them: (N, S)."""
        row: Array = self._table[self._column[number], : len(self)]
        return row

    def between(self, ours: Numbers, theirs: Numbers) -> Array:
        """Return d of all pairs of tabulated networks: (m, n, S)."""
        found: Array = self._table[np.ix_(self._column[ours], self._column[theirs])]
        return found

    def exact_row(self, value: Any) -> Array:
        """Return d of any network to all tabulated ones, using cached values where available."""
        row = np.zeros((len(self), len(STRUCTURE)))
        row[0] = 1.0  # a typical mass
        old = self._remembered.get(value)
        start = 1 if old is None else len(old)
        if old is not None:
            row[:start] = old
        if start < len(row):
            row[start:] = distances([value], self._values[start:])[0] / self.unit
            self.computed += len(row) - start
        return row

    def remember(self, rows: Mapping[Any, Array]) -> None:
        """Cache exact rows of networks that are not in the table."""
        if len(self._remembered) > REMEMBERED:
            self._remembered = {}
        self._remembered |= rows


A = TypeVar("A", bound=NDArray[Any])


def larger(array: A, shape: tuple[int, ...], blank: float) -> A:
    """Return the array enlarged to ``shape``."""
    made = np.full(shape, blank, dtype=array.dtype)
    made[tuple(slice(size) for size in array.shape)] = array
    return made  # type: ignore[return-value]
