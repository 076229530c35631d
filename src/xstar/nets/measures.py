"""The quantities that OTMANN compares: masses and path lengths of layers (Section 3, Algorithm 1, A.3).

Notation

=============  =========================================================================  ==================
symbol         meaning                                                                    shape
=============  =========================================================================  ==================
``lm``         masses of layers                                                           (n,)
``ζ``          share of the processing mass assigned to each of input, output, decision   float
``δ``          path lengths, {all, group …} × {shortest, longest, random walk} ×          (n, 6·(groups + 1))
               {from ip, to op}
=============  =========================================================================  ==================

Choices where the paper is silent: the input outputs one unit; a pooling layer outputs as many units as it receives, and
that is its mass; within a group a path length counts the hops that leave a layer of the group on the way to op, and
those that enter one on the way from ip.

Sums and means over neighbours are rounded once (``math.fsum``), so that the result does not depend on the numbering of
layers: networks that differ only in numbering give identical bits, and Figure 3's pair is at a distance of exactly 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xstar.nets.labels import label, number

if TYPE_CHECKING:
    from xstar.nets.graph import Graph

Array = NDArray[np.float64]

ZETA = 0.1
"""ζ, the share of ip, of op and of all decision layers (Section 3: 0.1 in all experiments)."""


def units(graph: Graph) -> tuple[int, ...]:
    """Return the number of output units of each layer: its own, those of its parents, or 1 for the input."""
    handed: list[int] = []
    for one, parents in zip(graph.layers, graph.parents, strict=True):
        handed.append(one.units if one.units is not None else sum([handed[u] for u in parents]) if parents else 1)
    return tuple(handed)


def masses(graph: Graph) -> tuple[float, ...]:
    """Return lm(u): own units × incoming units for processing layers, shares of their sum for the others."""
    handed = graph.units
    found = [0.0] * len(handed)
    decisions = []
    for index, (one, parents) in enumerate(zip(graph.layers, graph.parents, strict=True)):
        kind = label(one.op)
        if kind.role == "decision":
            decisions.append(index)
        elif kind.role == "processing":
            if not kind.computes:
                found[index] = float(handed[index])
            else:
                # Where parents are summed, as in a cell, every layer receives as many units as it has.
                incoming = handed[index] if graph.family.sums else sum([handed[u] for u in parents])
                found[index] = kind.mass * (handed[index] * incoming)
    share = ZETA * fsum(found)
    found[0] = found[-1] = share
    for index in decisions:
        found[index] = share / len(decisions)
    return tuple(found)


def path_lengths(graph: Graph) -> Array:
    """Return δ of every layer: (n, 6·(groups + 1)), as in Algorithm 1."""
    groups = [None, *graph.family.groups]
    own = [label(one.op).group for one in graph.layers]
    size = len(own)
    columns: list[list[float]] = []
    for group in groups:
        counts = [1] * size if group is None else [int(group == each) for each in own]
        columns += _lengths(range(1, size), graph.parents, counts)
        columns += _lengths(range(size - 2, -1, -1), graph.children, counts)
    return np.array(columns).T


def hops(graph: Graph) -> tuple[float, float]:
    """Return the shortest and the longest path length from input to output."""
    shortest, longest, _ = _lengths(range(1, len(graph.layers)), graph.parents, [1] * len(graph.layers))
    return shortest[-1], longest[-1]


def _lengths(
    order: range, nearer: tuple[tuple[int, ...], ...], counts: list[int]
) -> tuple[list[float], list[float], list[float]]:
    """Return shortest, longest and random-walk lengths to the end that ``nearer`` leads to.

    From the input, a hop counts if it enters a counted layer; towards the output, if it leaves one. In both cases this
    is the layer whose length is computed.
    """
    shortest, longest, walk = [0.0] * len(counts), [0.0] * len(counts), [0.0] * len(counts)
    for index in order:
        near, hop = nearer[index], counts[index]
        if len(near) == 1:
            u = near[0]
            shortest[index], longest[index], walk[index] = hop + shortest[u], hop + longest[u], hop + walk[u]
        else:
            shortest[index] = hop + min([shortest[u] for u in near])
            longest[index] = hop + max([longest[u] for u in near])
            walk[index] = hop + fsum([walk[u] for u in near]) / len(near)
    return shortest, longest, walk


@dataclass(frozen=True, slots=True)
class Profile:
    """The representation of a network for OTMANN. Layers with equal label and equal δ form one row: they are
    indistinguishable."""

    labels: NDArray[np.intp]
    """Numbers of labels, (k,), ascending by part."""
    lengths: Array
    """δ, (k, 6·(groups + 1))."""
    masses: Array
    """lm, (k,)."""
    key: bytes
    """All of the above: orders networks independently of their numbering."""


def profile(graph: Graph) -> Profile:
    lengths = path_lengths(graph)
    rows: dict[tuple[int, bytes], list[int]] = {}
    for index, one in enumerate(graph.layers):
        rows.setdefault((number(one.op), lengths[index].tobytes()), []).append(index)
    order = sorted(rows)  # by label, then by position: independent of the numbering
    members = [rows[key] for key in order]
    numbers = np.array([key[0] for key in order], dtype=np.intp)
    kept = np.ascontiguousarray(lengths[[indices[0] for indices in members]])
    weights = np.array([fsum([graph.masses[u] for u in indices]) for indices in members])
    return Profile(numbers, kept, weights, b"".join(each.tobytes() for each in (weights, numbers, kept)))
