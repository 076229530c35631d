"""The nine modifiers of Table 6 against plain forms of its sentences, which list every network that one of them may make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from xstar.nets import Graph, InvalidGraph, Layer, modifiers
from xstar.nets.labels import label

IP, OP, LINEAR, SOFTMAX = Layer("ip"), Layer("op"), Layer("linear"), Layer("softmax")
RECTIFIERS = ("relu", "crelu", "leaky-relu", "softplus", "elu")
MLP_LABELS = (*RECTIFIERS, "logistic", "tanh")
CNN_LABELS = ("conv3", "conv5", "conv7", "res3", "res5", "res7", "max-pool", "avg-pool", "fc")
MLP = Graph(
    [IP, Layer("relu", 16), Layer("tanh", 40), Layer("elu", 8), LINEAR, OP],
    [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5)],
)
CNN = Graph(
    [IP, Layer("conv3", 16), Layer("max-pool"), Layer("res5", 24), Layer("fc", 32), SOFTMAX, OP],
    [(place, place + 1) for place in range(6)],
)
BRANCHED = Graph(
    [IP, Layer("conv3", 16), Layer("conv5", 8, 2), Layer("avg-pool"), Layer("res3", 8), SOFTMAX, OP],
    [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (5, 6)],
)
Edges = Iterable[tuple[int, int]]


def valid(layers: Iterable[Layer], edges: Edges) -> Iterator[Graph]:
    try:
        yield Graph(layers, edges)
    except InvalidGraph:
        return


def processing(graph: Graph) -> list[int]:
    return [u for u, one in enumerate(graph.layers) if label(one.op).role == "processing"]


def resized(graph: Graph, chosen: Iterable[int], sign: int) -> Iterator[Graph]:
    """An eighth of the units more or fewer."""
    layers = list(graph.layers)
    for u in chosen:
        units = layers[u].units
        assert units is not None
        layers[u] = Layer(layers[u].op, units + sign * units // 8, layers[u].stride)
    yield from valid(layers, graph.edges)


def with_units(graph: Graph) -> list[int]:
    return [u for u in processing(graph) if graph.layers[u].units is not None]


def single(graph: Graph, sign: int) -> Iterator[Graph]:
    for u in with_units(graph):
        yield from resized(graph, [u], sign)


def en_masse(graph: Graph, sign: int) -> Iterator[Graph]:
    """Half of the layers, in order: these networks have no more than four that have units."""
    sized = with_units(graph)
    count = (len(sized) + 1) // 2
    for begin in range(len(sized) - count + 1):
        yield from resized(graph, sized[begin : begin + count], sign)


def dup_path(graph: Graph) -> Iterator[Graph]:
    """u₁, …, u_k by going from child to child; copies of u₂ … u_{k-1} between u₁ and u_k."""
    children = [[v for u, v in graph.edges if u == start] for start in range(len(graph))]

    def paths(path: list[int]) -> Iterator[list[int]]:
        if len(path) >= 3:
            yield path
        for child in children[path[-1]]:
            yield from paths([*path, child])

    for start in range(len(graph)):
        for path in paths([start]):
            inner = path[1:-1]
            copies = list(range(len(graph), len(graph) + len(inner)))
            way = [path[0], *copies, path[-1]]
            yield from valid([*graph.layers, *(graph.layers[u] for u in inner)], [*graph.edges, *pairwise(way)])


def remove_layer(graph: Graph) -> Iterator[Graph]:
    """Without u. A parent that it was the only child of gets an edge to one of its children, and a child that it was the only
    parent of gets one from one of its parents."""
    for u in processing(graph):
        parents = [v for v, w in graph.edges if w == u]
        children = [w for v, w in graph.edges if v == u]
        kept = [edge for edge in graph.edges if u not in edge]
        childless = [v for v in parents if v not in [start for start, _ in kept]]
        orphans = [w for w in children if w not in [end for _, end in kept]]
        for down in product(children, repeat=len(childless)):
            bridges = set(zip(childless, down, strict=True))
            for up in product(parents, repeat=len(orphans)):
                edges = [*kept, *bridges, *zip(up, orphans, strict=True)]
                left = [v for v in range(len(graph)) if v != u]
                place = {v: number for number, v in enumerate(left)}
                layers = halved_instead(graph, u, children, parents) if childless or orphans else graph.layers
                yield from valid([layers[v] for v in left], {(place[v], place[w]) for v, w in edges})


def halved_instead(graph: Graph, u: int, children: list[int], parents: list[int]) -> Sequence[Layer]:
    """The layers, of which all children of u halve the image in its stead, or else all parents, if they can."""
    if graph.layers[u].stride == 2:
        for others in (children, parents):
            if all(graph.layers[v].op.startswith(("conv", "res")) and graph.layers[v].stride == 1 for v in others):
                return [Layer(one.op, one.units, 2) if v in others else one for v, one in enumerate(graph.layers)]
    return graph.layers


def skip(graph: Graph) -> Iterator[Graph]:
    """(u, v) where u comes before v; between images of two sizes as many average poolings as are missing."""
    for u in range(len(graph)):
        for v in range(u + 1, len(graph)):
            if (u, v) not in graph.edges:
                for pools in range(3):
                    new = list(range(len(graph), len(graph) + pools))
                    edges = [*graph.edges, *pairwise([u, *new, v])]
                    yield from valid([*graph.layers, *[Layer("avg-pool")] * pools], edges)


def swap_label(graph: Graph, labels: Iterable[str]) -> Iterator[Graph]:
    """Another label; with it, a pooling layer gets as many units as come in. Or another stride."""
    for u in processing(graph):
        one = graph.layers[u]
        incoming = sum(graph.units[v] for v, w in graph.edges if w == u)
        for name in labels:
            if name != one.op:
                units = None if name.endswith("pool") else one.units or incoming
                yield from changed(graph, u, Layer(name, units, 1 if name == "fc" else stride_of(name, one.stride)))
        if one.op.startswith(("conv", "res")):
            yield from changed(graph, u, Layer(one.op, one.units, 3 - one.stride))


def stride_of(name: str, stride: int) -> int:
    return 2 if name.endswith("pool") else stride


def changed(graph: Graph, u: int, new: Layer) -> Iterator[Graph]:
    yield from valid([new if v == u else one for v, one in enumerate(graph.layers)], graph.edges)


def wedge_layer(graph: Graph, labels: Iterable[str]) -> Iterator[Graph]:
    """A new layer w on an edge (u, v), with the mean of their units; where one has none, those of the other, or 16."""
    for u, v in graph.edges:
        units = [graph.units[w] for w in (u, v) if w in processing(graph)]
        mean = round(sum(units) / len(units)) if units else 16
        edges = [edge for edge in graph.edges if edge != (u, v)] + [(u, len(graph)), (len(graph), v)]
        for name in labels:
            for stride in (1, 2) if name.startswith(("conv", "res")) else (2 if name.endswith("pool") else 1,):
                yield from valid([*graph.layers, Layer(name, None if "pool" in name else mean, stride)], edges)


def plainly(name: str, graph: Graph) -> set[Graph]:
    """Every network that a row of Table 6 allows."""
    labels = MLP_LABELS if graph is MLP else CNN_LABELS
    plain: dict[str, Any] = {
        "dec_single": lambda: single(graph, -1),
        "inc_single": lambda: single(graph, +1),
        "dec_en_masse": lambda: en_masse(graph, -1),
        "inc_en_masse": lambda: en_masse(graph, +1),
        "dup_path": lambda: dup_path(graph),
        "remove_layer": lambda: remove_layer(graph),
        "skip": lambda: skip(graph),
        "swap_label": lambda: swap_label(graph, labels),
        "wedge_layer": lambda: wedge_layer(graph, labels),
    }
    return set(plain[name]())


@pytest.mark.parametrize("modifier", modifiers.MODIFIERS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("graph", [MLP, CNN, BRANCHED], ids=["mlp", "cnn", "branched"])
def test_a_modifier_makes_what_its_row_of_the_table_allows(modifier: Any, graph: Graph) -> None:
    rng, draws = np.random.default_rng(0), 12_000 if modifier.__name__ in ("swap_label", "wedge_layer") else 1_000
    before = graph.to_json()
    made = {found for _ in range(draws) if (found := modifier(graph, rng, None)) is not None}
    assert made == plainly(modifier.__name__, graph)
    assert graph.to_json() == before
    one, other = (modifier(graph, np.random.default_rng(5), None) for _ in range(2))
    assert one == other, "a pure function"


def test_a_convolution_may_become_pooling_and_back() -> None:
    made = plainly("swap_label", CNN)
    assert any(graph.layers[1] == Layer("max-pool") for graph in made)
    assert any(graph.layers[2] == Layer("conv7", 16, 2) for graph in made)
