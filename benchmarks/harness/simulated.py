"""Runs in simulated time: what is kept of one, and its regret at any time.

The regret is the immediate one of the MOBSTER paper, Section 4: the lowest loss reported by a time, at any budget, less y★. The
time of a comparison is that of so many full trainings one after the other on each worker, at the median time of a training.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.harness.experiment import chosen_from, numbers
from benchmarks.harness.problems import at_hand, full_training
from benchmarks.harness.records import Found, Task, significant
from xstar import problems
from xstar.schedulers import Scheduler
from xstar.searchers import Searcher
from xstar.simulation import improvements, simulate
from xstar.trial import State

TIMES = 6
"""Digits of simulated times: a comparison looks at 2,000 of them. Losses keep theirs, as equal ones are ties."""


def simulated_tasks(known: Sequence[str], methods: Iterable[str], options: Namespace) -> list[Task]:
    """All seeds, numbers of workers, problems and methods that were asked for, of those that are ``known``."""
    names = chosen_from(options.problems, known, "--problems") if options.problems else list(known)
    chosen = chosen_from(options.methods, methods, "--methods")
    return [
        Task.of(seed, name, method, workers=count, trainings=options.trainings)
        for seed in range(options.seeds)
        for count in numbers(options.workers)
        for name in at_hand(names)
        for method in chosen
    ]


def run_simulated(
    task: Task,
    method: str | None,
    searcher: Searcher | None = None,
    scheduler: Scheduler | None = None,
    problem: problems.Problem | None = None,
    *,
    checkpoints: bool = True,
) -> Found:
    """The settings ``workers`` and ``trainings`` of a task say for how many and how long; ``problem`` stands for the one of its
    name, where a variation of it is searched. Without ``checkpoints`` what is resumed trains again from the start."""
    seconds, begun = full_training(task.problem) * task["trainings"], time.process_time()
    study = simulate(
        problems.get(task.problem) if problem is None else problem,
        method,
        searcher=searcher,
        scheduler=scheduler,
        workers=task["workers"],
        seconds=seconds,
        seed=task.seed,
        checkpoints=checkpoints,
    )
    history = study.history
    ends = [trial.ended_at for trial in history.trials if trial.state is State.COMPLETE and trial.ended_at is not None]
    return {
        "best": [(significant(at, TIMES), loss) for at, loss in improvements(history) if at <= seconds],
        "seconds": seconds,
        "trials": len(history.trials),
        "complete": history.count(State.COMPLETE),
        "first": min(ends, default=None),
        "processor": significant(time.process_time() - begun),
    }


def regret_curve(runs: list[Found], grid: np.ndarray, best: float) -> np.ndarray:
    """The mean regret at each time of the grid; infinite while a run has reported nothing."""
    curves = []
    for found in runs:
        times, losses = np.array(found["best"], dtype=float).reshape(-1, 2).T
        place = np.searchsorted(times, grid, side="right") - 1
        curves.append(np.where(place >= 0, losses[np.maximum(place, 0)], np.inf))
    return np.mean(curves, axis=0) - best


def share_of_time(ours: np.ndarray, theirs: np.ndarray, grid: np.ndarray) -> tuple[float, bool]:
    """The time at which ``ours`` reaches the end of ``theirs``, over the time at which ``theirs`` does; whether it does."""
    goal = theirs[-1] + 1e-12
    reached = np.flatnonzero(ours <= goal)
    at = grid[reached[0]] if len(reached) else grid[-1]
    return float(at / grid[np.flatnonzero(theirs <= goal)[0]]), bool(len(reached))
