"""Distances kept across a study: no pair is computed twice while it is remembered, and forgetting changes no answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xstar.errors import InvalidArgument
from xstar.nets.distance import STRUCTURE, Array, _graphs, distances, normalise
from xstar.nets.graph import Graph

LIMIT = 1_000_000
"""Pairs that are kept: about 200 MB. Beyond it the memory starts anew."""


class DistanceMemory:
    """``distances`` that remembers.

    >>> from xstar.nets import MLP
    >>> memory = DistanceMemory()
    >>> pool = MLP(inputs=4).pool
    >>> memory(pool).shape, memory.computed
    ((10, 10, 4), 45)
    >>> memory(pool[:3], pool[3:]).shape, memory.computed
    ((3, 7, 4), 45)
    """

    def __init__(self, structure: Sequence[float] = STRUCTURE, limit: int = LIMIT, threads: int | None = None) -> None:
        if type(limit) is not int or limit < 1:
            raise InvalidArgument("limit", "must be a whole number of 1 or more", limit)
        self.structure = tuple(structure)
        self.limit = limit
        self.threads = threads
        self.computed = 0
        """How many pairs have been computed so far."""
        self._numbers: dict[Graph, int] = {}
        self._rows: dict[tuple[int, int], int] = {}
        self._values: Array = np.empty((0, len(self.structure)))

    def __call__(self, left: Sequence[Any], right: Sequence[Any] | None = None, normalised: bool = False) -> Array:
        """d (or d̄) of every pair: (left, right, structure)."""
        rows = _graphs("left", left)
        columns = rows if right is None else _graphs("right", right)
        if len(self._rows) + len(rows) * len(columns) > self.limit:
            self._numbers, self._rows, self._values = {}, {}, np.empty((0, len(self.structure)))
        ours, theirs = self._numbered(rows), self._numbered(columns)
        self._learn(rows, columns, ours, theirs)
        known = self._rows
        places = [[known[(i, j) if i < j else (j, i)] if i != j else -1 for j in theirs] for i in ours]
        found = np.vstack([self._values, np.zeros((1, len(self.structure)))])[np.array(places, dtype=np.intp)]
        found = found.reshape(len(rows), len(columns), len(self.structure))
        return normalise(found, rows, columns) if normalised and found.size else found

    def _numbered(self, graphs: list[Graph]) -> list[int]:
        return [self._numbers.setdefault(graph, len(self._numbers)) for graph in graphs]

    def _learn(self, rows: list[Graph], columns: list[Graph], ours: list[int], theirs: list[int]) -> None:
        """Compute what is missing. Rows that miss the same columns are computed together."""
        by_number = dict(zip([*ours, *theirs], [*rows, *columns], strict=True))
        missing: dict[tuple[int, ...], list[int]] = {}
        claimed: set[tuple[int, int]] = set()
        for i in dict.fromkeys(ours):
            wanted = []
            for j in dict.fromkeys(theirs):
                pair = (i, j) if i < j else (j, i)
                if i != j and pair not in self._rows and pair not in claimed:
                    wanted.append(j)
                    claimed.add(pair)
            if wanted:
                missing.setdefault(tuple(wanted), []).append(i)
        new = [self._values]
        for numbers, group in missing.items():
            graphs, others = [by_number[i] for i in group], [by_number[j] for j in numbers]
            values = distances(graphs, others, self.structure, threads=self.threads)
            for i in group:
                for j in numbers:
                    self._rows[(i, j) if i < j else (j, i)] = len(self._rows)
            new.append(values.reshape(-1, len(self.structure)))
            self.computed += len(group) * len(numbers)
        self._values = np.vstack(new) if len(new) > 1 else self._values
