"""Methods over budgets in simulated time, on tasks to choose defaults on and on tasks that no default was chosen on.

    python -m benchmarks.budgets [--part development|validation|validation-8|ablation] [--methods …] [--seeds 10] [--write]

``DEVELOPMENT`` is what constants are chosen on: the twelve tasks of LCBench that were always here, Klein's CNN curves,
NAS-Bench-201, and synthetic curves, on two of which the first epochs mislead. ``VALIDATION`` is run once per claim: ten other
tasks of LCBench, logistic regression, and two other synthetic problems. ``harness/simulated.py`` says what time and regret are;
y★ is the lowest loss that any method reported in any run on the problem. Of each set and number of workers, one row per method:

    share of … time        when its mean regret is first at most the other's last, over when that one's is; geometric mean
    against …              pairs of task and seed with the lower regret at the end – with the higher
    behind …               tasks whose mean regret at the end is above the lower one of ASHA and random search, by more than one
                           standard error of the difference in pairs (in brackets: by anything)
    no complete trial      searches without one by half of the time

The part ``ablation`` changes one default of MOBSTER at a time, on four tasks of each set. ``--methods syne-tune-mobster`` runs
Syne Tune's (``workloads/syne_tune_mobster.py`` says what it needs).
"""

from __future__ import annotations

import math
import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main, numbers
from benchmarks.harness.problems import LCBENCH, NB201, at_hand
from benchmarks.harness.records import Found, Record, Task
from benchmarks.harness.report import Results, mean_and_error, ranks, table
from benchmarks.harness.run import Libraries
from benchmarks.harness.simulated import regret_curve, run_simulated, share_of_time
from benchmarks.workloads.budget_methods import ABLATION, METHODS, SYNE_TUNE
from benchmarks.workloads.syne_tune_mobster import run_syne_tune
from xstar import problems
from xstar.searchers.gp import fit

DEVELOPMENT = (
    *LCBENCH,
    "klein-cnn",
    *NB201,
    "curves-mlp",
    "curves-optimizer",
    "curves-late",
    "curves-deep",
)
VALIDATION = (
    *(f"lcbench-{task}" for task in ("126026", "126029", "167083", "167149", "167152", "167161", "168329", "168910")),
    *("lcbench-189906", "lcbench-7593", "hpolib-logreg", "curves-schedule", "curves-regularised"),
)
FEW = {
    "development": ("lcbench-126025", "lcbench-168330", "nb201-cifar100", "curves-late"),
    "validation": ("lcbench-167152", "lcbench-167161", "lcbench-7593", "curves-regularised"),
}
"""The tasks of the ablation."""
SETS = {"development": DEVELOPMENT, "validation": VALIDATION}
USUAL = ("random", "asha-before", "asha", "mobster-before", "mobster-hyperband", "mobster")
RIVALS = ("asha", "asha-before", "random", "mobster-before")
"""What pairs are told against."""
GRID = 2000

