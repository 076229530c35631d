"""OTMANN, the distance between architectures (Section 3): for one pair, and for all pairs of two lists.

Notation

=============  ==========================================================================  ==================
symbol         meaning                                                                     shape
=============  ==========================================================================  ==================
``d``          the minimum cost of matching the masses of two networks, program (3)        (left, right, S)
``d̄``          d / (tm(G₁) + tm(G₂)), at most 1                                            (left, right, S)
``ν_str``      the cost of matching layers at different positions (``structure``)          (S,)
=============  ==========================================================================  ==================

d is a pseudo-distance (Theorem 1): it is symmetric (here bit for bit) and satisfies the triangle inequality; d̄ does
not. Networks at a distance of 0 need not be equal (Figure 3).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xstar.core.checks import as_float, whole_number
from xstar.errors import InvalidArgument
from xstar.nets import labels, transport
from xstar.nets.graph import Graph
from xstar.nets.parts import stack

Array = NDArray[np.float64]

STRUCTURE = (0.1, 0.2, 0.4, 0.8)
"""The ensemble of ν_str of the paper's kernel (B.1)."""
CHUNK = 128
"""The number of networks whose costs to one other network are prepared together: about 5 MB of arrays."""
WORTH_THREADS = 12
"""The number of layers per network from which threads pay off: the solver releases the interpreter lock, the calls do not."""


def otmann(a: Any, b: Any, structure: float = 0.5, normalised: bool = False) -> float:
    """Return the distance between two architectures at one ν_str.

    >>> from xstar.nets import Graph, Layer
    >>> chain = [(0, 1), (1, 2), (2, 3)]
    >>> a = Graph([Layer("ip"), Layer("relu", 8), Layer("linear"), Layer("op")], chain)
    >>> b = Graph([Layer("ip"), Layer("tanh", 8), Layer("linear"), Layer("op")], chain)
    >>> otmann(a, a)
    0.0
    >>> round(otmann(a, b), 6)  # 8 × (1/4 for the label + 1/2 × 12/18 for the groups' paths) + 3 × 0.8 × 1/2 × 6/18
    5.066667
    """
    return float(distances(_graphs("a", [a]), _graphs("b", [b]), (structure,), normalised)[0, 0, 0])


def distances(
    left: Sequence[Any],
    right: Sequence[Any] | None = None,
    structure: Sequence[float] = STRUCTURE,
    normalised: bool = False,
    threads: int | None = None,
) -> Array:
    """Return d (or d̄) of every pair at every ν_str: (left, right, structure). Without ``right``: all pairs of
    ``left``.

    Entries of the lists are graphs, or have an attribute ``graph``. ``threads=None`` uses all processors if the
    networks are large enough to benefit.
    """
    rows = _graphs("left", left)
    columns = rows if right is None else _graphs("right", right)
    nus, back = _ascending(structure)
    found = np.zeros((len(rows), len(columns), len(nus)))
    if len(rows) and len(columns):
        _check_families([*rows, *columns])
        _fill(found, rows, columns, nus, right is None, threads)
    found = found[:, :, back]
    return normalise(found, rows, columns) if normalised else found


def normalise(found: Array, left: Sequence[Any], right: Sequence[Any]) -> Array:
    """Compute d̄ from d, as an array of the same shape (left, right, S)."""
    sums = np.add.outer([one.mass for one in _graphs("left", left)], [one.mass for one in _graphs("right", right)])
    return found / sums[:, :, None]


def _fill(
    found: Array, rows: list[Graph], columns: list[Graph], nus: Array, symmetric: bool, threads: int | None
) -> None:
    chunks = [(start, stack(columns[start : start + CHUNK])) for start in range(0, len(columns), CHUNK)]
    keys = [one.profile.key for one in rows]
    others = keys if symmetric else [one.profile.key for one in columns]
    rank = {key: place for place, key in enumerate(sorted({*keys, *others}))}
    order = np.array([rank[key] for key in others])

    def fill(number: int) -> None:
        end = number if symmetric else len(columns)
        for start, stacked in chunks:
            if start < end:
                few = slice(start, min(end, start + CHUNK))
                flip = order[few] < rank[keys[number]]
                found[number, few] = transport.row(rows[number], stacked, len(flip), nus, flip)

    workers = _workers(rows, columns, threads)
    if workers == 1:
        for number in range(len(rows)):
            fill(number)
    else:
        with ThreadPoolExecutor(workers) as pool:
            # Longest rows first, so that no thread is left with a long row at the end.
            for _ in pool.map(fill, reversed(range(len(rows)))):
                pass
    if symmetric:
        found += found.transpose(1, 0, 2)


def _workers(rows: list[Graph], columns: list[Graph], threads: int | None) -> int:
    if threads is None:
        sizes = [np.mean([len(one.layers) for one in side]) for side in (rows, columns)]
        threads = _processors() if min(sizes) >= WORTH_THREADS else 1
    else:
        threads = whole_number("threads", threads, least=1, remedy="None: as many as there are processors")
    return min(threads, len(rows))


def _processors() -> int:
    """Return the number of processors available to this process; on macOS, all of them."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ascending(structure: Sequence[float]) -> tuple[Array, NDArray[np.intp]]:
    """Return the distinct values of ν in ascending order, and the position of each requested value among them."""
    values = [as_float(value) for value in structure] if isinstance(structure, (tuple, list, np.ndarray)) else []
    if not values or any(value is None or value < 0 for value in values):
        raise InvalidArgument(
            "structure", "must be a list of numbers of 0 or more", structure, "the paper has 0.1 … 0.8"
        )
    nus, back = np.unique(np.array(values, dtype=np.float64), return_inverse=True)
    return nus, back


def _graphs(name: str, given: Sequence[Any]) -> list[Graph]:
    found = [one if isinstance(one, Graph) else getattr(one, "graph", None) for one in given]
    for one, original in zip(found, given, strict=True):
        if not isinstance(one, Graph):
            raise InvalidArgument(name, "must be of nets.Graph, or have a graph", original)
    return found  # type: ignore[return-value]


def _check_families(graphs: list[Graph]) -> None:
    families = sorted({one.family.name for one in graphs})
    if len(families) > 1:
        raise labels.InvalidGraph(
            "graphs", "must be of one family: layers of two have nothing to be matched by", families
        )
