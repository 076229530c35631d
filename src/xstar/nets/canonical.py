"""Graph equality: a canonical form of labelled graphs, by colour refinement and exact search.

Colours start as the layer's own data (operation, units, stride) and are refined by the colours of parents and children
until they are stable (Weisfeiler & Leman). If every layer then has a unique colour, the order of the colours is the
order of the layers, and that is the form. Otherwise the graph has branches that mirror one another, as duplicated paths
do. One layer of the first ambiguous colour is then individualised, the colours are refined again, and so on; the
smallest of all forms found this way is taken (McKay & Piperno, Practical graph isomorphism II, 2014).

If a symmetry maps one layer of a colour to another, both lead to the same forms. This is detected as soon as one form
below each is the same, and the second is then not searched: a network with k duplicated paths takes about k²
refinements instead of 2ᵏ. The result is always exact: equal forms are equal networks, because a form contains all
layers and edges, and the search depends only on colours.

Colours are ranks of sorted tuples, never hashes, so the form is the same in every process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xstar.nets.graph import Graph

#: Layers and edges under the canonical numbering.
Form = tuple[tuple[tuple[Any, ...], ...], tuple[tuple[int, int], ...]]

Neighbours = tuple[tuple[int, ...], ...]


def invariant(graph: Graph) -> int:
    """Return a cheap number that equal graphs share and others rarely do; it differs between processes."""
    parents, children = graph.parents, graph.children
    down: list[int] = []
    for number, one in enumerate(graph.layers):  # parents first: each colour depends on everything above it
        down.append(hash((one.op, one.units, one.stride, *sorted([down[parent] for parent in parents[number]]))))
    up = [0] * len(down)
    for number in range(len(down) - 1, -1, -1):
        up[number] = hash((down[number], *sorted([up[child] for child in children[number]])))
    return hash(tuple(sorted(up)))


def form(graph: Graph) -> Form:
    """Return the canonical form: equal for two graphs if and only if one is a renumbering of the other."""
    data = [(one.op, one.units or 0, one.stride) for one in graph.layers]
    colours = _refined(_ranks(data), graph.parents, graph.children)
    return _search(colours, graph, data)[0]


def _ranks(keys: list[Any]) -> list[int]:
    """Return the rank of each key among the sorted distinct keys."""
    rank = {key: number for number, key in enumerate(sorted(set(keys)))}
    return [rank[key] for key in keys]


def _refined(colours: list[int], parents: Neighbours, children: Neighbours) -> list[int]:
    count = len(set(colours))
    while True:
        keys = [
            (colour, tuple(sorted([colours[u] for u in before])), tuple(sorted([colours[u] for u in after])))
            for colour, before, after in zip(colours, parents, children, strict=True)
        ]
        colours = _ranks(keys)
        found = len(set(colours))
        if found == count:  # the old colour comes first in the key, so classes can only split
            return colours
        count = found


def _ambiguous(colours: list[int]) -> list[int]:
    """Return the layers of the first colour that several layers share; empty if there is none."""
    cells: dict[int, list[int]] = {}
    for number, colour in enumerate(colours):
        cells.setdefault(colour, []).append(number)
    shared = [colour for colour, cell in cells.items() if len(cell) > 1]
    return cells[min(shared)] if shared else []


def _single_out(colours: list[int], layer: int, graph: Graph) -> list[int]:
    keys = [(colour, number != layer) for number, colour in enumerate(colours)]
    return _refined(_ranks(keys), graph.parents, graph.children)


def _read(colours: list[int], graph: Graph, data: list[Any]) -> Form:
    layers = tuple(entry for _, entry in sorted(zip(colours, data, strict=True)))
    return layers, tuple(sorted([(colours[start], colours[end]) for start, end in graph.edges]))


def _first(colours: list[int], graph: Graph, data: list[Any]) -> Form:
    """Return the form reached by always taking the first choice."""
    while cell := _ambiguous(colours):
        colours = _single_out(colours, cell[0], graph)
    return _read(colours, graph, data)


def _search(colours: list[int], graph: Graph, data: list[Any]) -> tuple[Form, Form]:
    """Return the smallest form below these colours, and the one reached by always taking the first choice."""
    cell = _ambiguous(colours)
    if not cell:
        form = _read(colours, graph, data)
        return form, form
    least, first = _search(_single_out(colours, cell[0], graph), graph, data)
    seen = {first}
    for layer in cell[1:]:
        if _twins(cell[0], layer, graph):
            continue
        below = _single_out(colours, layer, graph)
        if _first(below, graph, data) in seen:  # a symmetry maps an earlier choice to this one
            continue
        other, start = _search(below, graph, data)
        seen.add(start)
        least = min(least, other)
    return least, first


def _twins(one: int, other: int, graph: Graph) -> bool:
    return graph.parents[one] == graph.parents[other] and graph.children[one] == graph.children[other]
