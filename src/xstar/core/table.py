"""A table of numbers whose rows are only ever appended."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Table:
    """Appending a row costs amortised O(width): room for as many rows again is made whenever it is full.

    >>> table = Table(2)
    >>> table.append(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> table.rows[1].tolist()
    [3.0, 4.0]
    """

    __slots__ = ("_room", "count")

    def __init__(self, width: int) -> None:
        self.count = 0
        self._room: Array = np.empty((0, width))

    @property
    def rows(self) -> Array:
        """All rows: a view, valid until the next ``append``."""
        return self._room[: self.count]

    def append(self, rows: Array) -> None:
        """Add rows at the end."""
        need = self.count + len(rows)
        if need > len(self._room):
            grown = np.empty((max(64, 2 * need), self._room.shape[1]))
            grown[: self.count] = self.rows
            self._room = grown
        self._room[self.count : need] = rows
        self.count = need
