"""Random networks of a given size, and OTMANN's distance the plain way: one call of ``ot.emd2`` per pair and ν_str."""

from __future__ import annotations

import numpy as np
import ot

from xstar.nets import Graph, Layer, labels as label_costs
from xstar.nets.measures import path_lengths

LARGE = 1e6  # stands for ∞ in the plain way


def random_mlp(rng: np.random.Generator, size: int) -> Graph:
    """``size`` layers; each takes one to three earlier ones in."""
    names = ["relu", "crelu", "leaky-relu", "softplus", "elu", "logistic", "tanh"]
    inner = size - 3
    layers, edges = [Layer("ip")], []
    for number in range(1, inner + 1):
        layers.append(Layer(str(rng.choice(names)), int(2 ** rng.integers(3, 9))))
        edges += [(int(u), number) for u in rng.choice(number, min(number, int(rng.integers(1, 4))), replace=False)]
    used = {start for start, _ in edges}
    edges += [(number, inner + 1) for number in range(1, inner + 1) if number not in used]
    return Graph([*layers, Layer("linear"), Layer("op")], [*edges, (inner + 1, inner + 2)])


def random_cnn(rng: np.random.Generator, size: int) -> Graph:
    """``size`` layers: convolutions with short skips, a pooling layer now and then, two fully connected ones at the end."""
    names = ["conv3", "conv5", "conv7", "res3", "res5", "res7"]
    layers, edges, stage = [Layer("ip")], [], [0]
    while len(layers) < size - 4:
        number = len(layers)
        pool = len(stage) > 2 and rng.random() < 0.25
        layers.append(
            Layer(str(rng.choice(["max-pool", "avg-pool"])))
            if pool
            else Layer(str(rng.choice(names)), int(2 ** rng.integers(3, 9)))
        )
        taken = {stage[-1]} if pool else {stage[-1], stage[int(rng.integers(len(stage)))]}
        edges += [(u, number) for u in sorted(taken)]
        stage = [number] if pool else [*stage, number]
    tail = len(layers)
    layers += [Layer("fc", 128), Layer("fc", 64), Layer("softmax"), Layer("op")]
    return Graph(layers, [*edges, *((number - 1, number) for number in range(tail, tail + 4))])


class Plain:
    """What one writes first."""

    def __init__(self, graphs: list[Graph]) -> None:
        self.masses = [np.array(one.masses) for one in graphs]
        self.lengths = [path_lengths(one) for one in graphs]
        self.labels = [np.array([label_costs.number(layer.op) for layer in one.layers]) for one in graphs]
        table = label_costs.costs()
        self.mismatch = np.where(table >= label_costs.FORBID, LARGE, table)

    def distance(self, i: int, j: int, nu: float) -> float:
        position = np.abs(self.lengths[i][:, None] - self.lengths[j][None]).mean(axis=2)
        cost = np.ones((len(self.masses[i]) + 1, len(self.masses[j]) + 1))
        cost[:-1, :-1] = self.mismatch[np.ix_(self.labels[i], self.labels[j])] + nu * position
        cost[-1, -1] = 0.0
        supply = np.append(self.masses[i], self.masses[j].sum())
        demand = np.append(self.masses[j], self.masses[i].sum())
        return float(ot.emd2(supply, demand, cost))
