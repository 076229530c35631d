"""Draw a network as SVG text: layers in ranks, from the input at the top to the output at the bottom.

Layered drawing (Sugiyama, Tagawa & Toda 1981). The rank of a layer is its longest path from the input. An edge that
crosses ranks gets a bend in each, so that it is routed around layers. Ranks are ordered by the mean position of their
neighbours, and then every node moves towards its neighbours as far as space permits. Colours follow the paper's Figure
1: the input and the output are pink, decisions green.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from xstar.nets.graph import Graph

FILLS = {
    "input": "#f8d7e3",
    "output": "#f8d7e3",
    "decision": "#d5edd3",
    "conv": "#dce6f7",
    "pool": "#fbe9cf",
    "fc": "#e7def4",
    "rectifier": "#dce6f7",
    "sigmoid": "#fbe9cf",
    "skip": "#ececec",
}
OTHER = "#ececec"
INK, LINE = "#222222", "#777777"
HEIGHT, STEP, GAP, MARGIN = 24.0, 52.0, 14.0, 12.0
LETTER = 6.6
"""Width of a letter at 12 px: that of an average sans-serif font, with some slack."""
BEND = 10.0
"""Width reserved for an edge where it crosses a rank."""
SWEEPS = 8


@dataclass
class Node:
    """A layer, or the bend of an edge in a rank that it crosses."""

    rank: int
    width: float
    layer: int | None
    x: float = 0.0


def svg(graph: Graph, masses: bool = False) -> str:
    """Return the picture. ``masses`` adds the masses in parentheses."""
    texts = [_text(graph, number, masses) for number in range(len(graph.layers))]
    nodes, chains, width, height = _laid_out(graph, texts)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.1f} {height:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" font-family="Helvetica, Arial, sans-serif" font-size="12">',
        f"<title>{escape(repr(graph).strip('<>'))}</title>",
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        f'<path d="M0 0 L8 4 L0 8 z" fill="{LINE}"/></marker></defs>',
    ]
    parts += [_edge([nodes[number] for number in chain]) for chain in chains]
    parts += [_box(graph, node, texts[node.layer]) for node in nodes if node.layer is not None]
    return "\n".join([*parts, "</svg>"]) + "\n"


def thumbnail(graph: Graph) -> tuple[str, float]:
    """Return a small picture without words, and its width over its height: each layer a dot in a deeper tone of its colour."""
    nodes, chains, width, height = _laid_out(graph, [""] * len(graph.layers))
    paths = (" L".join(f"{nodes[number].x:.0f} {_top(nodes[number]):.0f}" for number in chain) for chain in chains)
    dots = (
        f'<circle cx="{node.x:.0f}" cy="{_top(node):.0f}" r="13" fill="{_fill(graph, node.layer)}"/>'
        for node in nodes
        if node.layer is not None
    )
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-6 -6 {width + 12:.0f} {height:.0f}">'
        f'<path d="M{" M".join(paths)}" fill="none" stroke="{LINE}" stroke-width="5"/>'
        f'<g stroke="{LINE}" stroke-width="4" style="filter: saturate(4) brightness(.86)">{"".join(dots)}</g></svg>'
    )
    return text, (width + 12) / height


def _laid_out(graph: Graph, texts: list[str]) -> tuple[list[Node], list[list[int]], float, float]:
    """Return layers and bends in their places, the nodes that each edge passes through, and the size of it all."""
    nodes, chains = _nodes(graph, texts)
    ranks = _ordered(nodes, chains)
    _place(nodes, ranks, chains)
    left = min(node.x - node.width / 2 for node in nodes)
    for node in nodes:
        node.x += MARGIN - left
    width = max(node.x + node.width / 2 for node in nodes) + MARGIN
    return nodes, chains, width, 2 * MARGIN + HEIGHT + STEP * (len(ranks) - 1)


def _text(graph: Graph, number: int, masses: bool) -> str:
    one = graph.layers[number]
    text = f"{number}: {one.op}"
    text += "" if one.units is None else f", {one.units}"
    text += " /2" if one.stride == 2 and len(one.label.strides) > 1 else ""
    return text + (f" ({graph.masses[number]:.10g})" if masses else "")


def _nodes(graph: Graph, texts: list[str]) -> tuple[list[Node], list[list[int]]]:
    """Return layers and bends, and for each edge the nodes that it passes through."""
    rank = [0] * len(graph.layers)
    for start, end in graph.edges:  # ascending by start, and layers are in topological order
        rank[end] = max(rank[end], rank[start] + 1)
    nodes = [Node(rank[n], LETTER * len(text) + 12, n) for n, text in enumerate(texts)]
    chains = []
    for start, end in graph.edges:
        chain = [start]
        for between in range(rank[start] + 1, rank[end]):
            nodes.append(Node(between, BEND, None))
            chain.append(len(nodes) - 1)
        chains.append([*chain, end])
    return nodes, chains


def _neighbours(nodes: list[Node], chains: list[list[int]]) -> tuple[list[list[int]], list[list[int]]]:
    above: list[list[int]] = [[] for _ in nodes]
    below: list[list[int]] = [[] for _ in nodes]
    for chain in chains:
        for upper, lower in pairwise(chain):
            above[lower].append(upper)
            below[upper].append(lower)
    return above, below


def _ordered(nodes: list[Node], chains: list[list[int]]) -> list[list[int]]:
    """Return the nodes of each rank from left to right, ordered by the mean position of their neighbours."""
    ranks: list[list[int]] = [[] for _ in range(1 + max(node.rank for node in nodes))]
    for number, node in enumerate(nodes):
        ranks[node.rank].append(number)
    above, below = _neighbours(nodes, chains)
    for sweep in range(SWEEPS):
        near = above if sweep % 2 == 0 else below
        place = {number: index - len(rank) / 2 for rank in ranks for index, number in enumerate(rank)}
        for rank in ranks if sweep % 2 == 0 else reversed(ranks):
            means = {n: sum(place[u] for u in near[n]) / len(near[n]) if near[n] else place[n] for n in rank}
            rank.sort(key=means.__getitem__)
            place.update({number: index - len(rank) / 2 for index, number in enumerate(rank)})
    return ranks


def _place(nodes: list[Node], ranks: list[list[int]], chains: list[list[int]]) -> None:
    """Assign positions from left to right: towards the neighbours, without overlap, in the order of the ranks."""
    above, below = _neighbours(nodes, chains)
    for sweep in range(3 * SWEEPS):
        down = sweep % 2 == 0
        near = above if down else below
        for rank in ranks if down else reversed(ranks):
            wanted = [sum(nodes[u].x for u in near[n]) / len(near[n]) if near[n] else nodes[n].x for n in rank]
            room = [(nodes[a].width + nodes[b].width) / 2 + GAP for a, b in pairwise(rank)]
            from_left, from_right = list(wanted), list(wanted)
            for i in range(1, len(rank)):
                from_left[i] = max(wanted[i], from_left[i - 1] + room[i - 1])
            for i in range(len(rank) - 2, -1, -1):
                from_right[i] = min(wanted[i], from_right[i + 1] - room[i])
            for i, number in enumerate(rank):  # the mean of two arrangements without overlap has no overlap either
                nodes[number].x = (from_left[i] + from_right[i]) / 2


def _top(node: Node) -> float:
    return MARGIN + STEP * node.rank


def _edge(chain: list[Node]) -> str:
    """Return the path of an edge: from box to box, straight through the ranks of its bends and curved between."""
    first = chain[0]
    path = f"M{first.x:.1f} {_top(first) + HEIGHT:.1f}"
    for upper, lower in pairwise(chain):
        start, end = _top(upper) + HEIGHT, _top(lower)
        middle = (start + end) / 2
        path += f" C{upper.x:.1f} {middle:.1f} {lower.x:.1f} {middle:.1f} {lower.x:.1f} {end:.1f}"
        if lower.layer is None:
            path += f" V{end + HEIGHT:.1f}"
    return f'<path d="{path}" fill="none" stroke="{LINE}" stroke-width="1.2" marker-end="url(#arrow)"/>'


def _box(graph: Graph, node: Node, text: str) -> str:
    assert node.layer is not None
    left, top, fill = node.x - node.width / 2, _top(node), _fill(graph, node.layer)
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{node.width:.1f}" height="{HEIGHT:.1f}" rx="4" fill="{fill}" '
        f'stroke="{LINE}"/><text x="{node.x:.1f}" y="{top + 16:.1f}" text-anchor="middle" fill="{INK}">'
        f"{escape(text)}</text>"
    )


def _fill(graph: Graph, layer: int) -> str:
    kind = graph.layers[layer].label
    return FILLS.get((kind.group or "") if kind.role == "processing" else kind.role, OTHER)
