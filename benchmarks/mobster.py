"""MOBSTER against ASHA in simulated time: how much sooner it reaches the regret that ASHA ends with.

    python -m benchmarks.mobster [--part time|figure3|figure5] [--problems …] [--workers 2,4,8,16] [--seeds 5] [--trainings 6]
                                 [--kernels] [--large] [--write]

On the surrogates of all LCBench tasks, Klein's CNN curves and NAS-Bench-201; ``harness/simulated.py`` says what time and regret
are. y★ is the lowest loss that any method reported in any run on the problem. The figure of a problem is

    (time at which MOBSTER's mean regret is first at most ASHA's final mean regret) / (time at which ASHA's is)

and of all problems the geometric mean; where MOBSTER never gets there, the whole time is taken. With ``--kernels``, the paper's
Figure 4: the final mean regret of every surrogate and both variants, on four workers. With ``--large``, ASHA, MOBSTER and DNGO
under ASHA where there are many trials: on 64 workers, for three trainings each. The report shows all that is on record.

The part ``figure3`` is the paper's Figure 3 as a table: successive halving from one epoch on and all brackets of Hyperband,
by promotion and by stopping, with configurations at random and from the model; and how often each is ahead of its counterpart.

The part ``figure5`` is the paper's Figure 5 as a table: the mean regret of all methods that MOBSTER is compared with, by their
names in the paper, after a third of the time and at its end.
"""

from __future__ import annotations

import math
import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

import numpy as np

from benchmarks.harness.experiment import Experiment, Part, main, names, numbers
from benchmarks.harness.machine import describe
from benchmarks.harness.problems import LCBENCH, LCBENCH_FOUR, NB201, available
from benchmarks.harness.records import Found, Record, Task, best_after
from benchmarks.harness.report import Results, cell, ranks, table
from benchmarks.harness.run import Libraries
from benchmarks.harness.simulated import regret_curve, run_simulated, share_of_time
from xstar.problems import get
from xstar.schedulers import ASHA, Scheduler, StoppingASHA
from xstar.searchers import DNGO, GP, Random, Searcher

SURROGATES = ("matern-warped", "matern", "decay", "decay-0", "decay-1")
LARGE = ("lcbench-167168", "lcbench-167201", "lcbench-189909", "nb201-cifar100")
CROWD, SHORTER = 64, 3.0
"""Workers and trainings of ``--large``."""
VARIANTS = {"promotion": "", "stopping": "-stop"}
GRID = 2000
FIGURE5 = ("a-rs", "s-hb", "s-bohb", "a-bo", "asha", "ts", "boca", "mobster")
"""The methods of the paper's Figure 5; ``ts`` is its Dragonfly, ``boca`` its Dragonfly-MF."""
FIGURE3 = tuple(
    f"{kind}{brackets}{variant}"
    for kind in ("asha", "mobster")
    for brackets in ("", "-hyperband")
    for variant in VARIANTS.values()
)
"""Random or from the model × one bracket or all × promotion or stopping."""
DUELS = {
    "promotion against stopping": [(name, f"{name}-stop") for name in FIGURE3 if not name.endswith("-stop")],
    "r_min = 1 against Hyperband": [
        (name, name.replace("-stop", "") + "-hyperband" + "-stop" * name.endswith("-stop"))
        for name in FIGURE3
        if "hyperband" not in name
    ],
    "model against random": [(name, name.replace("mobster", "asha")) for name in FIGURE3 if name.startswith("mobster")],
}
SHARES = (1 / 3, 1.0)


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--problems")
    parser.add_argument("--workers")
    parser.add_argument("--variants", default="promotion,stopping")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--trainings", type=float)
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--large", action="store_true")


def task_of(seed: int, workers: int, problem: str, method: str, trainings: float) -> Task:
    """``method`` is ``asha`` or ``asha-stop``; ``mobster`` or ``mobster-stop``, with ``:surrogate`` and ``@rule`` if not the
    default; ``dngo``: that searcher under ASHA."""
    return Task.of(seed, problem, method, workers=workers, trainings=float(trainings))


def tasks(options: Namespace) -> list[Task]:
    seeds, variants = range(options.seeds), [VARIANTS[name] for name in names(options.variants)]
    if options.large:
        methods = ("asha", "mobster", "dngo")
        return [task_of(s, CROWD, name, method, SHORTER) for s in seeds for name in LARGE for method in methods]
    problems, usual = available(options.problems), [family + v for family in ("asha", "mobster") for v in variants]
    others = [f"mobster{variant}:{surrogate}" for variant in variants for surrogate in SURROGATES[1:]]
    others += [f"mobster{variant}:decay@reached" for variant in variants]
    wanted = [(count, usual) for count in numbers(options.workers)] + ([(4, others)] if options.kernels else [])
    return [
        task_of(s, count, name, method, options.trainings)
        for s in seeds
        for count, methods in wanted
        for name in problems
        for method in methods
    ]


