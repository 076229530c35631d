"""Schedulers compared in simulated time: random search, synchronous and asynchronous halving, stopping and promotion.

    python -m benchmarks.multifidelity [--all] [--seeds 10] [--workers 8] [--trainings 20] [--processes 2]

On surrogates of LCBench (four tasks; with ``--all`` twelve) and on NAS-Bench-201 with its three data sets. All methods draw
configurations at random; they differ in how long each one trains. The time of a comparison is that of ``--trainings`` full
trainings one after the other on each worker, at the median time of a full training.

The regret is the immediate one of the MOBSTER paper, Section 4: the lowest loss reported by a time, at any budget, less y★.
For a table y★ is its optimum. For a surrogate y★ is the lowest loss that any method reported in any run, as in the paper: its
true minimum lies in a corner of the space where no network was ever trained.

Writes benchmarks/results/multifidelity.md. Set XSTAR_DATA if the tables are not in ../shared/data.
"""

from __future__ import annotations

import argparse
import math
import shlex
import statistics
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from benchmarks.machine import describe_machine
from xstar import problems
from xstar.core.randomness import Streams
from xstar.plots.regret import mean_and_error
from xstar.simulation import improvements, regret_at, rungs_of, simulate
from xstar.trial import State

METHODS = ("random", "successive-halving", "hyperband", "asha-stop", "asha", "async-hyperband")
SHARES = {"1/8": 0.125, "1/4": 0.25, "1/2": 0.5, "all": 1.0}
"""Parts of the time after which regrets are compared."""
# The first three differ in one thing only: asynchronous or not, with one bracket and with all; stopping or promotion.
PAIRS = (
    ("asha", "successive-halving"),
    ("async-hyperband", "hyperband"),
    ("asha-stop", "asha"),
    ("asha", "async-hyperband"),
    ("asha", "random"),
    ("hyperband", "random"),
)
# Four of different sizes and difficulties: 95, 80, 175 and 727 s per training, best errors of 8, 15, 28 and 21 percent.
TASKS = ("lcbench-126025", "lcbench-167168", "lcbench-168330", "lcbench-189866")
TABLES = ("nb201-cifar10", "nb201-cifar100", "nb201-imagenet16")
SAMPLES = 200
DRAWN = 600
RESULT = Path(__file__).parent / "results" / "multifidelity.md"

Key = tuple[str, str]


@dataclass(frozen=True)
class Run:
    """What is kept of one simulated study."""

    problem: str
    method: str
    steps: list[tuple[float, float]]
    started: int
    complete: int


def full_training(name: str) -> float:
    """The median time of a full training, over configurations drawn at random."""
    problem, rng = problems.get(name), Streams(0).generator(0, "benchmark")
    return statistics.median(problem.curve(problem.space.sample(rng), seed).seconds[-1] for seed in range(SAMPLES))


