"""Schedulers compared in simulated time: random search, synchronous and asynchronous halving, stopping and promotion.

    python -m benchmarks.multifidelity [--part schedulers|signs] [--all] [--seeds 10] [--workers 8] [--trainings 20] [--write]

On surrogates of LCBench (four tasks; with ``--all`` twelve) and on NAS-Bench-201 with its three data sets. All methods draw
configurations at random; they differ in how long each one trains. ``harness/simulated.py`` says what time and regret are.

The part ``signs`` says how much the lowest rungs tell of the end, over configurations drawn at random.

For a table y★ is its optimum. For a surrogate y★ is the lowest loss that any method reported in any run, as in the paper: its
true minimum lies in a corner of the space where no network was ever trained.
"""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

import numpy as np
from scipy.stats import spearmanr

from benchmarks.harness.experiment import Experiment, Part, main
from benchmarks.harness.problems import LCBENCH, LCBENCH_FOUR, NB201, at_hand
from benchmarks.harness.records import Found, Task
from benchmarks.harness.report import Results, mean_and_error, ranks, row_of_cells, table
from benchmarks.harness.run import Libraries
from benchmarks.harness.simulated import run_simulated
from xstar import problems
from xstar.core.randomness import Streams
from xstar.simulation import regret_at, rungs_of

METHODS = ("random", "successive-halving", "hyperband", "asha-stop", "asha", "async-hyperband")
SHARES = {"1/8": 0.125, "1/4": 0.25, "1/2": 0.5, "all": 1.0}
"""Parts of the time after which regrets are compared."""
# Asynchronous or not, with one bracket and with all; stopping or promotion. The first two pairs differ in the lowest rung as
# well: one epoch for the synchronous, 1/27 of the budget for ASHA.
PAIRS = (
    ("asha", "successive-halving"),
    ("async-hyperband", "hyperband"),
    ("asha-stop", "asha"),
    ("asha", "async-hyperband"),
    ("asha", "random"),
    ("hyperband", "random"),
)
SIGNS, DRAWN = "signs", 600