def searcher_of(method: str) -> Searcher:
    rest, _, rule = method.partition("@")
    name, _, surrogate = rest.partition(":")
    if name.startswith("asha"):
        return Random()
    if name == "dngo":
        return DNGO()
    return GP(**({"surrogate": surrogate} if surrogate else {}), **({"acquire_at": rule} if rule else {}))


def run(task: Task, options: Namespace) -> Found:
    return run_simulated(task, "asha-stop" if "-stop" in task.method else "asha", searcher_of(task.method))


# ---------------------------------------------------------------- the report


def headline(
    results: Results, problems: list[str], columns: list[tuple[str, int]], options: Namespace
) -> Iterator[str]:
    ratios: dict[tuple[str, int], list[float]] = {column: [] for column in columns}
    rows = []
    for name in problems:
        losses = [record.found["best"][-1][1] for task, record in results.all.items() if task.problem == name]
        row = [name]
        for variant, count in columns:
            both = [
                [
                    results.found(task_of(s, count, name, f"{m}{variant}", options.trainings))
                    for m in ("mobster", "asha")
                ]
                for s in range(options.seeds)
            ]
            pairs = [(ours, theirs) for ours, theirs in both if ours is not None and theirs is not None]
            if not pairs:
                row.append("")
                continue
            grid = np.linspace(0.0, pairs[0][0]["seconds"], GRID + 1)[1:]
            ours, theirs = (regret_curve(list(side), grid, min(losses)) for side in zip(*pairs, strict=True))
            ratio, reached = share_of_time(ours, theirs, grid)
            ratios[variant, count].append(ratio)
            fewer = f" [{len(pairs)}]" if len(pairs) < options.seeds else ""
            row.append((f"{ratio:.2f}" if reached else f"never ({ratio:.2f})") + fewer)
        rows.append(row)
    means = [math.exp(statistics.mean(map(math.log, found))) if found else math.nan for found in ratios.values()]
    rows.append(["**geometric mean**", *(f"**{mean:.2f}**" for mean in means)])
    yield from table(["problem", *(f"mobster{variant}, {count}" for variant, count in columns)], rows)


def kernels(results: Results, problems: list[str], options: Namespace) -> Iterator[str]:
    """Of each problem, the seeds that all methods on record have been run on."""
    wanted = {t: r for t, r in results.all.items() if t["workers"] == 4 and t["trainings"] == options.trainings}
    found: dict[str, list[float]] = {}
    for name in problems:
        runs: dict[str, dict[int, Record]] = {}
        for task, record in wanted.items():
            if task.problem == name and task.seed < options.seeds:
                runs.setdefault(task.method, {})[task.seed] = record
        if not (shared := set.intersection(*map(set, runs.values())) if runs else set()):
            continue
        finals = [statistics.mean(of[seed].found["best"][-1][1] for seed in shared) for of in runs.values()]
        for method, rank in zip(runs, ranks(finals), strict=True):
            found.setdefault(method, []).append(rank)
    ordered = sorted(found.items(), key=lambda pair: statistics.mean(pair[1]))
    rows = [(method, f"{statistics.mean(each):.2f}", str(len(each))) for method, each in ordered]
    yield from table(["method", "mean rank of the final regret", "problems"], rows)


def large(results: Results, seeds: int) -> Iterator[str]:
    rows = []
    for name in LARGE:
        for method in ("asha", "mobster", "dngo"):
            each = [results.found(task_of(seed, CROWD, name, method, SHORTER)) for seed in range(seeds)]
            if not (runs := [found for found in each if found is not None]):
                continue
            trials = statistics.mean(found["trials"] for found in runs)
            decision = statistics.mean(found["processor"] / found["trials"] for found in runs)
            marks = [[best_after(f["best"], share * f["seconds"]) for f in runs] for share in (1 / 3, 1.0)]
            losses = [cell(mark, "{:.2f} ± {:.2f}") for mark in marks]
            rows.append((name, method, str(len(runs)), f"{trials:,.0f}", f"{1000 * decision:.0f} ms", *losses))
    heads = [
        "problem",
        "method",
        "seeds",
        "trials",
        "a trial's decisions",
        "best loss after a third of the time",
        "at the end",
    ]
    yield from table(heads, rows, left=2)


def report(results: Results, options: Namespace) -> Iterator[str]:
    problems = names(options.problems)
    columns = [(VARIANTS[v], count) for v in names(options.variants) for count in numbers(options.workers)]
    yield f"The tables show all that is on record. {describe([record.made for record in results.all.values()])}"
    yield ""
    yield f"Share of ASHA's time until its final regret; {options.seeds} seeds (fewer where brackets say so),"
    yield from (f"{options.trainings:g} trainings per worker.", "", *headline(results, problems, columns, options), "")
    yield from ("Surrogates, four workers; of each problem, the seeds that all have been run on.", "")
    yield from (*kernels(results, problems, options), "")
    yield f"Many trials, {CROWD} workers, {SHORTER:g} trainings per worker:"
    yield from ("", *large(results, options.seeds))


