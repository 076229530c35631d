"""OTMANN: pairs of networks per second, beside the plain way in the same run, and a kernel matrix of many networks.

    python -m benchmarks.otmann [--rounds 5] [--networks 40] [--matrix 1000]

The *plain way* is one call of ``ot.emd2`` per pair and ν_str, with the costs built in NumPy from masses, labels and path
lengths that were computed once per network. Both ways compute the four ν_str of the paper's kernel for all pairs of the same
random networks, MLPs and CNNs in equal numbers, and have to agree to nine digits. Rounds alternate between the two. The time is
that of the processor on one thread, since the machine may be shared; medians over the rounds are reported.

The matrix is made twice, of networks sampled from ``nets.CNN(32)`` and from ``nets.MLP(64, 10)``; its time is on the wall, with
as many threads as there are processors, and the processors' time is given beside it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

import numpy as np
import ot
from numpy.typing import NDArray

from benchmarks.machine import describe_machine
from xstar.nets import CNN, MLP, STRUCTURE, Graph, Layer, distances
from xstar.nets import labels as label_costs
from xstar.nets.measures import path_lengths

SIZES = (10, 20, 40, 60)
GOALS = {10: 8.0, 20: 4.0, 40: 2.0}
LARGE = 1e6  # stands for ∞ in the plain way

Array = NDArray[np.float64]


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


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def compare(size: int, networks: int, rounds: int) -> str:
    rng = np.random.default_rng(size)
    groups = [[make(rng, size) for _ in range(networks)] for make in (random_mlp, random_cnn)]
    plain = [Plain(group) for group in groups]
    pairs = [(i, j) for i in range(networks) for j in range(i)]

    def ours() -> list[Array]:
        return [distances(group, threads=1) for group in groups]

    def theirs() -> list[list[list[float]]]:
        return [[[one.distance(i, j, nu) for nu in STRUCTURE] for i, j in pairs] for one in plain]

    for found, wanted in zip(ours(), theirs(), strict=True):
        np.testing.assert_allclose([found[i, j] for i, j in pairs], wanted, rtol=1e-9)
    times = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    count = 2 * len(pairs)
    fast, slow = (count / statistics.median(column) for column in zip(*times, strict=True))
    goal = f"{GOALS[size]:.0f}×" if size in GOALS else "–"
    return f"| {size} | {slow:,.0f} | {fast:,.0f} | {fast / slow:.1f}× | {goal} |"


def matrix(networks: int) -> str:
    rng = np.random.default_rng(0)
    wall, cpu, sizes = 0.0, 0.0, []
    for domain in (CNN(32), MLP(64, 10)):
        group = [domain.sample(rng) for _ in range(networks)]
        sizes += [len(one) for one in group]
        start, used = time.perf_counter(), time.process_time()
        distances(group)
        wall, cpu = max(wall, time.perf_counter() - start), max(cpu, time.process_time() - used)
    return (
        f"Kernel matrix of {networks:,} networks of {np.mean(sizes):.1f} layers on average, 4 values of ν_str: {wall:.0f} s "
        f"on the wall, {cpu:.0f} s of processor time, the slower of a CNN and an MLP domain."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--networks", type=int, default=40, help="networks of each kind and size")
    parser.add_argument("--matrix", type=int, default=1000, help="networks of the kernel matrix; 0: none")
    options = parser.parse_args()
    print(describe_machine("POT"))
    print(f"# load before the start: {os.getloadavg()[0]:.1f}")
    print("| layers | plain, pairs/s | xstar, pairs/s | faster | goal |\n|---:|---:|---:|---:|---:|")
    for size in SIZES:
        print(compare(size, options.networks, options.rounds), flush=True)
    if options.matrix:
        print(matrix(options.matrix))


if __name__ == "__main__":
    main()
