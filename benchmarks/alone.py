"""Long searches with one worker, two or four: which method over budgets is ahead after up to 100 trainings?

    python -m benchmarks.alone [--part NAME] [--methods …] [--seeds 10] [--write]

The tasks to choose on and the tasks kept aside are those of ``budgets.py``, for longer: 100 full trainings one after the other
with one worker, 50 on each of two, 30 on each of four. ``gp`` trains every trial to the end and models the losses there;
``mobster:straight=never`` is MOBSTER whose trials all begin at the lowest rung, and with ``mobster:straight=two`` those of two
workers take turns as those of one do. No method knows when the time will be over, so one search tells of all these times.

``lengths`` has more seeds of fewer methods: how the share of ASHA's time that MOBSTER takes depends on how long a search is.

``no-checkpoints`` asks which method an objective needs that saves none, so that a trial that is promoted trains again from the
start: promotion all the same (``mobster:checkpoints=none``), or stopping, by which nothing is resumed.

Of each set, for each time:

    rank            mean rank of the lowest loss so far among the methods, over tasks and seeds that all were run on
    of ASHA's time  when its mean loss is as low as ASHA's is in the end, over when ASHA's is: the geometric mean over tasks
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

import numpy as np

from benchmarks.budgets import DEVELOPMENT, SURROGATE, VALIDATION
from benchmarks.harness.experiment import Experiment, Part, main, numbers
from benchmarks.harness.records import Found, Task
from benchmarks.harness.report import Results, mean_and_error, ranks, table
from benchmarks.harness.simulated import regret_curve, run_simulated, share_of_time, simulated_tasks
from benchmarks.workloads.budget_comparison import GRID, Runs, runs_of
from benchmarks.workloads.budget_methods import NEVER_STRAIGHT, BudgetMethod, mobster
from xstar import problems
from xstar.searchers.gp.earlier import BEFORE_STRAIGHT

NO_CHECKPOINTS = "mobster:checkpoints=none"
METHODS = {
    "random": BudgetMethod("random search at the full budget", "random"),
    "hyperband": BudgetMethod("random configurations, synchronous brackets", "hyperband"),
    "asha": BudgetMethod("random configurations under ASHA", "asha"),
    "gp": BudgetMethod("every trial is trained to the end", "gp"),
    "mobster-hyperband": BudgetMethod("all brackets", "mobster-hyperband"),
    NEVER_STRAIGHT: mobster("all trials begin at the lowest rung", **BEFORE_STRAIGHT),
    "mobster:straight=two": mobster("those of two workers take turns, too", straight_running=2),
    "asha-stop": BudgetMethod("random configurations, by stopping", "asha-stop"),
    "mobster-stop": BudgetMethod("by stopping: nothing is ever resumed", "mobster-stop"),
    NO_CHECKPOINTS: BudgetMethod("what is resumed trains again from the start", "mobster", checkpoints=False),
    "mobster": BudgetMethod("the default", "mobster"),
}
USUAL = ("random", "asha", "gp", NEVER_STRAIGHT, "mobster")
LENGTHS = ("random", "asha", "mobster")
UNSAVED = ("random", "asha-stop", "gp", "mobster-stop", NO_CHECKPOINTS, "mobster")
OF_TWO = ("random", "asha", "gp", NEVER_STRAIGHT, "mobster:straight=two", "mobster")
TIMES = {"1": (4, 16, 50, 100), "2": (4, 16, 50), "4": (4, 10, 20, 30), "8": (4, 10, 20)}
"""By the number of workers, in trainings on each; with other numbers as with one."""
RIVALS = ("gp", NEVER_STRAIGHT, "mobster:straight=two", "mobster-stop", NO_CHECKPOINTS, "mobster")
WITHOUT_MODEL = ("asha", "asha-stop", "random")
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
    scheduler = method.made(problems.get(task.problem))
    return run_simulated(task, method.name or None, method.searcher, scheduler, checkpoints=method.checkpoints)


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
        self.runs = {
            (name, method): [runs[name, method][seed] for seed in shared[name]]
            for name in self.names
            for method in self.methods
        }
        self._share = share

    def share_of_asha(self, method: str) -> str:
        shares = []
        for name in self.names:
            ours, theirs = (self.runs[name, which] for which in (method, "asha"))
            grid = np.linspace(0.0, self._share * ours[0]["seconds"], GRID + 1)[1:]
            shares.append(share_of_time(regret_curve(ours, grid, 0.0), regret_curve(theirs, grid, 0.0), grid)[0])
        return f"{statistics.geometric_mean(shares):.2f}"

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
    times = [time for time in TIMES.get(options.workers, TIMES["1"]) if time <= options.trainings]
    last = At(runs, names, times[-1] / options.trainings)
    searches = sum(len(last.losses[name, last.methods[0]]) for name in last.names)
    yield f"{len(last.names)} tasks, {searches} searches with each method: of each task, the seeds that all have been run on."
    for time in times:
        at = At(runs, names, time / options.trainings)
        rivals = [other for other in RIVALS if other in at.methods]
        plain = [other for other in WITHOUT_MODEL if other in at.methods]
        timed = ["of ASHA's time"] if "asha" in at.methods else []
        heads = [
            "method",
            "rank",
            *timed,
            *(f"against {other}" for other in rivals),
            "behind gp",
            "behind asha or random",
        ]
        rows = [
            (
                method,
                f"{at.rank(method):.2f}",
                *("" if method == "asha" else at.share_of_asha(method) for _ in timed),
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
    yield from ("", *table(["method", "trials", "complete", "processor"], counts(last)))


def by_task(at: At) -> Iterator[str]:
    rows = []
    for name in at.names:
        means = [statistics.mean(at.losses[name, method]) for method in at.methods]
        rows.append((name, *(f"**{mean:.4g}**" if mean == min(means) else f"{mean:.4g}" for mean in means)))
    yield from table(["task", *at.methods], rows)


def counts(at: At) -> Iterator[tuple[str, ...]]:
    for method in at.methods:
        every = [found for name in at.names for found in at.runs[name, method]]
        means = [statistics.mean(found[what] for found in every) for what in ("trials", "complete", "processor")]
        yield method, f"{means[0]:.0f}", f"{means[1]:.0f}", f"{means[2]:.1f} s"


def part_of(name: str, title: str, workers: str, trainings: float, methods: Sequence[str] = USUAL) -> Part:
    defaults = {"workers": workers, "trainings": trainings, "methods": ",".join(methods)}
    return Part(title, partial(tasks, SETS[name]), run, partial(report, SETS[name]), SURROGATE, defaults)


EXPERIMENT = Experiment(
    name="alone",
    title="Long searches over budgets with few workers",
    result="alone.md",
    description=__doc__,
    parts={
        "development": part_of("development", "One worker, development tasks", "1", 100.0),
        "validation": part_of("validation", "One worker, validation tasks", "1", 100.0),
        "development-2": part_of("development", "Two workers, development tasks", "2", 50.0, OF_TWO),
        "validation-2": part_of("validation", "Two workers, validation tasks", "2", 50.0, OF_TWO),
        "development-4": part_of("development", "Four workers, development tasks", "4", 30.0),
        "validation-4": part_of("validation", "Four workers, validation tasks", "4", 30.0),
        "lengths": part_of("development", "By the length of a search, development tasks", "4", 30.0, LENGTHS),
        "lengths-validation": part_of("validation", "By the length of a search, validation tasks", "4", 30.0, LENGTHS),
        "lengths-8": part_of("development", "The same with eight workers, development tasks", "8", 20.0, LENGTHS),
        "lengths-8-validation": part_of(
            "validation", "The same with eight workers, validation tasks", "8", 20.0, LENGTHS
        ),
        "no-checkpoints": part_of("development", "No checkpoints, development tasks", "4", 10.0, UNSAVED),
        "no-checkpoints-validation": part_of("validation", "No checkpoints, validation tasks", "4", 10.0, UNSAVED),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