Runs = dict[tuple[str, str], dict[int, Found]]
"""(problem, method) → what each seed found."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--problems", help="some of the tasks of the set")
    parser.add_argument("--methods")
    parser.add_argument("--workers")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--trainings", type=float)


def tasks(known: Sequence[str], options: Namespace) -> list[Task]:
    names = chosen_from(options.problems, known, "--problems") if options.problems else list(known)
    methods = chosen_from(options.methods, METHODS, "--methods")
    return [
        Task.of(seed, name, method, workers=count, trainings=options.trainings)
        for seed in range(options.seeds)
        for count in numbers(options.workers)
        for name in at_hand(names)
        for method in methods
    ]


def run(task: Task, options: Namespace) -> Found:
    if task.method == SYNE_TUNE:
        return run_syne_tune(task)
    method = METHODS[task.method]
    scheduler = method.made(problems.get(task.problem))
    with fantasised(method.unfinished):
        return run_simulated(task, method.name or None, method.searcher, scheduler)


@contextmanager
def fantasised(unfinished: int | None) -> Iterator[None]:
    """With so many of the paused trials fantasised, which is no setting of the GP: the ablation alone asks for it."""
    usual = fit.UNFINISHED
    fit.UNFINISHED = usual if unfinished is None else unfinished
    try:
        yield
    finally:
        fit.UNFINISHED = usual


# ---------------------------------------------------------------- the report


def runs_of(records: Sequence[Record]) -> Runs:
    found: Runs = {}
    for record in records:
        found.setdefault((record.task.problem, record.task.method), {})[record.task.seed] = record.found
    return found


def regret(found: Found, optimum: float) -> float:
    return float(found["best"][-1][1]) - optimum


def late(found: Found) -> bool:
    """Whether no trial was complete by half of the time."""
    return found["first"] is None or found["first"] > found["seconds"] / 2


class Comparison:
    """The runs of a set of tasks with one number of workers."""

    def __init__(self, results: Results, names: Sequence[str], workers: int) -> None:
        self.runs = runs_of([record for name in names for record in results.of(name, workers=workers)])
        self.names = [name for name in names if any(problem == name for problem, _ in self.runs)]
        self.methods = list(dict.fromkeys(method for _, method in self.runs))
        # Of all that is on record, whatever was asked for: y★ shall not depend on it.
        self.optimum = {
            name: min(r.found["best"][-1][1] for task, r in results.all.items() if task.problem == name)
            for name in self.names
        }

    def seeds(self, name: str, *methods: str) -> list[int]:
        return sorted(set.intersection(*(set(self.runs.get((name, method), {})) for method in methods)))

    def ends(self, name: str, method: str, seeds: Sequence[int]) -> list[float]:
        return [regret(self.runs[name, method][seed], self.optimum[name]) for seed in seeds]

    def share(self, method: str, other: str) -> str:
        """Of the other's time until its regret at the end: the geometric mean over tasks."""
        shares = []
        for name in self.names:
            if seeds := self.seeds(name, method, other):
                sides = [[self.runs[name, which][seed] for seed in seeds] for which in (method, other)]
                grid = np.linspace(0.0, sides[0][0]["seconds"], GRID + 1)[1:]
                ours, theirs = (regret_curve(side, grid, self.optimum[name]) for side in sides)
                shares.append(share_of_time(ours, theirs, grid)[0])
        return f"{math.exp(statistics.mean(map(math.log, shares))):.2f}" if shares else "–"

    def pairs(self, method: str, other: str) -> str:
        both = [
            pair
            for name in self.names
            for seeds in (self.seeds(name, method, other),)
            for pair in zip(self.ends(name, method, seeds), self.ends(name, other, seeds), strict=True)
        ]
        return f"{sum(a < b for a, b in both)}–{sum(a > b for a, b in both)}"

    def behind(self, method: str) -> str:
        """On how many tasks it ends behind the better one of ASHA and random search: surely, and (at all)."""
        surely = at_all = tasks = 0
        for name in self.names:
            seeds = self.seeds(name, method, "asha", "random")
            if not seeds:
                continue
            ends = {which: self.ends(name, which, seeds) for which in (method, "asha", "random")}
            better = min(("asha", "random"), key=lambda which: statistics.mean(ends[which]))
            mean, error = mean_and_error([a - b for a, b in zip(ends[method], ends[better], strict=True)])
            tasks += 1
            at_all += mean > 0
            surely += mean > max(error, 0.0) and mean > 0
        return f"{surely} ({at_all}) of {tasks}"

    def every(self, method: str) -> list[Found]:
        return [found for (_, which), each in self.runs.items() if which == method for found in each.values()]

    def lates(self, method: str) -> list[bool]:
        return [late(found) for found in self.every(method)]

    def rows(self) -> tuple[list[str], list[tuple[str, ...]]]:
        """The heads of the table of methods, and a row of each; pairs against those alone that were run."""
        timed = [other for other in ("asha", "asha-before") if other in self.methods]
        duels = [other for other in RIVALS if other in self.methods]
        heads = ["method", *(f"share of {other}'s time" for other in timed), *(f"against {other}" for other in duels)]
        rows = [
            (
                method,
                *(self.share(method, other) for other in timed),
                *(self.pairs(method, other) for other in duels),
                *self.ends_well(method),
            )
            for method in self.methods
        ]
        return [*heads, "behind the better of asha and random", "no complete trial by half", "processor, a run"], rows

    def ends_well(self, method: str) -> tuple[str, ...]:
        every, lates = self.every(method), self.lates(method)
        spent = statistics.mean(found["processor"] for found in every)
        return self.behind(method), f"{sum(lates)} of {len(lates)}", f"{spent:.1f} s"


