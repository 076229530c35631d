"""Runs in simulated time, and what is told of two methods: pairs, tasks with a sign test, and the ratio of times.

The regret is the immediate one of the MOBSTER paper, Section 4: the lowest loss reported by a time, at any budget, less y★, the
lowest loss of all runs on record. The time of a search is that of so many full trainings one after the other on each worker, at
the median time of a training.
"""

from __future__ import annotations

import math
import statistics
import time
from argparse import Namespace
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.harness.experiment import chosen_from, names, numbers
from benchmarks.harness.problems import at_hand, full_training, named
from benchmarks.harness.records import Found, Record, Task, improvements, significant
from xstar.journal.trial import State
from xstar.testing.simulate import simulate

TIMES = 6
"""Digits of simulated times: a comparison looks at 2,000 of them. Losses keep theirs, as equal ones are ties."""
GRID = 2000
SHARES = (0.25, 0.5, 1.0)
CAP = 1.0
"""The regret of a search without an answer, on problems whose true loss is known: more than that of any that ends well."""


def simulated_tasks(known: Sequence[str], methods: Iterable[str], options: Namespace) -> list[Task]:
    """All seeds, numbers of workers, trainings, problems and methods that were asked for, of those that are ``known``."""
    wanted = chosen_from(options.problems, known, "--problems") if options.problems else list(known)
    chosen = chosen_from(options.methods, methods, "--methods")
    at_hand([name.partition("+")[0] for name in wanted if ":" not in name])
    return [
        Task.of(seed, name, method, workers=count, trainings=float(trainings))
        for seed in range(options.seeds)
        for trainings in names(options.trainings)
        for count in numbers(options.workers)
        for name in wanted
        for method in chosen
    ]


def run_simulated(task: Task, method: str | None, searcher: Any = None, scheduler: Any = None) -> Found:
    """The settings ``workers`` and ``trainings`` of a task say for how many and how long."""
    problem = named(task.problem)
    seconds, begun = full_training(task.problem) * task["trainings"], time.process_time()
    parts = {name: part for name, part in (("searcher", searcher), ("scheduler", scheduler)) if part is not None}
    study = simulate(problem, method, **parts, workers=task["workers"], seconds=seconds, seed=task.seed)
    history = study.history
    complete = [trial for trial in history.trials if trial.state is State.COMPLETE and trial.runs.ended_at is not None]
    told = sorted((r.at, history.goals.loss(r.metrics)) for trial in history.trials for r in trial.reports)
    told = [(at, loss) for at, loss in told if at <= seconds]
    ends = sorted((trial.runs.ended_at, history.goals.loss(trial.metrics)) for trial in complete)
    found = {
        "best": [(significant(told[i - 1][0], TIMES), loss) for i, loss in improvements(loss for _, loss in told)],
        "full": [(significant(ends[i - 1][0], TIMES), loss) for i, loss in improvements(loss for _, loss in ends)],
        "seconds": seconds,
        "trials": len(history.trials),
        "complete": history.count(State.COMPLETE),
        "first": ends[0][0] if ends else None,
    }
    if ":" in task.problem:
        found["regrets"] = [significant(regret) for regret in _true_regrets(history, problem, seconds)]
    return {**found, "processor": significant(time.process_time() - begun)}


def _true_regrets(history: Any, problem: Any, seconds: float) -> list[float]:
    """Without noise, of the best trial after each share of the time."""
    found = []
    for share in SHARES:
        step = next((each for each in reversed(history.best_over_time) if each.at <= share * seconds), None)
        found.append(CAP if step is None else min(problem.loss(step.trial.config) - problem.optimum, CAP))
    return found


# ---------------------------------------------------------------- two methods


