"""The nine modifiers of Table 6 and the compound mutation of B.2: small steps from one architecture to another.

A modifier is a pure function of (graph, rng). It gives None where its choice of layers leads to no valid network: the paper
disallows such a change rather than repairing it. Images are the usual reason, as layers that are joined must have the
same size; a skip connection from a larger image to a smaller one gets average pooling in between.

The paper leaves probabilities inside modifiers open. The constants below are those of the authors' published code where
it has one; which modifier is applied is a fair draw of the nine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from xstar.nets.graph import Graph, Layer
from xstar.nets.invalid import InvalidGraph
from xstar.nets.labels import label
from xstar.nets.labels import labels as labels_of

T = TypeVar("T")

if TYPE_CHECKING:
    Modifier = Callable[[Graph, np.random.Generator, Sequence[str] | None], Graph | None]
else:  # naming np.random would load it, which `import xstar` does without
    Modifier = Callable

STEPS = (0.5, 0.25, 0.125, 0.075, 0.05)
"""Probabilities of 1, 2, … modifications in one mutation (B.2)."""
CHANGE = 8
"""Units grow or shrink by an eighth (Table 6)."""
STOP = 0.2
"""Chance that a path to duplicate ends at the next layer. Lower: longer branches."""
HALVE = 0.05
"""Chance that a new layer of a CNN pools, that it has a stride of 2, or that a swap changes a stride. A halving moves
every image size below it, so most of them are refused; higher chances make more attempts fail."""
NEW_UNITS = 16
"""Units of a new layer between two that have none."""
ATTEMPTS = 20
"""Draws of a modifier per step before a mutation stays with what it has."""
PAIRS = 30
"""Draws of two layers before ``skip`` gives up."""


def dec_single(graph: Graph, rng: np.random.Generator, labels: Sequence[str] | None = None) -> Graph | None:
    """One layer with an eighth fewer units."""
    return _resized(graph, _some(graph, rng, single=True), -1)


def inc_single(graph: Graph, rng: np.random.Generator, labels: Sequence[str] | None = None) -> Graph | None:
    """One layer with an eighth more units."""
    return _resized(graph, _some(graph, rng, single=True), +1)


def dec_en_masse(graph: Graph, rng: np.random.Generator, labels: Sequence[str] | None = None) -> Graph | None:
    """Several layers in a row with an eighth fewer units."""
    return _resized(graph, _some(graph, rng, single=False), -1)


def inc_en_masse(graph: Graph, rng: np.random.Generator, labels: Sequence[str] | None = None) -> Graph | None:
    """Several layers in a row with an eighth more units."""
    return _resized(graph, _some(graph, rng, single=False), +1)


def _some(graph: Graph, rng: np.random.Generator, single: bool) -> list[int]:
    """One layer with units, or an eighth of them in topological order (a quarter of up to 8, half of up to 4)."""
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
    """A path u₁ … u_k whose inner layers are there twice. A path that ends at the output doubles a decision layer."""
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
    """One layer less. A parent (child) that had no other child (parent) is joined with one of its children (parents)."""
    numbers = [number for number, one in enumerate(graph.layers) if label(one.op).role == "processing"]
    gone = _pick(rng, numbers)
    parents, children = graph.parents[gone], graph.children[gone]
    kept = {edge for edge in graph.edges if gone not in edge}
    bridges = {(parent, _pick(rng, children)) for parent in parents if len(graph.children[parent]) == 1}
    joined = {end for _, end in kept | bridges}
    bridges |= {(_pick(rng, parents), child) for child in children if child not in joined}
    layers = list(graph.layers)
    if bridges and layers[gone].stride == 2:
        # The image has to be halved by someone else: by all children, or by all parents, if they can.
        for others in (children, parents):
            if all(layers[u].stride == 1 and 2 in label(layers[u].op).strides for u in others):
                for u in others:
                    layers[u] = Layer(layers[u].op, layers[u].units, 2)
                break
    del layers[gone]
    moved = [(start - (start > gone), end - (end > gone)) for start, end in kept | bridges]
    return _built(graph, layers, moved)


def skip(graph: Graph, rng: np.random.Generator, labels: Sequence[str] | None = None) -> Graph | None:
    """A new edge between two layers; through average pooling where the image has to shrink."""
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
    """Another type for one layer: one that has units, or not, like the old one."""
    layers = list(graph.layers)
    allowed = labels_of(graph.family.name) if labels is None else labels
    kinds = [label(name) for name in allowed]
    choices = []
    for number, one in enumerate(layers):
        old = label(one.op)
        if old.role == "processing":
            same = [k.name for k in kinds if (k.units, k.flat, k.strides) == (old.units, old.flat, old.strides)]
            choices.append((number, [name for name in same if name != one.op]))
    choices = [choice for choice in choices if choice[1] or len(label(layers[choice[0]].op).strides) > 1]
    if not choices:
        return None
    number, names = choices[int(rng.integers(len(choices)))]
    one = layers[number]
    if len(label(one.op).strides) > 1 and (not names or rng.random() < HALVE):
        layers[number] = Layer(one.op, one.units, 3 - one.stride)
    else:
        layers[number] = Layer(_pick(rng, names), one.units, one.stride)
    return _built(graph, layers, graph.edges)


def wedge_layer(graph: Graph, rng: np.random.Generator, labels: Sequence[str] | None = None) -> Graph | None:
    """A new layer on an edge, with the mean of its neighbours' units."""
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
    if graph.halvings[start] is None:  # behind the first fully connected layer there is no image any more
        names = [kind.name for kind in kinds if kind.flat]
    else:
        pooling = bool(start) and rng.random() < HALVE
        to_vector = label(graph.layers[end].op).flat
        names = [kind.name for kind in kinds if (kind.strides == (2,)) == pooling and (to_vector or not kind.flat)]
    return _pick(rng, names) if names else None


UNITS: tuple[Modifier, ...] = (dec_single, dec_en_masse, inc_single, inc_en_masse)
"""Those that change units only."""
STRUCTURE: tuple[Modifier, ...] = (dup_path, remove_layer, skip, swap_label, wedge_layer)
"""Those that change the architecture."""
MODIFIERS = UNITS + STRUCTURE


def mutate(
    graph: Graph,
    rng: np.random.Generator,
    accept: Callable[[Graph], bool] | None = None,
    *,
    steps: int | None = None,
    modifiers: Sequence[Modifier] = MODIFIERS,
    labels: Sequence[str] | None = None,
) -> Graph:
    """The compound mutation: one to five modifications (or ``steps``), each a fair draw of ``modifiers``.

    Networks that ``accept`` refuses are skipped (B.3). A step that finds no way after ``ATTEMPTS`` draws is left out;
    in the worst case the graph comes back as it is.
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
