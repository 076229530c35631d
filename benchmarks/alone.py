"""One worker, or two: which method over budgets is ahead after the time of 4, 16, 50 and 100 trainings?

    python -m benchmarks.alone [--part NAME] [--methods …] [--seeds 10] [--write]

The tasks to choose on and the tasks kept aside are those of ``budgets.py``, for longer: 100 full trainings one after the other
with one worker, 50 on each of two. ``gp`` trains every trial to the end and models the losses there;
``mobster:straight=never`` is MOBSTER whose trials all begin at the lowest rung, as they do with two workers, and with
``mobster:straight=two`` some go straight then, too. No method knows when the time will be over, so
one search tells of all these times.
Of each set, for each time:

    rank            mean rank of the lowest loss so far among the methods, over tasks and seeds that all were run on
    against …       pairs of task and seed with the lower loss – with the higher
    behind …        tasks whose mean loss is above that of the GP, and of the better of ASHA and random search, by more than one
                    standard error of the difference in pairs (in brackets: by anything)
"""

from __future__ import annotations

import bisect
import math
import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from functools import partial

from benchmarks.budgets import DEVELOPMENT, SURROGATE, VALIDATION
from benchmarks.harness.experiment import Experiment, Part, main, numbers
from benchmarks.harness.records import Found, Task
from benchmarks.harness.report import Results, mean_and_error, ranks, table
from benchmarks.harness.simulated import run_simulated, simulated_tasks
from benchmarks.workloads.budget_comparison import Runs, runs_of
from benchmarks.workloads.budget_methods import BudgetMethod, mobster
from xstar import problems

METHODS = {
    "random": BudgetMethod("random search at the full budget", "random"),
    "hyperband": BudgetMethod("random configurations, synchronous brackets", "hyperband"),
    "asha": BudgetMethod("random configurations under ASHA", "asha"),
    "gp": BudgetMethod("every trial is trained to the end", "gp"),
    "mobster-hyperband": BudgetMethod("all brackets", "mobster-hyperband"),
    "mobster:straight=never": mobster("all trials begin at the lowest rung", straight_running=0),
    "mobster:straight=two": mobster("some trials go straight beside one other, too", straight_running=2),
    "mobster": BudgetMethod("the default", "mobster"),
}
USUAL = ("random", "asha", "gp", "mobster:straight=never", "mobster")
OF_TWO = ("random", "asha", "gp", "mobster:straight=two", "mobster")
TIMES = (4, 16, 50, 100)
"""In trainings on each worker."""
RIVALS = ("gp", "mobster:straight=never", "mobster:straight=two", "mobster")
WITHOUT_MODEL = ("asha", "random")
SETS = {"development": DEVELOPMENT, "validation": VALIDATION}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--problems", help="some of the tasks of the set")
    parser.add_argument("--methods")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workers")
    parser.add_argument("--trainings", type=float)


def tasks(known: Sequence[str], options: Namespace) -> list[Task]:
    return simulated_tasks(known, METHODS, options)


def run(task: Task, options: Namespace) -> Found:
    method = METHODS[task.method]
    return run_simulated(task, method.name or None, method.searcher, method.made(problems.get(task.problem)))


# ---------------------------------------------------------------- the report


def loss_at(found: Found, share: float) -> float:
    """The lowest loss reported by this share of the time; infinite while there is none."""
    times = [at for at, _ in found["best"]]
    place = bisect.bisect_right(times, share * found["seconds"])
    return float(found["best"][place - 1][1]) if place else math.inf


