"""How fast the GP decides, beside Optuna's and BoTorch's.

    python -m benchmarks.speed [--methods …] [--sizes 25,50,100,200] [--seeds 10] [--write]

All are handed the same n evaluations of Hartmann's function (d = 6) or Levy's (d = 20), at random places, and asked for the
next ones, each told its value. The first suggestion is not counted: it makes up for what a search would have done before. xstar
fits hyperparameters when the observations have grown by a tenth, so its time is the mean of n / 4 suggestions (at most 64); the
peers fit every time, and the mean is of three. Told is processor time on one thread: that of one ask and the tell that follows.
"""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks import tables as problems
from benchmarks.harness.experiment import Experiment, Part, chosen_from, main, numbers
from benchmarks.harness.methods import LIBRARIES, METHODS, Informed, decide, made
from benchmarks.harness.problems import levy20
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, ratio, table

OURS = "xstar-gp"
WARM_UP = 25
"""More observations than any initial design has, so that a model is used, and what it needs is imported."""
MOST = 64
"""Suggestions of ours that are timed."""


FUNCTIONS: dict[str, tuple[int, Callable[[], problems.Problem]]] = {
    "hartmann6": (6, partial(problems.get, "hartmann6")),
    "levy20": (20, levy20),
}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--methods")
    parser.add_argument("--problems")
    parser.add_argument("--sizes")


def tasks(options: Namespace) -> list[Task]:
    return [
        Task.of(seed, problem, method, n=n)
        for problem in chosen_from(options.problems, FUNCTIONS, "--problems")
        for n in numbers(options.sizes)
        for method in chosen_from(options.methods, METHODS, "--methods")
        for seed in range(options.seeds)
    ]


def run(task: Task, options: Namespace) -> Found:
    """Milliseconds per suggestion, after n evaluations. A few decisions come first, on a study of its own: imports."""
    problem, n = FUNCTIONS[task.problem][1](), task["n"]
    milliseconds(problem, task.method, WARM_UP, 0, 1)
    count = min(n // 4, MOST) if METHODS[task.method].ours else 3
    return {"milliseconds": significant(milliseconds(problem, task.method, n, task.seed, count))}


def milliseconds(problem: problems.Problem, method: str, n: int, seed: int, count: int) -> float:
    rng = np.random.default_rng(seed)
    with made(method, problem.space, seed, 10**6) as optimiser:
        if not isinstance(optimiser, Informed):
            raise SystemExit(f"{method} takes no evaluations made elsewhere; leave it out of --methods")
        for _ in range(n):
            config = problem.space.sample(rng)
            optimiser.know(config, problem.loss(config))
        decide(optimiser, problem)
        return 1e3 * statistics.mean(decide(optimiser, problem).processor for _ in range(count))


def report(results: Results, options: Namespace) -> Iterator[str]:
    ours = [method for method in results.methods if METHODS[method].ours]
    peers = [method for method in results.methods if method not in ours]
    rows = []
    for problem in results.problems:
        for n in numbers(options.sizes):
            found = {m: [r.found["milliseconds"] for r in results.of(problem, m, n=n)] for m in results.methods}
            mean = {method: statistics.mean(each) for method, each in found.items() if each}
            cells = [f"{mean[method]:.3g} ms" if method in mean else "–" for method in (*ours, *peers)]
            cells += [ratio(mean[peer], mean[ours[0]]) if {peer, ours[0]} <= set(mean) else "–" for peer in peers]
            rows.append((str(FUNCTIONS[problem][0]), str(n), *cells))
    yield "Milliseconds of the processor per suggestion, means over seeds, and how often ours fits into a peer's:"
    heads = [*ours, *peers, *(f"{peer} over {ours[0]}" for peer in peers)]
    yield from ("", *table(["d", "n", *heads], rows, left=0))


EXPERIMENT = Experiment(
    name="speed",
    title="The time of a suggestion",
    result="speed.md",
    description=__doc__,
    parts={
        "gp": Part(
            "The GP",
            *(tasks, run, report, LIBRARIES),
            defaults={
                "problems": "hartmann6,levy20",
                "sizes": "25,50,100,200",
                "methods": f"{OURS},optuna-gp,botorch",
                "seeds": 10,
            },
            timed=True,
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
