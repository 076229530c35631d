"""The baselines of the papers, each beside its best-known implementation: quality, and the time of a suggestion.

    python -m benchmarks.baselines [--part search|time] [--methods …] [--problems …] [--seeds 10] [--evaluations 60] [--write]

TPE stands beside Optuna's, the random forest beside SMAC3's, CMA-ES beside the package cmaes with one worker. The methods are
described in ``harness/methods.py``. SMAC3 is not among the usual ones: its searches take minutes each on a busy machine. The
table has it by ``--seeds 30 --methods xstar-tpe,optuna-tpe,xstar-forest,smac,…``.
"""

from __future__ import annotations

import math
import statistics
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.methods import LIBRARIES, METHODS, Informed, made, run_search
from benchmarks.harness.peers import Smac
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, mean_and_error, row_of_cells, table
from benchmarks.quality import best
from benchmarks.quality import tasks as searches

PAIRS = {"xstar-tpe": "optuna-tpe", "xstar-forest": "smac", "xstar-cma": "cmaes"}
"""Ours, and the best-known implementation."""
USUAL = ("xstar-tpe", "optuna-tpe", "xstar-forest", "xstar-cma", "cmaes", "xstar-regularised-evolution", "xstar-random")
PROBLEMS = (
    "branin",
    "hartmann6",
    "rosenbrock4",
    "levy6",
    "hpolib-svm",
    "fcnet-naval",
    "fcnet-protein",
    "nb201-cifar100",
)
TIMED = {"10 Floats, 1,000 trials": (10, 1_000, False), "50 parameters, 10,000 trials": (50, 10_000, True)}
"""Parameters, trials, and whether they are of all kinds."""
SLOW = 1_000
"""Above so many trials peers are not timed."""
ASKED = 16
"""Two rounds of SMAC3, which fits its forest for every eighth suggestion."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods", default=",".join(USUAL))
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--evaluations", type=int, default=60)


# ---------------------------------------------------------------- quality


def pair_table(results: Results, count: int) -> Iterator[str]:
    rows, held, all_of_them = [], 0, 0
    for ours, peer in PAIRS.items():
        for problem in results.problems:
            mine, theirs = best(results, problem, ours, count), best(results, problem, peer, count)
            if len(mine) < 2 or len(theirs) < 2:
                continue
            (mean, error), (other, spread) = mean_and_error(mine), mean_and_error(theirs)
            allowed, less = math.hypot(error, spread), mean - other
            all_of_them += 1
            held += less <= allowed
            answer = "better" if less < -allowed else "yes" if less <= allowed else "**no**"
            rows.append((ours, peer, problem, f"{less:+.3g}", f"{allowed:.2g}", answer))
    yield from table(["ours", "peer", "problem", "ours less peer", "one standard error", "within"], rows, left=3)
    yield ""
    yield f"Within one standard error of the peer, or better: {held} of {all_of_them}."


def search_report(results: Results, options: Namespace) -> Iterator[str]:
    whole = options.evaluations
    yield f"Seeds 0 to {options.seeds - 1}, {whole} evaluations each, one trial at a time, one thread."
    for count in (whole // 2, whole):
        yield from ("", f"## Best loss after {count} evaluations", "")
        rows = [(p, *row_of_cells([best(results, p, m, count) for m in results.methods])) for p in results.problems]
        yield from ("Mean ± standard error; the lowest mean is bold.", "", *table(["problem", *results.methods], rows))
        yield from ("", f"## Each beside its best-known implementation, after {count}", "", *pair_table(results, count))


# ---------------------------------------------------------------- time


def timings(options: Namespace) -> list[Task]:
    methods = [m for m in chosen_from(options.methods, METHODS, "--methods") if m in (*PAIRS, *PAIRS.values())]
    return [
        Task.of(0, name, method)
        for name, (_, count, _) in TIMED.items()
        for method in methods
        if METHODS[method].ours or count <= SLOW
    ]


def timed_space(count: int, mixed: bool) -> xs.Space:
    kinds: list[Any] = [xs.Float(0, 1)]
    if mixed:
        kinds += [xs.Float(1e-4, 1, log=True), xs.Int(1, 64), xs.Choice(["a", "b", "c", "d"]), xs.Ordinal([1, 2, 4, 8])]
    return xs.Space({f"p{place}": kinds[place % len(kinds)] for place in range(count)})


def run_timing(task: Task, options: Namespace) -> Found:
    """Milliseconds of the processor for one ask and one tell, after random evaluations were added."""
    width, count, mixed = TIMED[task.problem]
    space, rng = timed_space(width, mixed), np.random.default_rng(0)
    with made(task.method, space, 0, count + ASKED + 1) as optimiser:
        assert isinstance(optimiser, Informed), task.method
        design = optimiser.design if isinstance(optimiser, Smac) else 0  # asked for first, however much it knows
        for _ in range(count - design):
            optimiser.know(space.sample(rng), float(rng.random()))
        for _ in range(design):
            optimiser.tell(optimiser.ask(), float(rng.random()))
        spent = []
        for _ in range(ASKED + 1):
            begun = time.process_time()
            optimiser.tell(optimiser.ask(), float(rng.random()))
            spent.append(1e3 * (time.process_time() - begun))
    first, *rest = spent
    numbers = {"median": statistics.median(rest), "mean": statistics.mean(rest), "first": first}
    return {name: significant(value) for name, value in numbers.items()}


def time_report(results: Results, options: Namespace) -> Iterator[str]:
    yield f"Milliseconds of the processor for one ask and one tell: median and mean of the last {ASKED} of {ASKED + 1}, and the"
    yield "first, which also reads all trials. SMAC3 fits its forest for every eighth suggestion; at 1,000 trials ours is grown"
    yield "anew for every twentieth. The package cmaes cannot be told of trials that it did not ask for."
    rows = [
        (r.task.problem, r.task.method, *(f"{r.found[name]:.3g}" for name in ("median", "mean", "first")))
        for r in results.of()
    ]
    yield from ("", *table(["case", "method", "median", "mean", "first"], rows, left=2))


EXPERIMENT = Experiment(
    name="baselines",
    title="The baselines of the papers, beside other implementations",
    result="baselines.md",
    description=__doc__,
    parts={
        "search": Part("Best losses", searches, run_search, search_report, LIBRARIES),
        "time": Part("Time of a suggestion", timings, run_timing, time_report, LIBRARIES),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
