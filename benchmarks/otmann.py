"""OTMANN: pairs of networks per second, beside the plain way in the same run, and a kernel matrix of many networks.

    python -m benchmarks.otmann [--rounds 5] [--networks 40] [--matrix 1000] [--write]

The *plain way* is one call of ``ot.emd2`` per pair and ν_str, with the costs built in NumPy from masses, labels and path
lengths that were computed once per network. Both ways compute the four ν_str of the paper's kernel for all pairs of the same
random networks, MLPs and CNNs in equal numbers, and have to agree to nine digits. Rounds alternate between the two. The time is
that of the processor on one thread, since the machine may be shared; medians over the rounds are reported.

The matrix is made twice, of networks sampled from ``nets.CNN(32)`` and from ``nets.MLP(64, 10)``; its time is on the wall, with
as many threads as there are processors, and the processors' time is given beside it.
"""

from __future__ import annotations

import os
import statistics
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.experiment import Experiment, Part, main
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, ratio, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads.plain_otmann import Plain, random_cnn, random_mlp
from xstar.nets import CNN, MLP, STRUCTURE, distances

SIZES = (10, 20, 40, 60)
GOALS = {10: "8×", 20: "4×", 40: "2×"}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--networks", type=int, default=40, help="networks of each kind and size")
    parser.add_argument("--matrix", type=int, default=1000, help="networks of the kernel matrix; 0: none")


def tasks(options: Namespace) -> list[Task]:
    wanted = [Task.of(0, "pairs", "both", layers=n, networks=options.networks, rounds=options.rounds) for n in SIZES]
    return wanted + ([Task.of(0, "matrix", "otmann", networks=options.matrix)] if options.matrix else [])


def run(task: Task, options: Namespace) -> Found:
    load = significant(os.getloadavg()[0])
    if task.problem == "matrix":
        return {**matrix(task["networks"]), "load": load}
    return {**pairs(task["layers"], task["networks"], task["rounds"]), "load": load}


def pairs(size: int, networks: int, rounds: int) -> Found:
    """Pairs per second of both ways, medians over the rounds."""
    rng = np.random.default_rng(size)
    groups = [[make(rng, size) for _ in range(networks)] for make in (random_mlp, random_cnn)]
    plain = [Plain(group) for group in groups]
    indices = [(i, j) for i in range(networks) for j in range(i)]

    def ours() -> list[NDArray[np.float64]]:
        return [distances(group, threads=1) for group in groups]

    def theirs() -> list[list[list[float]]]:
        return [[[one.distance(i, j, nu) for nu in STRUCTURE] for i, j in indices] for one in plain]

    for found, wanted in zip(ours(), theirs(), strict=True):
        np.testing.assert_allclose([found[i, j] for i, j in indices], wanted, rtol=1e-9)
    times = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    fast, slow = (2 * len(indices) / statistics.median(column) for column in zip(*times, strict=True))
    return {"xstar": significant(fast), "plain": significant(slow)}


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def matrix(networks: int) -> Found:
    """The slower of the two domains."""
    rng = np.random.default_rng(0)
    wall, processor, layers = 0.0, 0.0, []
    for domain in (CNN(32), MLP(64, 10)):
        group = [domain.sample(rng) for _ in range(networks)]
        layers += [len(one) for one in group]
        start, used = time.perf_counter(), time.process_time()
        distances(group)
        wall, processor = max(wall, time.perf_counter() - start), max(processor, time.process_time() - used)
    return {
        "layers": significant(float(np.mean(layers))),
        "wall": significant(wall),
        "processor": significant(processor),
    }


def report(results: Results, options: Namespace) -> Iterator[str]:
    rows = [
        (
            str(record.task["layers"]),
            f"{record.found['plain']:,.0f}",
            f"{record.found['xstar']:,.0f}",
            ratio(record.found["xstar"], record.found["plain"]),
            GOALS.get(record.task["layers"], "–"),
            f"{record.found['load']:.1f}",
        )
        for record in results.of("pairs")
    ]
    heads = ["layers", "plain, pairs/s", "xstar, pairs/s", "faster", "goal", "load of the machine"]
    yield f"All pairs of {options.networks} random MLPs and of as many CNNs of each size, four values of ν_str per pair:"
    yield from ("", *table(heads, rows, left=0), "")
    for record in results.of("matrix"):
        found, count = record.found, record.task["networks"]
        yield f"Kernel matrix of {count:,} networks of {found['layers']:.1f} layers on average, 4 values of ν_str:"
        yield f"{found['wall']:.3g} s on the wall, {found['processor']:.3g} s of processor time, the slower of a CNN and an MLP"
        yield "domain."


EXPERIMENT = Experiment(
    name="otmann",
    title="OTMANN: pairs per second",
    result="otmann.md",
    description=__doc__,
    parts={"pairs": Part("Pairs", tasks, run, report, Libraries(also=("POT",)))},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
