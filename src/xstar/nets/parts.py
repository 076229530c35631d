"""The layers of networks by part, in arrays: what the transport programs of a whole row of pairs are prepared from.

Layers of different parts (``labels.parts``) are never matched, so each part of a network stands by itself. Its layers are
followed by one more row for the dummy, which takes unassigned mass (``transport.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xstar.nets import labels
from xstar.nets.graph import Graph

Array = NDArray[np.float64]


class Rows(NamedTuple):
    """The layers of one part of one network, with a row for the dummy at the end."""

    lengths: Array
    """δ, (layers + 1, F)."""
    labels: NDArray[np.intp]
    """(layers + 1,)."""
    masses: Array
    """(layers + 1,); 0 for the dummy."""
    total: float
    """Σ of masses."""


@dataclass(frozen=True, slots=True)
class Part:
    """The layers of one part of many networks, concatenated, each network followed by a row for its dummy."""

    lengths: Array
    """δ, (rows, F); the rows of dummies are not used."""
    labels: NDArray[np.intp]
    """(rows,)."""
    masses: Array
    """(rows,); 0 for dummies."""
    starts: NDArray[np.intp]
    """The first row of each network, and the end: (networks + 1,)."""
    sizes: NDArray[np.intp]
    """The number of layers of each network in this part: (networks,)."""
    totals: Array
    """Σ of masses by network: (networks,)."""
    dummies: NDArray[np.intp]
    """The row of each network's dummy: (networks,)."""

    def upto(self, count: int) -> Part:
        """Return the part restricted to the first ``count`` networks."""
        end = int(self.starts[count])
        few = slice(0, count)
        return Part(
            self.lengths[:end],
            self.labels[:end],
            self.masses[:end],
            self.starts[: count + 1],
            self.sizes[few],
            self.totals[few],
            self.dummies[few],
        )


@dataclass(frozen=True, slots=True)
class Stack:
    """Many networks of one family."""

    parts: dict[int, Part]
    singles: tuple[int, ...]
    """The parts in which every network has one layer: the input, the output, usually the decision."""
    lengths: Array
    """δ of those layers, (singles, networks, F)."""
    labels: NDArray[np.intp]
    """(singles, networks)."""
    masses: Array
    """(singles, networks)."""


def stack(graphs: Sequence[Graph]) -> Stack:
    """Put networks beside each other, part by part."""
    split = [split_of(graph) for graph in graphs]
    parts = {part: _stacked([one.get(part) for one in split]) for part in sorted({p for one in split for p in one})}
    singles = tuple(part for part, many in parts.items() if (many.sizes == 1).all())
    chosen = [(parts[part], parts[part].starts[:-1]) for part in singles]
    return Stack(
        parts,
        singles,
        np.array([many.lengths[rows] for many, rows in chosen]),
        np.array([many.labels[rows] for many, rows in chosen], dtype=np.intp),
        np.array([many.totals for many, _ in chosen]),
    )


def split_of(graph: Graph) -> dict[int, Rows]:
    """Return the layers of each part of a network; cached with the graph."""
    parts = labels.parts()
    kept = graph.__dict__.get("_split")
    if kept is not None and kept[0] is parts:
        found: dict[int, Rows] = kept[1]
        return found
    profile = graph.profile
    of_row = parts[profile.labels]
    found = {}
    for part in sorted(set(of_row.tolist())):
        rows = np.flatnonzero(of_row == part)
        padded = np.append(rows, rows[-1])
        masses = profile.masses[padded]
        masses[-1] = 0.0
        found[part] = Rows(profile.lengths[padded], profile.labels[padded], masses, float(masses.sum()))
    graph.__dict__["_split"] = (parts, found)
    return found


def _stacked(rows: Sequence[Rows | None]) -> Part:
    given = [one for one in rows if one is not None]
    sizes = np.array([0 if one is None else len(one.masses) - 1 for one in rows], dtype=np.intp)
    heights = np.where(sizes > 0, sizes + 1, 0)
    starts = np.concatenate(([0], np.cumsum(heights)))
    return Part(
        np.concatenate([one.lengths for one in given]),
        np.concatenate([one.labels for one in given]),
        np.concatenate([one.masses for one in given]),
        starts,
        sizes,
        np.array([0.0 if one is None else one.total for one in rows]),
        starts[1:] - 1,
    )
