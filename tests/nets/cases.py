"""Random networks that owe nothing to the library's own modifiers, and plain forms of what the library does quickly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from xstar.nets import Graph, Layer

RECTIFIERS = ["relu", "crelu", "leaky-relu", "softplus", "elu"]
SIGMOIDS = ["logistic", "tanh"]
CONVOLUTIONS = ["conv3", "conv5", "conv7", "res3", "res5", "res7"]
POOLS = ["max-pool", "avg-pool"]
UNITS = [8, 16, 32, 64, 128, 256]


def chain(*layers: Layer, **options: Any) -> Graph:
    """Layers one after the other."""
    return Graph(layers, [(number, number + 1) for number in range(len(layers) - 1)], **options)


def random_mlp(rng: np.random.Generator, size: int) -> Graph:
    """An MLP of ``size`` layers; each takes one to three earlier ones in."""
    layers, edges = [Layer("ip")], []
    inner = size - 3
    for number in range(1, inner + 1):
        layers.append(Layer(str(rng.choice(RECTIFIERS + SIGMOIDS)), int(rng.choice(UNITS))))
        count = min(number, int(rng.integers(1, 4)))
        edges += [(int(u), number) for u in rng.choice(number, count, replace=False)]
    with_child = {start for start, _ in edges}
    edges += [(number, inner + 1) for number in range(1, inner + 1) if number not in with_child]
    edges.append((inner + 1, inner + 2))
    return Graph([*layers, Layer("linear"), Layer("op")], edges)


def random_cnn(rng: np.random.Generator, size: int, image: int = 32) -> Graph:
    """A CNN of ``size`` layers: stages of convolutions with branches, halvings between them, one or two heads."""
    heads = 1 if size < 9 else int(rng.integers(1, 3))
    layers, edges = [Layer("ip")], []
    stage, halvings = [0], 0
    open_ends: set[int] = set()
    while len(layers) < size - 1 - 2 * heads:
        number = len(layers)
        most = image.bit_length() - 1
        if number > 1 and halvings < most and rng.random() < 0.2:
            # A halving closes the stage: it takes in everything that nothing else has taken in.
            pool = rng.random() < 0.7
            layers.append(
                Layer(str(rng.choice(POOLS)))
                if pool
                else Layer(str(rng.choice(CONVOLUTIONS)), int(rng.choice(UNITS)), stride=2)
            )
            edges += [(u, number) for u in sorted(open_ends)]
            stage, halvings, open_ends = [number], halvings + 1, {number}
            continue
        layers.append(Layer(str(rng.choice(CONVOLUTIONS)), int(rng.choice(UNITS))))
        count = min(len(stage), int(rng.integers(1, 3)))
        taken = {stage[-1]} | {int(u) for u in rng.choice(stage, count, replace=False)}
        edges += [(u, number) for u in sorted(taken)]
        open_ends = (open_ends - taken) | {number}
        stage.append(number)
    for _ in range(heads):
        number = len(layers)
        layers += [Layer("fc", int(rng.choice(UNITS))), Layer("softmax")]
        edges += [(u, number) for u in sorted(open_ends - {0})] + [(number, number + 1)]
    last = len(layers)
    edges += [(number, last) for number, one in enumerate(layers) if one.op == "softmax"]
    return Graph([*layers, Layer("op")], edges)


def renumbered(graph: Graph, rng: np.random.Generator) -> Graph:
    """The same network with its layers in any order."""
    order = rng.permutation(len(graph))  # new → old
    place = np.argsort(order)
    return Graph(
        [graph.layers[old] for old in order],
        [(int(place[start]), int(place[end])) for start, end in graph.edges],
        graph.inputs,
        graph.outputs,
    )


def random_graphs(seed: int, count: int, sizes: Iterable[int]) -> list[Graph]:
    """MLPs and CNNs in turn."""
    rng = np.random.default_rng(seed)
    choice = list(sizes)
    return [(random_mlp, random_cnn)[number % 2](rng, int(rng.choice(choice))) for number in range(count)]
