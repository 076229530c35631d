"""OTMANN for many pairs: the transport programs of A.1, split into parts, prepared together, solved by POT.

Notation

============  ===========================================================================  =====================
symbol        meaning                                                                      shape
============  ===========================================================================  =====================
``a, b``      masses of the layers of one part of a right and of a left network            (k,), (l,)
``C``         label cost + ν · structural cost, at most 2                                  (k + 1, l + 1)
``ν``         how much position counts (``structure``)                                     (S,)
============  ===========================================================================  =====================

The paper's program (5) has a dummy layer on each side for unassigned mass, at a cost of 1. Four reductions make it
smaller without changing its value:

* *Parts.* Layers of different parts (``labels.parts``) are never matched, so each part is a separate program, and the
  distance is the sum. Parts with one layer on each side (input, output, most decisions) need no program: min(a,
  b)·min(c, 2) + |a − b|.
* *One dummy.* Two unassigned units, one on each side, cost 1 + 1. With costs truncated at 2 they may as well be
  matched, so only the heavier side has unassigned mass: the lighter side gets a dummy of mass |Σa − Σb|.
* *Equal layers.* Costs satisfy the triangle inequality (Theorem 3), so mass that can be matched at no cost is matched
  and removed from the program; the solver drops layers without mass. For networks that differ only in units, little
  remains.
* *Equal positions.* Layers of one network with one label and the same path lengths are merged (``measures.Profile``).

If the plan for one ν is also optimal for another, all values between the two follow without solving (``_solve``).

The remaining programs are solved by POT's network simplex, called without its checks, on slices of arrays prepared for
a whole row of pairs. The costs for all ν come from one pass over the path lengths.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xstar.errors import XstarError
from xstar.nets import labels
from xstar.nets.graph import Graph
from xstar.nets.parts import Array, Part, Rows, Stack, split_of

MOST_PIVOTS = 1_000_000
"""Maximum number of pivots of the solver. A program of 60 × 60 layers takes a few hundred."""
EQUAL = 1e-12
"""Relative difference below which two distances are considered equal: a few thousand times the rounding of a sum."""
_OPTIMAL = 1


class TransportFailed(XstarError):
    """The solver found no optimum. This is an internal error, because every such program has one."""


def row(left: Graph, right: Stack, count: int, structure: Array, flip: NDArray[np.bool_]) -> Array:
    """Return d(left, ·) to the first ``count`` networks of ``right`` at each ν, in ascending order: (count, S).

    Where ``flip`` is set, the program is solved with the sides exchanged. The networks decide which side they are on,
    not the call. A distance is therefore bitwise the same for either order of the pair and for any other networks in
    the call.
    """
    found = np.zeros((count, len(structure)))
    split = split_of(left)
    single = _ends(split, right, count, structure)
    for part in sorted({*split, *right.parts}):
        one, many = split.get(part), right.parts.get(part)
        if part in single:
            found += single[part]
        elif many is None:  # nothing to match with: all mass is unassigned, at a cost of 1
            assert one is not None
            found += one.total
        elif one is None:
            found += many.totals[:count, None]
        else:
            found += _part(one, many.upto(count), structure, flip)
    return found


def _ends(split: dict[int, Rows], right: Stack, count: int, structure: Array) -> dict[int, Array]:
    """Compute the parts that are one layer in every network, all at once."""
    indices = [index for index, part in enumerate(right.singles) if part in split and len(split[part].masses) == 2]
    if not indices:
        return {}
    ours = [split[right.singles[index]] for index in indices]
    values = _one_to_one(
        (right.lengths[indices, :count], right.labels[indices, :count], right.masses[indices, :count]),
        (
            np.array([one.lengths[:1] for one in ours]),
            np.array([one.labels[:1] for one in ours]),
            np.array([[one.total] for one in ours]),
        ),
        structure,
    )
    return {right.singles[index]: each for index, each in zip(indices, values, strict=True)}


_Layers = tuple[Array, NDArray[np.intp], Array]


def _one_to_one(theirs: _Layers, ours: _Layers, structure: Array) -> Array:
    """Return min(a, b)·min(c, 2) + |a − b| for lengths (…, n, F), labels and masses (…, n): (…, n, S)."""
    position = np.abs(theirs[0] - ours[0]).sum(axis=-1)
    position /= ours[0].shape[-1]
    mismatch = labels.costs()[theirs[1], ours[1]]
    cost: Array = np.minimum(mismatch[..., None] + position[..., None] * structure, labels.FORBID)
    cost *= np.minimum(theirs[2], ours[2])[..., None]
    cost += np.abs(theirs[2] - ours[2])[..., None]
    return cost


def _part(one: Rows, many: Part, structure: Array, flip: NDArray[np.bool_]) -> Array:
    from scipy.spatial.distance import cdist

    lengths, label_row, masses, total = one
    over = many.totals - total
    found = np.repeat(np.abs(over)[:, None], len(structure), axis=1)  # correct if one side has no layer here
    programs = many.sizes > 0
    if len(masses) == 2:  # one layer and the dummy
        single = many.sizes == 1
        rows = many.starts[:-1][single]
        theirs = many.lengths[rows], many.labels[rows], many.totals[single]
        found[single] = _one_to_one(theirs, (lengths[:1], label_row[:1], np.array([total])), structure)
        programs = many.sizes > 1
    if not programs.any():
        return found

    position = cdist(many.lengths, lengths, "cityblock")  # C_str, (rows, l + 1)
    position /= lengths.shape[1]
    mismatch = labels.costs()[many.labels[:, None], label_row]  # C_lmm, (rows, l + 1)
    dummies = many.dummies[many.sizes > 0]
    mismatch[:, -1] = 1.0  # C'_nas: the dummies have a cost but no position
    mismatch[dummies] = 1.0
    mismatch[dummies, -1] = 0.0
    position[:, -1] = 0.0
    position[dummies] = 0.0
    costs = structure[:, None, None] * position
    costs += mismatch
    np.minimum(costs, labels.FORBID, out=costs)
    a = many.masses.copy()
    a[dummies] = np.maximum(-over[many.sizes > 0], 0.0)
    b = np.repeat(masses[None, :], len(over), axis=0)
    b[:, -1] = np.maximum(over, 0.0)
    equal = (mismatch == 0.0) & (position == 0.0)
    equal[dummies, -1] = False
    done = _cancel(equal, a, b, many)
    waiting = [owner for owner in np.flatnonzero(programs).tolist() if owner not in done]
    _solve(found, waiting, (a, b), (costs, position), structure, many, flip)
    return found


def _cancel(equal: NDArray[np.bool_], a: Array, b: Array, many: Part) -> set[int]:
    """Match mass that can be matched at no cost, in place; return the networks with one side used up."""
    rows, columns = np.nonzero(equal)
    if not len(rows):
        return set()
    owner_of = np.repeat(np.arange(len(many.sizes)), np.diff(many.starts))
    owners = owner_of[rows]
    cells = owners * b.shape[1] + columns
    if (rows[1:] == rows[:-1]).any() or len(np.unique(cells)) < len(cells):
        # Only if custom labels cost nothing to swap: a layer then has several equals, which are used in turn.
        for index, column, owner in zip(rows.tolist(), columns.tolist(), owners.tolist(), strict=True):
            both = min(a[index], b[owner, column])
            a[index] -= both
            b[owner, column] -= both
    else:
        both = np.minimum(a[rows], b[owners, columns])
        a[rows] -= both
        b[owners, columns] -= both
    layers = np.ones(len(a), dtype=bool)
    layers[many.dummies[many.sizes > 0]] = False
    left_over = np.bincount(owner_of[layers & (a > 0.0)], minlength=len(many.sizes)) > 0
    return set(np.flatnonzero(~(left_over & (b[:, :-1] > 0.0).any(axis=1))).tolist())


def _solve(
    found: Array,
    programs: list[int],
    sides: tuple[Array, Array],
    tables: tuple[Array, Array],
    structure: Array,
    many: Part,
    flip: NDArray[np.bool_],
) -> None:
    """Compute d of these programs at each ν.

    d is the minimum of many linear functions of ν, one per plan. It is linear from one ν to another if the plan of the
    one is also optimal at the other. The ends are solved first, and values in between only if the ends do not determine
    them.
    """
    from ot.lp.emd_wrap import emd_c

    (a, b), (costs, position) = sides, tables
    starts, flips, nus = many.starts.tolist(), flip.tolist(), structure.tolist()
    last = len(nus) - 1
    for owner in programs:
        start, end = starts[owner], starts[owner + 1]
        here, there, turned = a[start:end], b[owner], flips[owner]
        values = [0.0] * (last + 1)
        plans: dict[int, Array] = {}
        waiting = [0, last] if last else [0]
        between = [(0, last)]
        while waiting:
            for index in waiting:
                cost = costs[index, start:end]
                if turned:
                    answer: Any = emd_c(there, here, cost.T.copy(), MOST_PIVOTS, 1)
                else:
                    answer = emd_c(here, there, cost, MOST_PIVOTS, 1)
                if answer[4] != _OPTIMAL:
                    raise TransportFailed(f"the transport program ended with code {answer[4]}")
                plans[index], values[index] = answer[0], answer[1]
            waiting = []
            while between and not waiting:
                low, high = between.pop()
                if high - low < 2:
                    continue
                table, indices = costs[low, start:end], position[start:end]
                rise = _rise(plans[low], table.T, indices.T) if turned else _rise(plans[low], table, indices)
                if abs(values[low] + (nus[high] - nus[low]) * rise - values[high]) <= EQUAL * values[high]:
                    for index in range(low + 1, high):
                        values[index] = values[low] + (nus[index] - nus[low]) * rise
                else:
                    middle = (low + high + 1) // 2
                    waiting = [middle]
                    between += [(middle, high), (low, middle)]
        found[owner] = values


def _rise(plan: Array, cost: Array, position: Array) -> float:
    """Return the derivative of a plan's cost with respect to ν. A cost of 2 means no match, which has no position."""
    return float(np.vdot(plan, np.where(cost < labels.FORBID, position, 0.0)))