class Comparison:
    """The runs with one number of workers and one length; longer ones stand for their beginning, as no search plans ahead."""

    def __init__(self, records: Iterable[Record], workers: int, trainings: float) -> None:
        self.runs: dict[str, dict[str, dict[int, Found]]] = {}
        for record in sorted(
            records, key=lambda record: -record.task["trainings"]
        ):  # the one of this length is put in last
            task, found = record.task, record.found
            if task["workers"] == workers and task["trainings"] >= trainings:
                if task["trainings"] > trainings:
                    if "regrets" in found:  # told of shares of the whole time
                        continue
                    found = beginning(found, found["seconds"] * trainings / task["trainings"])
                self.runs.setdefault(task.problem, {}).setdefault(task.method, {})[task.seed] = found

    @cached_property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(method for of in self.runs.values() for method in of))

    @cached_property
    def optimum(self) -> dict[str, float]:
        """y★ of each task."""
        return {
            name: min(found["best"][-1][1] for of in each.values() for found in of.values() if found.get("best"))
            for name, each in self.runs.items()
            if any(found.get("best") for of in each.values() for found in of.values())
        }

    def seeds(self, name: str, *methods: str) -> list[int]:
        return sorted(set.intersection(*(set(self.runs[name].get(method, {})) for method in methods)))

    def both(self, method: str, other: str, what: str = "best") -> dict[str, list[tuple[float, float]]]:
        """Task → the two losses of each seed that both were run with; ∞ where there is none."""
        sides = {}
        for name in self.runs:
            runs = [
                [self.runs[name][side][seed] for side in (method, other)] for seed in self.seeds(name, method, other)
            ]
            told = [pair for pair in runs if all(what in found for found in pair)]
            if told:
                sides[name] = [(_end(ours, what), _end(theirs, what)) for ours, theirs in told]
        return sides

    def ratio_of_times(self, method: str, other: str) -> tuple[float, int] | None:
        """Of the other's time until its last mean regret: the geometric mean over tasks, and on how many it is reached."""
        shares, reached = [], 0
        for name in self.optimum:
            if seeds := self.seeds(name, method, other):
                grid = np.linspace(0.0, self.runs[name][other][seeds[0]]["seconds"], GRID + 1)[1:]
                curves = [
                    regret_curve([self.runs[name][side][seed] for seed in seeds], grid, self.optimum[name])
                    for side in (method, other)
                ]
                if np.isfinite(curves[1][-1]):
                    share, there = share_of_time(curves[0], curves[1], grid)
                    shares.append(share)
                    reached += there
        return (math.exp(statistics.mean(map(math.log, shares))), reached) if shares else None


def beginning(found: Found, seconds: float) -> Found:
    """What the first ``seconds`` of a search found.

    >>> beginning({"best": [[1.0, 0.5], [3.0, 0.4]], "full": [[3.0, 0.4]], "seconds": 4.0}, 2.0)
    {'best': [[1.0, 0.5]], 'full': [], 'seconds': 2.0}
    """
    cut = {what: [step for step in found[what] if step[0] <= seconds] for what in ("best", "full") if what in found}
    return {**cut, "seconds": seconds}


def _end(found: Found, what: str) -> float:
    if what == "regrets":
        return float(found["regrets"][-1])
    return float(found[what][-1][1]) if found[what] else math.inf


def tally(both: dict[str, list[tuple[float, float]]]) -> tuple[tuple[int, int], tuple[int, int], float]:
    """Searches lower and higher; tasks with more of the one or of the other; p of a two-sided sign test over tasks.

    >>> tally({"a": [(1, 2), (1, 2), (3, 2)], "b": [(1, 2)], "c": [(2, 1)], "d": [(1, 1)]})
    ((3, 2), (2, 1), 1.0)
    """
    signs = {name: [(a < b) - (a > b) for a, b in pairs] for name, pairs in both.items()}
    every = [sign for found in signs.values() for sign in found]
    totals = [sum(found) for found in signs.values()]
    tasks = sum(total > 0 for total in totals), sum(total < 0 for total in totals)
    return (every.count(1), every.count(-1)), tasks, sign_test(*tasks)


def sign_test(more: int, less: int) -> float:
    """The two-sided p of so many against so many.

    >>> sign_test(4, 0)
    0.125
    """
    n, k = more + less, min(more, less)
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n)


def regret_curve(runs: list[Found], grid: np.ndarray, best: float) -> np.ndarray:
    """The mean regret at each time of the grid; infinite while a run has reported nothing."""
    curves = []
    for found in runs:
        times, losses = np.array(found["best"], dtype=float).reshape(-1, 2).T
        place = np.searchsorted(times, grid, side="right") - 1
        curves.append(np.where(place >= 0, losses[np.maximum(place, 0)] if len(losses) else np.inf, np.inf))
    return np.mean(curves, axis=0) - best


def share_of_time(ours: np.ndarray, theirs: np.ndarray, grid: np.ndarray) -> tuple[float, bool]:
    """The time at which ``ours`` reaches the end of ``theirs``, over the time at which ``theirs`` does; whether it does."""
    goal = theirs[-1] + 1e-12
    reached = np.flatnonzero(ours <= goal)
    at = grid[reached[0]] if len(reached) else grid[-1]
    return float(at / grid[np.flatnonzero(theirs <= goal)[0]]), bool(len(reached))