Regrets = dict[tuple[str, str], list[list[float]]]
"""(problem, method) → one list per share of the time, with a regret per seed."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="all twelve tasks of LCBench")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument(
        "--trainings", type=int, default=20, help="full trainings per worker that the time is enough for"
    )


def tasks(options: Namespace) -> list[Task]:
    names = at_hand([*(LCBENCH if options.all else LCBENCH_FOUR), *NB201])
    return [
        Task.of(seed, name, method, workers=options.workers, trainings=options.trainings)
        for seed in range(options.seeds)
        for name in names
        for method in METHODS
    ]


def run(task: Task, options: Namespace) -> Found:
    return {**run_simulated(task, task.method), "optimum": problems.get(task.problem).optimum}


def sign_tasks(options: Namespace) -> list[Task]:
    names = at_hand([*(LCBENCH if options.all else LCBENCH_FOUR), "electricity", "klein-cnn", *NB201])
    return [Task.of(0, name, SIGNS, drawn=DRAWN) for name in names]


def run_signs(task: Task, options: Namespace) -> Found:
    """How much the lowest rungs say about the last one, over configurations drawn at random."""
    problem, rng = problems.get(task.problem), Streams(0).generator(1, "benchmark")
    losses = np.array([problem.curve(problem.space.sample(rng), seed).losses for seed in range(DRAWN)])
    best = np.argsort(losses[:, -1])[: DRAWN // 20]
    signs = []
    for budget in rungs_of(problem.budgets, 3)[:-1]:
        early = losses[:, problem.budgets.index(budget)]
        correlation = float(spearmanr(early, losses[:, -1]).statistic)
        kept = float(np.isin(best, np.argsort(early)[: DRAWN // 3]).mean())
        signs.append({"budget": budget, "correlation": correlation, "kept": kept})
    return {"signs": signs, "full": problem.budgets[-1]}


def signs_report(results: Results, options: Namespace) -> Iterator[str]:
    yield f"Rank correlation of the losses at a rung with those at the end, over {DRAWN} random configurations, and how many of"
    yield from ("the final best 5 % are among the best third there: those that successive halving would keep.", "")
    rows = [
        (
            record.task.problem,
            f"{sign['budget']} of {record.found['full']}",
            f"{sign['correlation']:.2f}",
            f"{sign['kept']:.0%}",
        )
        for record in results.records
        for sign in record.found["signs"]
    ]
    yield from table(["problem", "epochs", "correlation", "of the best 5 % kept"], rows)


def optimum_of(results: Results, name: str) -> float:
    found = [record.found for record in results.of(name)]
    if name.startswith("lcbench-"):
        return min(each["best"][-1][1] for each in found)
    return found[0]["optimum"]


def regrets(results: Results) -> Regrets:
    found: Regrets = {}
    for name in results.problems:
        optimum = optimum_of(results, name)
        for method in METHODS:
            rows = []
            for record in results.of(name, method):
                times = [share * record.found["seconds"] for share in SHARES.values()]
                rows.append(regret_at(record.found["best"], optimum, times))
            found[name, method] = [list(column) for column in zip(*rows, strict=True)]
    return found


def rank_table(found: Regrets, names: list[str]) -> Iterator[str]:
    """Mean rank over problems of the mean regret."""
    columns = []
    for place in range(len(SHARES)):
        each = [ranks([mean_and_error(found[name, method][place])[0] for method in METHODS]) for name in names]
        columns.append([statistics.mean(column) for column in zip(*each, strict=True)])
    rows = [(method, *(f"{column[at]:.1f}" for column in columns)) for at, method in enumerate(METHODS)]
    yield from table(["method", *(f"{share} of the time" for share in SHARES)], rows)


def duel(found: Regrets, names: list[str], one: str, other: str) -> str:
    """In how many pairs of problem and seed ``one`` has the lower regret than ``other``, by time."""
    parts = []
    for place, share in enumerate(SHARES):
        pairs = [p for name in names for p in zip(found[name, one][place], found[name, other][place], strict=True)]
        parts.append(f"{sum(a < b for a, b in pairs)}–{sum(a > b for a, b in pairs)} at {share}")
    return f"* {one} against {other}: {', '.join(parts)}"


def by_problem(results: Results, found: Regrets, name: str) -> Iterator[str]:
    cells = zip(
        *(row_of_cells([found[name, m][at] for m in METHODS], "{:.2f} ± {:.2f}") for at in range(4)), strict=True
    )
    rows = []
    for method, row in zip(METHODS, cells, strict=True):
        counts = [statistics.mean(r.found[what] for r in results.of(name, method)) for what in ("trials", "complete")]
        rows.append((method, *row, *(f"{count:.0f}" for count in counts)))
    horizon = results.of(name)[0].found["seconds"] / 3600
    heads = [f"{share * horizon:.3g} h" for share in SHARES.values()]
    yield from (f"### {name}", "", *table(["method", *heads, "trials started", "completed"], rows), "")


def report(results: Results, options: Namespace) -> Iterator[str]:
    complete = [name for name in results.problems if len(results.of(name)) == options.seeds * len(METHODS)]
    if complete != results.problems:
        yield "Some runs are missing: run the command again."
        return
    found, names = regrets(results), results.problems
    spent = sum(record.found["processor"] for record in results.records)
    yield f"Seeds 0 to {options.seeds - 1}, {options.workers} workers, η = 3. The whole time is that of {options.trainings}"
    yield f"full trainings per worker, one after the other. {len(results.records)} runs took {spent:.0f} s of the processor."
    yield ""
    yield "Regret in percentage points of validation error, mean ± standard error over seeds; the lowest mean is bold. On"
    yield "NAS-Bench-201 it is counted from the table's optimum, on LCBench from the lowest loss of all runs."
    yield from ("", "## Mean rank", "", *rank_table(found, names), "", "## Pairs", "")
    yield f"Of {len(names)} problems × {options.seeds} seeds, how many have the lower regret with the one – with the other; the"
    yield from (
        "rest are equal.",
        "",
        *(duel(found, names, *pair) for pair in PAIRS),
        "",
        "## By problem",
        "",
    )
    for name in names:
        yield from by_problem(results, found, name)


SURROGATE = Libraries(also=("onnxruntime",))

EXPERIMENT = Experiment(
    name="multifidelity",
    title="Schedulers in simulated time",
    result="multifidelity.md",
    description=__doc__,
    parts={
        "schedulers": Part("Regrets", tasks, run, report, SURROGATE),
        SIGNS: Part("What the lowest rungs say", sign_tasks, run_signs, signs_report, SURROGATE),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