def report(part: str, results: Results, options: Namespace) -> Iterator[str]:
    yield f"{options.trainings:g} trainings per worker, seeds 0 to {options.seeds - 1}, as far as they are on record: the last"
    yield "column but one has the number of runs."
    for count in numbers(options.workers):
        comparison = Comparison(results, SETS[part], count)
        yield from ("", f"{len(comparison.names)} tasks, {count} workers:", "", *table(*comparison.rows()))
        yield from ("", "Mean regret at the end:", "", *by_task(comparison))


def by_task(comparison: Comparison) -> Iterator[str]:
    rows = []
    for name in comparison.names:
        means = []
        for method in comparison.methods:
            ends = comparison.ends(name, method, comparison.seeds(name, method))
            means.append(statistics.mean(ends) if ends else math.nan)
        least = min((mean for mean in means if not math.isnan(mean)), default=math.nan)
        rows.append((name, *("–" if math.isnan(m) else f"**{m:.3g}**" if m == least else f"{m:.3g}" for m in means)))
    yield from table(["task", *comparison.methods], rows)


# ---------------------------------------------------------------- the ablation


def ablation_tasks(options: Namespace) -> list[Task]:
    found = [task for known in FEW.values() for task in tasks(known, options)]
    return sorted(found, key=lambda task: task.seed)  # what is unfinished has fewer seeds, of both sets


def ablation_report(results: Results, options: Namespace) -> Iterator[str]:
    yield f"{options.trainings:g} trainings per worker, seeds 0 to {options.seeds - 1}, {options.workers} workers. Mean rank of"
    yield "the regret at the end over tasks and seeds, and pairs with the lower regret – the higher one against the default."
    (count,) = numbers(options.workers)
    sets = {name: Comparison(results, known, count) for name, known in FEW.items()}
    methods = next(iter(sets.values())).methods
    placed = {name: mean_ranks(comparison, methods) for name, comparison in sets.items()}
    rows = []
    for method in methods:
        cells = [METHODS[method].what]
        for name, comparison in sets.items():
            lates = comparison.lates(method)
            cells += [
                f"{placed[name][method]:.2f}",
                comparison.pairs(method, "mobster"),
                f"{sum(lates)} of {len(lates)}",
            ]
        rows.append((method, *cells))
    heads = [f"{what}, {name}" for name in sets for what in ("rank", "against mobster", "no complete trial by half")]
    yield from ("", *table(["method", "what differs", *heads], rows, left=2))


def mean_ranks(comparison: Comparison, methods: Sequence[str]) -> dict[str, float]:
    placed: dict[str, list[float]] = {method: [] for method in methods}
    for name in comparison.names:
        for seed in comparison.seeds(name, *methods):
            ends = [comparison.ends(name, method, [seed])[0] for method in methods]
            for method, rank in zip(methods, ranks(ends), strict=True):
                placed[method].append(rank)
    return {method: statistics.mean(found) if found else math.nan for method, found in placed.items()}


DEFAULTS = {"methods": ",".join(USUAL), "workers": "4", "seeds": 10, "trainings": 4.0}
EIGHT = {**DEFAULTS, "methods": "random,asha,mobster", "workers": "8"}
SURROGATE = Libraries({SYNE_TUNE: "syne-tune"}, also=("onnxruntime",))


def part_of(name: str, title: str, defaults: dict[str, object] = DEFAULTS) -> Part:
    listed: Callable[[Namespace], list[Task]] = partial(tasks, SETS[name])
    return Part(title, listed, run, partial(report, name), SURROGATE, defaults)


EXPERIMENT = Experiment(
    name="budgets",
    title="Methods over budgets, on tasks to choose on and tasks kept aside",
    result="budgets.md",
    description=__doc__,
    parts={
        "development": part_of("development", "Development tasks"),
        "validation": part_of("validation", "Validation tasks"),
        "validation-8": part_of("validation", "Validation tasks, eight workers", EIGHT),
        "ablation": Part(
            "Ablations",
            ablation_tasks,
            run,
            ablation_report,
            SURROGATE,
            {"methods": ",".join(ABLATION), "workers": "4", "seeds": 10, "trainings": 4.0},
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