def early_signs(name: str) -> Iterator[str]:
    """How much the lowest rungs say about the last one, over configurations drawn at random."""
    problem, rng = problems.get(name), Streams(0).generator(1, "benchmark")
    losses = np.array([problem.curve(problem.space.sample(rng), seed).losses for seed in range(DRAWN)])
    best = np.argsort(losses[:, -1])[: DRAWN // 20]
    for budget in rungs_of(problem.budgets, 3)[:2]:
        if budget == problem.budgets[-1]:
            return
        early = losses[:, problem.budgets.index(budget)]
        correlation = spearmanr(early, losses[:, -1]).statistic
        kept = np.isin(best, np.argsort(early)[: DRAWN // 3]).mean()
        yield f"| {name} | {budget} of {problem.budgets[-1]} | {correlation:.2f} | {kept:.0%} |"


def run_one(task: tuple[str, str, int], workers: int, horizons: dict[str, float]) -> Run:
    name, method, seed = task
    history = simulate(problems.get(name), method, workers=workers, seconds=horizons[name], seed=seed).history
    return Run(name, method, improvements(history), len(history.trials), history.count(State.COMPLETE))


def optimum_of(name: str, runs: list[Run]) -> float:
    if name.startswith("lcbench-"):
        return min(run.steps[-1][1] for run in runs if run.problem == name)
    return problems.get(name).optimum


def regrets(runs: list[Run], horizons: dict[str, float]) -> dict[Key, list[list[float]]]:
    """For each problem and method: one list per share of the time, with a regret per seed."""
    optima = {name: optimum_of(name, runs) for name in horizons}
    found: dict[Key, list[list[float]]] = {}
    for run in runs:
        times = [share * horizons[run.problem] for share in SHARES.values()]
        columns = found.setdefault((run.problem, run.method), [[] for _ in SHARES])
        for column, regret in zip(columns, regret_at(run.steps, optima[run.problem], times), strict=True):
            column.append(regret)
    return found


# ---------------------------------------------------------------- the report


def tables(found: dict[Key, list[list[float]]], runs: list[Run], horizons: dict[str, float]) -> Iterator[str]:
    for name, horizon in horizons.items():
        heads = [f"{share * horizon / 3600:.3g} h" for share in SHARES.values()]
        yield f"### {name}\n"
        yield f"| method | {' | '.join(heads)} | trials started | completed |"
        yield "|---|" + "---:|" * (len(SHARES) + 2)
        lowest = [
            min(mean_and_error(found[name, method][place])[0] for method in METHODS) for place in range(len(SHARES))
        ]
        for method in METHODS:
            mine = [run for run in runs if (run.problem, run.method) == (name, method)]
            cells = [cell(column, best) for column, best in zip(found[name, method], lowest, strict=True)]
            started = statistics.mean(run.started for run in mine)
            complete = statistics.mean(run.complete for run in mine)
            yield f"| {method} | {' | '.join(cells)} | {started:.0f} | {complete:.0f} |"
        yield ""


def cell(column: list[float], best: float) -> str:
    mean, error = mean_and_error(column)
    if not math.isfinite(mean):
        return "–"
    text = f"{mean:.2f} ± {error:.2f}"
    return f"**{text}**" if mean == best else text


def ranks(found: dict[Key, list[list[float]]], names: list[str]) -> Iterator[str]:
    """Mean rank over problems of the mean regret, 1 is best; equals share their ranks."""
    yield f"| method | {' | '.join(f'{share} of the time' for share in SHARES)} |"
    yield "|---|" + "---:|" * len(SHARES)
    for method in METHODS:
        cells = []
        for place in range(len(SHARES)):
            total = 0.0
            for name in names:
                means = [mean_and_error(found[name, other][place])[0] for other in METHODS]
                mine = mean_and_error(found[name, method][place])[0]
                total += 1 + sum(mean < mine for mean in means) + (sum(mean == mine for mean in means) - 1) / 2
            cells.append(f"{total / len(names):.1f}")
        yield f"| {method} | {' | '.join(cells)} |"


def duel(found: dict[Key, list[list[float]]], names: list[str], one: str, other: str) -> str:
    """In how many (problem, seed) pairs ``one`` has the lower regret than ``other``, by time."""
    parts = []
    for place, share in enumerate(SHARES):
        pairs = [
            pair for name in names for pair in zip(found[name, one][place], found[name, other][place], strict=True)
        ]
        better, worse = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
        parts.append(f"{better}–{worse} at {share}")
    return f"* {one} against {other}: {', '.join(parts)}"


def report(runs: list[Run], horizons: dict[str, float], options: argparse.Namespace, took: float) -> str:
    found, names = regrets(runs, horizons), list(horizons)
    lines = [
        "# Schedulers in simulated time",
        "",
        f"`python -m benchmarks.multifidelity {shlex.join(sys.argv[1:])}`".replace(" `", "`"),
        "",
        describe_machine("onnxruntime").removeprefix("# "),
        "",
        f"Seeds 0 to {options.seeds - 1}, {options.workers} workers, η = 3. The whole time is that of {options.trainings} full "
        f"trainings per worker, one after the other. {len(runs)} runs took {took:.0f} s on {options.processes} processes.",
        "",
        "Regret in percentage points of validation error, mean ± standard error over seeds; the lowest mean is bold. On "
        "NAS-Bench-201 it is counted from the table's optimum, on LCBench from the lowest loss of all runs.",
        "",
        "## Mean rank",
        "",
        *ranks(found, names),
        "",
        "## Pairs",
        "",
        f"Of {len(names)} problems × {options.seeds} seeds, how many have the lower regret with the one – with the other; the "
        "rest are equal.",
        "",
        *(duel(found, names, *pair) for pair in PAIRS),
        "",
        "## What the lowest rungs say",
        "",
        f"Rank correlation of the losses at a rung with those at the end, over {DRAWN} random configurations, and how many of "
        "the final best 5 % are among the best third there: those that successive halving would keep.",
        "",
        "| problem | epochs | correlation | of the best 5 % kept |",
        "|---|---:|---:|---:|",
        *(line for name in names for line in early_signs(name)),
        "",
        "## By problem",
        "",
        *tables(found, runs, horizons),
    ]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="all twelve tasks of LCBench")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument(
        "--trainings", type=int, default=20, help="full trainings per worker that the time is enough for"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--output", type=Path, default=RESULT)
    options = parser.parse_args()
    tasks = (
        [name for name in problems.names() if name.startswith("lcbench-") and "table" not in name]
        if options.all
        else TASKS
    )
    horizons = {name: options.trainings * full_training(name) for name in (*tasks, *TABLES)}
    wanted = [(name, method, seed) for name in horizons for method in METHODS for seed in range(options.seeds)]
    begun = time.perf_counter()
    runs: list[Run] = []
    with ProcessPoolExecutor(options.processes) as pool:
        for run in pool.map(partial(run_one, workers=options.workers, horizons=horizons), wanted):
            runs.append(run)
            print(f"\r{len(runs)} of {len(wanted)} runs", end="", file=sys.stderr)
    print(file=sys.stderr)
    text = report(runs, horizons, options, time.perf_counter() - begun)
    options.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
