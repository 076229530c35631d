"""The nine modifiers of Table 6 and the compound mutation of B.2: small steps from one architecture to another.

A modifier is a pure function of (graph, rng). It returns None if its choice of layers leads to no valid network: the
paper disallows such a change rather than repairing it. The usual reason is images, because layers that are joined must
have the same size; a skip connection from a larger image to a smaller one gets average pooling in between.

The paper leaves the probabilities inside modifiers open. The constants below are those of the authors' published code
where it has one; the modifier itself is drawn uniformly from the nine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from xstar.nets.graph import Graph, Layer
from xstar.nets.labels import InvalidGraph, label, labels as labels_of

T = TypeVar("T")

if TYPE_CHECKING:
    Modifier = Callable[[Graph, np.random.Generator, Sequence[str] | None], Graph | None]
else:  # referring to np.random would load it, which `import xstar` avoids
    Modifier = Callable

STEPS = (0.5, 0.25, 0.125, 0.075, 0.05)
"""Probabilities of 1, 2, … modifications in one mutation (B.2)."""
CHANGE = 8
"""Units grow or shrink by an eighth (Table 6)."""
STOP = 0.2
"""Probability that a path to duplicate ends at the next layer. Lower values give longer branches."""
HALVE = 0.05
"""Probability that a new layer of a CNN pools, that it has a stride of 2, that a swap changes a stride, or that it turns a
convolution into pooling, say. A halving changes every image size below it, so most of them are rejected; higher
probabilities make more attempts fail."""
NEW_UNITS = 16
"""Units of a new layer between two layers without units."""
ATTEMPTS = 20
"""Draws of a modifier per step before the step is skipped."""
PAIRS = 30
"""Draws of two layers before ``skip`` gives up."""


def dec_single(graph: Graph, rng: np.random.Generator, labels: Sequence[str] | None = None) -> Graph | None:
    """Return the graph with an eighth fewer units in one layer."""
    return _resized(graph, _some(graph, rng, single=True), -1)


def inc_single(graph: Graph, rng: np.random.Generator, labels: Sequence[str] | None = None) -> Graph | None:
    """Return the graph with an eighth more units in one layer."""
    return _resized(graph, _some(graph, rng, single=True), +1)


def dec_en_masse(graph: Graph, rng: np.random.Generator, labels: Sequence[str] | None = None) -> Graph | None:
    """Return the graph with an eighth fewer units in several consecutive layers."""
    return _resized(graph, _some(graph, rng, single=False), -1)


def inc_en_masse(graph: Graph, rng: np.random.Generator, labels: Sequence[str] | None = None) -> Graph | None:
    """Return the graph with an eighth more units in several consecutive layers."""
    return _resized(graph, _some(graph, rng, single=False), +1)


def _some(graph: Graph, rng: np.random.Generator, single: bool) -> list[int]:
    """Choose one layer with units, or an eighth of them in a row (a quarter of up to 8, half of up to 4)."""
    sized = [number for number, one in enumerate(graph.layers) if one.units is not None]
    if not sized:
        return []
    share = 2 if len(sized) <= 4 else 4 if len(sized) <= 8 else 8
    count = 1 if single else -(-len(sized) // share)
    start = int(rng.integers(len(sized) - count + 1))
    return sized[start : start + count]


def _resized(graph: Graph, numbers: list[int], sign: int) -> Graph | None:
    layers = list(graph.layers)
    for number in numbers:
        one = layers[number]
        assert one.units is not None
        units = one.units + sign * max(1, round(one.units / CHANGE))
        if units < 1:
            return None
        layers[number] = Layer(one.op, units, one.stride)
    return _built(graph, layers, graph.edges) if numbers else None


def dup_path(graph: Graph, rng: np.random.Generator, labels: Sequence[str] | None = None) -> Graph | None:
    """Duplicate the inner layers of a path u₁ … u_k. A path that ends at the output duplicates a decision layer."""
    roles = [label(one.op).role for one in graph.layers]
    path = [_pick(rng, [number for number, role in enumerate(roles) if role in ("input", "processing")])]
    while graph.children[path[-1]]:
        path.append(_pick(rng, graph.children[path[-1]]))
        if len(path) >= 3 and rng.random() < STOP:
            break
    inner, last = path[1:-1], len(graph.layers)
    if not inner:
        return None
    copies = range(last, last + len(inner))
    edges = [(path[0], copies[0]), *pairwise(copies), (copies[-1], path[-1])]
    return _built(graph, [*graph.layers, *(graph.layers[u] for u in inner)], [*graph.edges, *edges])


def remove_layer(graph: Graph, rng: np.random.Generator, labels: Sequence[str] | None = None) -> Graph | None:
    """Remove one layer.

    A parent (child) left without a child (parent) is joined with one of the layer's children (parents).
    """
    numbers = [number for number, one in enumerate(graph.layers) if label(one.op).role == "processing"]
    gone = _pick(rng, numbers)
    parents, children = graph.parents[gone], graph.children[gone]
    kept = {edge for edge in graph.edges if gone not in edge}
    bridges = {(parent, _pick(rng, children)) for parent in parents if len(graph.children[parent]) == 1}
    joined = {end for _, end in kept | bridges}
    bridges |= {(_pick(rng, parents), child) for child in children if child not in joined}
    layers = list(graph.layers)
    if bridges and layers[gone].stride == 2:
        # Other layers have to halve the image: all children, or all parents, if they can.
        for others in (children, parents):
            if all(layers[u].stride == 1 and 2 in label(layers[u].op).strides for u in others):
                for u in others:
                    layers[u] = Layer(layers[u].op, layers[u].units, 2)
                break
    del layers[gone]
    moved = [(start - (start > gone), end - (end > gone)) for start, end in kept | bridges]
    return _built(graph, layers, moved)


def skip(graph: Graph, rng: np.random.Generator, labels: Sequence[str] | None = None) -> Graph | None:
    """Add an edge between two layers, through average pooling if the image has to shrink."""
    known = set(graph.edges)
    first_decision = len(graph) - 1
    for _ in range(PAIRS):
        start, end = sorted(rng.integers(0, first_decision, size=2).tolist())
        if start == end or (start, end) in known or label(graph.layers[start].op).role == "decision":
            continue
        layers, edges = list(graph.layers), list(graph.edges)
        for _ in range(_halvings_between(graph, start, end)):
            layers.append(Layer("avg-pool"))
            edges.append((start, len(layers) - 1))
            start = len(layers) - 1
        found = _built(graph, layers, [*edges, (start, end)])
        if found is not None:
            return found
    return None


def _halvings_between(graph: Graph, start: int, end: int) -> int:
    if not graph.family.images:
        return 0
    here, there = graph.halvings[start], graph.halvings[graph.parents[end][0]]
    return 0 if here is None or there is None else max(0, there - here)


def swap_label(graph: Graph, rng: np.random.Generator, labels: Sequence[str] | None = None) -> Graph | None:
    """Change the type of one layer: as a rule to one that has units, or not, like the old type; seldom to one of another
    kind, or only its stride."""
    allowed = [label(name) for name in (labels_of(graph.family.name) if labels is None else labels)]
    choices = []
    for number, one in enumerate(graph.layers):
        old = label(one.op)
        if old.role == "processing":
            others = [kind for kind in allowed if kind.name != one.op]
            same = old.units, old.flat, old.strides
            alike = [kind for kind in others if (kind.units, kind.flat, kind.strides) == same]
            unlike = [kind for kind in others if kind not in alike]
            if others or len(old.strides) > 1:
                choices.append((number, alike, unlike))
    if not choices:
        return None
    number, alike, unlike = choices[int(rng.integers(len(choices)))]
    one, layers = graph.layers[number], list(graph.layers)
    halves = len(label(one.op).strides) > 1
    drawn = rng.random() if halves or unlike else 1.0
    if halves and (drawn < HALVE or not (alike or unlike)):
        layers[number] = Layer(one.op, one.units, 3 - one.stride)
        return _built(graph, layers, graph.edges)
    kind = _pick(rng, unlike if unlike and (drawn >= 1.0 - HALVE or not alike) else alike)
    stride = one.stride if one.stride in kind.strides else kind.strides[0]
    # What had no units of its own handed on as many as came in, and keeps handing on as many.
    layers[number] = Layer(kind.name, graph.units[number] if kind.units else None, stride)
    return _built(graph, layers, graph.edges)


def wedge_layer(graph: Graph, rng: np.random.Generator, labels: Sequence[str] | None = None) -> Graph | None:
    """Insert a layer on an edge, with the mean of its neighbours' units."""
    last = len(graph.layers) - 1
    edge = _pick(rng, [edge for edge in graph.edges if edge[1] != last])
    name = _new_label(graph, edge, rng, labels_of(graph.family.name) if labels is None else labels)
    if name is None:
        return None
    kind = label(name)
    units = None
    if kind.units:
        near = [graph.units[u] for u in edge if label(graph.layers[u].op).role == "processing"]
        units = round(sum(near) / len(near)) if near else NEW_UNITS
    stride = 2 if len(kind.strides) > 1 and rng.random() < HALVE else 1
    edges = [other for other in graph.edges if other != edge]
    new = len(graph.layers)
    return _built(graph, [*graph.layers, Layer(name, units, stride)], [*edges, (edge[0], new), (new, edge[1])])