# ---------------------------------------------------------------- Figures 3 and 5


def simulations(options: Namespace, methods: tuple[str, ...]) -> list[Task]:
    return [
        task_of(seed, count, name, method, options.trainings)
        for seed in range(options.seeds)
        for name in available(options.problems)
        for count in numbers(options.workers)
        for method in methods
    ]


def figure3_tasks(options: Namespace) -> list[Task]:
    return simulations(options, FIGURE3)


def run_figure3(task: Task, options: Namespace) -> Found:
    searcher = GP() if task.method.startswith("mobster") else Random()
    return run_simulated(task, None, searcher, ladder_of(task.method, get(task.problem).budgets[-1]))


def ladder_of(method: str, budget: int) -> Scheduler:
    """With the rules of the paper: from one epoch on, each rung η times the last."""
    rules = {"min_budget": 1, "ladder": "bottom", "last_rung": "eta", "brackets": None if "hyperband" in method else 1}
    return StoppingASHA(budget, **rules) if method.endswith("-stop") else ASHA(budget, **rules)


def figure3_report(results: Results, options: Namespace) -> Iterator[str]:
    yield from regret_tables(results, options, FIGURE3)
    yield from (
        "",
        "Of all problems, workers and seeds, how many end with the lower regret by the one – by the other:",
        "",
    )
    for what, pairs in DUELS.items():
        told = [f"{one} {wins}–{losses}" for one, wins, losses in (duel(results, *pair) for pair in pairs)]
        yield f"* {what}: {', '.join(told)}"


def duel(results: Results, one: str, other: str) -> tuple[str, int, int]:
    """How often ``one`` ends lower than ``other``, and how often higher."""
    ends: dict[str, dict[tuple[object, ...], float]] = {one: {}, other: {}}
    for method, found in ends.items():
        for record in results.of(method=method):
            task = record.task
            found[task.problem, task.seed, task["workers"]] = record.found["best"][-1][1]
    both = [(ends[one][key], ends[other][key]) for key in ends[one] if key in ends[other]]
    return one, sum(a < b for a, b in both), sum(a > b for a, b in both)


def figure5_tasks(options: Namespace) -> list[Task]:
    return simulations(options, FIGURE5)


def run_figure5(task: Task, options: Namespace) -> Found:
    return run_simulated(task, task.method)


def figure5_report(results: Results, options: Namespace) -> Iterator[str]:
    yield from regret_tables(results, options, FIGURE5)


def regret_tables(results: Results, options: Namespace, methods: tuple[str, ...]) -> Iterator[str]:
    length = f"{options.trainings:g} trainings per worker"
    yield f"Mean regret of {options.seeds} seeds after a third of the time, and at its end; {length}."
    for count in numbers(options.workers):
        rows, placed = [], {method: [] for method in methods}
        for name in results.problems:
            runs = {method: [record.found for record in results.of(name, method, workers=count)] for method in methods}
            if not any(runs.values()):
                continue
            lowest = min(found["best"][-1][1] for each in runs.values() for found in each)
            means = {
                method: [
                    statistics.mean(best_after(f["best"], s * f["seconds"]) - lowest for f in each) for s in SHARES
                ]
                for method, each in runs.items()
                if each
            }
            ends = ranks([after[-1] for after in means.values()])
            for method, rank in zip(means, ends, strict=True):
                placed[method].append(rank)
            shown = (
                " → ".join(f"{mean:.3g}" for mean in means[method]) if method in means else "–" for method in methods
            )
            rows.append((name, *shown))
        rows.append(
            ("mean rank at the end", *(f"{statistics.mean(each):.2f}" if each else "–" for each in placed.values()))
        )
        yield from ("", f"{count} workers:", "", *table(["problem", *methods], rows))


USUAL = {"problems": ",".join((*LCBENCH, "klein-cnn", *NB201)), "workers": "2,4,8,16", "seeds": 5, "trainings": 6.0}
FEW = {
    "problems": ",".join(("curves-mlp", "curves-optimizer", *LCBENCH_FOUR)),
    "workers": "8",
    "seeds": 10,
    "trainings": 4.0,
}
SURROGATE = Libraries(also=("onnxruntime",))

EXPERIMENT = Experiment(
    name="mobster",
    title="MOBSTER against ASHA",
    result="mobster.md",
    description=__doc__,
    parts={
        "time": Part("Share of the time", tasks, run, report, SURROGATE, USUAL),
        "figure3": Part(
            "Figure 3", figure3_tasks, run_figure3, figure3_report, SURROGATE, FEW, records="mobster-figure3"
        ),
        "figure5": Part(
            "Figure 5", figure5_tasks, run_figure5, figure5_report, SURROGATE, FEW, records="mobster-figure5"
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