class At:
    """The losses of all runs after a share of the time."""

    def __init__(self, runs: Runs, names: Sequence[str], share: float) -> None:
        self.methods = [method for method in METHODS if any(which == method for _, which in runs)]
        shared = {
            name: sorted(set.intersection(*(set(runs.get((name, method), {})) for method in self.methods)))
            for name in names
        }
        self.losses = {
            (name, method): [loss_at(runs[name, method][seed], share) for seed in seeds]
            for name, seeds in shared.items()
            if seeds
            for method in self.methods
        }
        self.names = [name for name, seeds in shared.items() if seeds]

    def rank(self, method: str) -> float:
        placed = [
            ranks(row)[self.methods.index(method)]
            for name in self.names
            for row in zip(*(self.losses[name, which] for which in self.methods), strict=True)
        ]
        return statistics.mean(placed)

    def pairs(self, method: str, other: str) -> str:
        both = [
            pair
            for name in self.names
            for pair in zip(self.losses[name, method], self.losses[name, other], strict=True)
        ]
        return f"{sum(a < b for a, b in both)}–{sum(a > b for a, b in both)}"

    def behind(self, method: str, others: Sequence[str]) -> str:
        """On how many tasks its mean loss is above the lowest of the others': surely, and (at all)."""
        surely = at_all = 0
        for name in self.names:
            other = min(others, key=lambda which: statistics.mean(self.losses[name, which]))
            mean, error = mean_and_error(
                [a - b for a, b in zip(self.losses[name, method], self.losses[name, other], strict=True)]
            )
            at_all += mean > 0
            surely += mean > 0 and mean > error
        return f"{surely} ({at_all})"


def report(names: Sequence[str], results: Results, options: Namespace) -> Iterator[str]:
    runs = runs_of(results.records)
    times = [time for time in TIMES if time <= options.trainings]
    last = At(runs, names, times[-1] / options.trainings)
    searches = sum(len(last.losses[name, last.methods[0]]) for name in last.names)
    yield f"{len(last.names)} tasks, {searches} searches with each method: of each task, the seeds that all have been run on."
    for time in times:
        at = At(runs, names, time / options.trainings)
        rivals = [other for other in RIVALS if other in at.methods]
        plain = [other for other in WITHOUT_MODEL if other in at.methods]
        heads = ["method", "rank", *(f"against {other}" for other in rivals), "behind gp", "behind asha or random"]
        rows = [
            (
                method,
                f"{at.rank(method):.2f}",
                *("" if other == method else at.pairs(method, other) for other in rivals),
                "" if method == "gp" or "gp" not in at.methods else at.behind(method, ["gp"]),
                "" if method in plain or not plain else at.behind(method, plain),
            )
            for method in at.methods
        ]
        yield from (
            "",
            f"After {time} trainings{'' if numbers(options.workers) == [1] else ' on each'}:",
            "",
            *table(heads, rows),
        )
    yield from ("", f"Mean loss after {times[-1]}, trials and complete ones, and processor time, all a search:", "")
    yield from by_task(last)
    yield from ("", *table(["method", "trials", "complete", "processor"], counts(runs, last.methods)))


def by_task(at: At) -> Iterator[str]:
    rows = []
    for name in at.names:
        means = [statistics.mean(at.losses[name, method]) for method in at.methods]
        rows.append((name, *(f"**{mean:.4g}**" if mean == min(means) else f"{mean:.4g}" for mean in means)))
    yield from table(["task", *at.methods], rows)


def counts(runs: Runs, methods: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for method in methods:
        every = [found for (_, which), each in runs.items() if which == method for found in each.values()]
        means = [statistics.mean(found[what] for found in every) for what in ("trials", "complete", "processor")]
        yield method, f"{means[0]:.0f}", f"{means[1]:.0f}", f"{means[2]:.1f} s"


def part_of(name: str, title: str, workers: str, trainings: float) -> Part:
    methods = ",".join(USUAL if workers == "1" else OF_TWO)
    defaults = {"workers": workers, "trainings": trainings, "methods": methods}
    return Part(title, partial(tasks, SETS[name]), run, partial(report, SETS[name]), SURROGATE, defaults)


EXPERIMENT = Experiment(
    name="alone",
    title="Searches over budgets with one worker or two",
    result="alone.md",
    description=__doc__,
    parts={
        "development": part_of("development", "One worker, development tasks", "1", 100.0),
        "validation": part_of("validation", "One worker, validation tasks", "1", 100.0),
        "development-2": part_of("development", "Two workers, development tasks", "2", 50.0),
        "validation-2": part_of("validation", "Two workers, validation tasks", "2", 50.0),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