def _new_label(graph: Graph, edge: tuple[int, int], rng: np.random.Generator, allowed: Sequence[str]) -> str | None:
    if not graph.family.images:
        return _pick(rng, allowed) if allowed else None
    start, end = edge
    kinds = [label(name) for name in allowed]
    if graph.halvings[start] is None:  # after the first fully connected layer there is no image
        names = [kind.name for kind in kinds if kind.flat]
    else:
        pooling = rng.random() < HALVE
        to_vector = label(graph.layers[end].op).flat
        names = [kind.name for kind in kinds if (kind.strides == (2,)) == pooling and (to_vector or not kind.flat)]
    return _pick(rng, names) if names else None


UNITS: tuple[Modifier, ...] = (dec_single, dec_en_masse, inc_single, inc_en_masse)
"""Modifiers that change units only."""
STRUCTURE: tuple[Modifier, ...] = (dup_path, remove_layer, skip, swap_label, wedge_layer)
"""Modifiers that change the architecture."""
MODIFIERS = UNITS + STRUCTURE
CHAIN: tuple[Modifier, ...] = (*UNITS, remove_layer, swap_label, wedge_layer)
"""Modifiers that keep a feed-forward network feed-forward."""
KINDS = {"all": MODIFIERS, "units": UNITS, "structure": STRUCTURE, "chain": CHAIN}
"""Sets of modifiers by name."""


def mutate(
    graph: Graph,
    rng: np.random.Generator,
    accept: Callable[[Graph], bool] | None = None,
    *,
    steps: int | None = None,
    modifiers: Sequence[Modifier] = MODIFIERS,
    labels: Sequence[str] | None = None,
) -> Graph:
    """Apply the compound mutation: one to five modifications (or ``steps``), each drawn uniformly from ``modifiers``.

    Networks that ``accept`` rejects are skipped (B.3). A step without success after ``ATTEMPTS`` draws is skipped; in
    the worst case the graph is returned unchanged.
    """
    count = 1 + int(rng.choice(len(STEPS), p=STEPS)) if steps is None else steps
    for _ in range(count):
        for _ in range(ATTEMPTS):
            found = modifiers[int(rng.integers(len(modifiers)))](graph, rng, labels)
            if found is not None and (accept is None or accept(found)):
                graph = found
                break
    return graph


def _pick(rng: np.random.Generator, items: Sequence[T]) -> T:
    return items[int(rng.integers(len(items)))]


def _built(graph: Graph, layers: Iterable[Layer], edges: Iterable[tuple[int, int]]) -> Graph | None:
    try:
        return Graph(layers, edges, graph.inputs, graph.outputs)
    except InvalidGraph:
        return None
