"""Validate layers and edges of a network: every rule of Section 2.2 and B.2, each with its own error.

Images: a pooling layer or a stride of 2 halves the image, rounding up; a fully connected or decision layer turns it
into a vector. The inputs of a layer must have been halved equally often. The size after rounding up depends only on the
number of halvings, so images that were halved equally often have the same size.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from xstar.core.checks import as_int, whole_number
from xstar.errors import InvalidArgument
from xstar.nets.labels import FAMILIES, Family, InvalidGraph, label

if TYPE_CHECKING:
    from xstar.nets.graph import Layer

Neighbours = tuple[tuple[int, ...], ...]


def structure(
    layers: tuple[Layer, ...], edges: Iterable[tuple[int, int]]
) -> tuple[tuple[Layer, ...], tuple[tuple[int, int], ...], Neighbours, Neighbours, Family]:
    """Return layers in topological order, edges, parents, children and family of a valid network."""
    links = _links(layers, edges)
    roles: list[str] = [label(one.op).role for one in layers]
    for role, op in (("input", "ip"), ("output", "op")):
        if (found := roles.count(role)) != 1:
            raise InvalidGraph("layers", f"must have exactly one {op!r}", found, f'write Layer("{op}") once')
    order = _topological(layers, links)
    if order != list(range(len(layers))):
        place = {old: new for new, old in enumerate(order)}
        layers = tuple(layers[old] for old in order)
        roles = [roles[old] for old in order]
        links = sorted((place[start], place[end]) for start, end in links)
    parents: list[list[int]] = [[] for _ in layers]
    children: list[list[int]] = [[] for _ in layers]
    for start, end in links:
        parents[end].append(start)
        children[start].append(end)
    family = _family(layers)
    _paths(layers, roles, parents, children)
    _decisions(layers, roles, parents, children)
    return layers, tuple(links), tuple(map(tuple, parents)), tuple(map(tuple, children)), family


def _links(layers: tuple[Layer, ...], edges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    remedy = "number the layers from 0, in the order they are given"
    links: list[tuple[int, int]] = []
    size = len(layers)
    for edge in edges:
        try:
            start, end = edge
        except (TypeError, ValueError):
            raise InvalidGraph("edges", "must be pairs (from, to)", edge, remedy) from None
        if type(start) is not int or type(end) is not int:
            whole = as_int(start), as_int(end)
            if whole[0] is None or whole[1] is None:
                raise InvalidGraph("edges", "must join layers by their numbers", edge, remedy)
            start, end = whole[0], whole[1]
        if not (0 <= start < size and 0 <= end < size):
            raise InvalidGraph("edges", f"must join layers 0 … {size - 1}", edge, remedy)
        if start == end:
            raise InvalidGraph("edges", "must not run in a circle", edge, "leave the edge out")
        links.append((start, end))
    links.sort()
    if len(set(links)) < len(links):
        twice = next(edge for edge, after in pairwise(links) if edge == after)
        raise InvalidGraph("edges", "must be given once each", twice, "leave one out")
    return links


def _topological(layers: tuple[Layer, ...], links: list[tuple[int, int]]) -> list[int]:
    """Return the topological order closest to the numbering (Kahn, the lowest number first)."""
    if all(start < end for start, end in links) and layers[0].op == "ip" and layers[-1].op == "op":
        return list(range(len(layers)))
    waiting = [0] * len(layers)
    after: list[list[int]] = [[] for _ in layers]
    for start, end in links:
        waiting[end] += 1
        after[start].append(end)
    # The input first and the output last, even if a layer that is on no path could come before or after them.
    rank = [(one.op != "ip", one.op == "op", number) for number, one in enumerate(layers)]
    ready = [rank[number] for number, count in enumerate(waiting) if not count]
    heapq.heapify(ready)
    order = []
    while ready:
        number = heapq.heappop(ready)[2]
        order.append(number)
        for end in after[number]:
            waiting[end] -= 1
            if not waiting[end]:
                heapq.heappush(ready, rank[end])
    if len(order) < len(layers):
        circle = [number for number, count in enumerate(waiting) if count]
        raise InvalidGraph("edges", "must not run in a circle", circle, "these layers are on one or behind one")
    return order


def _family(layers: tuple[Layer, ...]) -> Family:
    found = {one.op: label(one.op).family for one in layers}
    families = {family for family in found.values() if family is not None}
    if len(families) > 1:
        shown = ", ".join(f"{op} ({family})" for op, family in found.items() if family is not None)
        raise InvalidGraph("layers", "must be of one family", shown, "a network is an MLP, a CNN or a cell")
    if not any(label(one.op).role == "processing" for one in layers):
        remedy = "add a processing layer: without one a network has no mass"
        raise InvalidGraph("layers", "must have a layer between input and decision", list(found), remedy)
    return FAMILIES[families.pop()]


def _paths(layers: tuple[Layer, ...], roles: list[str], parents: list[list[int]], children: list[list[int]]) -> None:
    # In an acyclic graph every layer is on a path from the only source to the only sink.
    for number, role in enumerate(roles):
        if not parents[number] and role != "input":
            found = f"{number} ({layers[number].op})"
            raise InvalidGraph("layers", "must all be on a path from the input", found, "give it a parent")
        if not children[number] and role != "output":
            found = f"{number} ({layers[number].op})"
            raise InvalidGraph("layers", "must all be on a path to the output", found, "give it a child")
        if (parents[number] and role == "input") or (children[number] and role == "output"):
            raise InvalidGraph("edges", "must leave the input and enter the output", number)


def _decisions(
    layers: tuple[Layer, ...], roles: list[str], parents: list[list[int]], children: list[list[int]]
) -> None:
    last = len(layers) - 1
    for number in parents[last]:
        if roles[number] != "decision":
            rule = "must feed the output from decision layers only"
            remedy = "put a linear or a softmax layer before the output"
            raise InvalidGraph("edges", rule, f"{number} ({layers[number].op})", remedy)
    for number, role in enumerate(roles):
        if role == "decision" and children[number] != [last]:
            rule = "must lead from a decision layer to the output only"
            raise InvalidGraph("edges", rule, f"{number} ({layers[number].op}) to {children[number]}")


def shapes(family: Family, inputs: Any, outputs: Any) -> tuple[Any, int | None]:
    """Return ``inputs`` and ``outputs`` in canonical form."""
    if inputs is not None:
        if family.images or family.sums:
            sizes = None
            if isinstance(inputs, (tuple, list)) and len(inputs) == 3:
                sizes = tuple(as_int(size) for size in inputs)
            if sizes is None or any(size is None or size < 1 for size in sizes):
                raise InvalidArgument("inputs", "must be (channels, height, width) of an image", inputs)
            inputs = sizes
        else:
            size = as_int(inputs)
            if size is None or size < 1:
                raise InvalidArgument("inputs", "must be the number of features", inputs)
            inputs = size
    if outputs is not None:
        outputs = whole_number("outputs", outputs, least=1)
    return inputs, outputs


def images(layers: Sequence[Layer], parents: Neighbours, inputs: tuple[int, int, int] | None) -> tuple[int | None, ...]:
    """Return how often each layer's image has been halved, None for a vector; raise an error if images do not match."""
    halvings: list[int | None] = []
    for number, one in enumerate(layers):
        before = {halvings[parent] for parent in parents[number]}
        kind = label(one.op)
        if len(before) > 1 and kind.role != "output":
            joined = {parent: _shown(halvings[parent]) for parent in parents[number]}
            rule = f"must bring layer {number} ({one.op}) images of one size"
            raise InvalidGraph("edges", rule, joined, "halve the larger ones with a pooling layer")
        size = before.pop() if before else 0
        if kind.flat:
            halvings.append(None)
            continue
        if size is None:
            rule = f"must bring layer {number} ({one.op}) an image"
            raise InvalidGraph("edges", rule, f"the vector of layer {parents[number][0]}", "put it before fc")
        halvings.append(size + (one.stride == 2))
    if inputs is not None:
        most = max(size for size in halvings if size is not None)
        side = min(inputs[1:])
        if side < 2**most:
            rule = f"must halve an image of {inputs[1]} × {inputs[2]} at most {side.bit_length() - 1} times"
            raise InvalidGraph("layers", rule, most, "take pooling layers or strides out")
    return tuple(halvings)


def _shown(halvings: int | None) -> str:
    return "vector" if halvings is None else f"1/{2**halvings}"
