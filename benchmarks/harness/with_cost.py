"""Problems over budgets with a second objective, and the hypervolume of a search of them in simulated time.

    lcbench-126026+time        validation error, and the seconds of a full training
    nb201-cifar10+pixel2       validation error, and the latency of the cell on a device

The cost of a configuration is the same in every report; the simulator knows no other. All reports count, at whatever budget, as
the immediate regret of one objective counts them. The reference point is the 0.9 quantile of what is drawn at random.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks import tables as problems
from benchmarks.harness.problems import full_training
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.simulated import TIMES
from benchmarks.harness.trade_off_tables import nb201
from xstar.core.pareto import Array, hypervolume, non_dominated
from xstar.core.randomness import Streams
from xstar.testing import simulate as simulation
from xstar.testing.problems import Curve, Problem
from xstar.testing.simulator import METRIC

COST = "cost"
DRAWN = 500
WORST = 0.9


class WithCost:
    """A problem with a cost beside its loss."""

    def __init__(self, name: str) -> None:
        base, _, self._what = name.partition("+")
        self.name, self.base = name, base
        self._problem: Problem = problems.get(base)
        self._latency = None if self._what == "time" else nb201(0, self._what).losses
        self.space, self.budgets, self.unit = self._problem.space, self._problem.budgets, self._problem.unit
        self.optimum, self.best = self._problem.optimum, self._problem.best

    def curve(self, config: Mapping[str, Any], seed: int) -> Curve:
        made = self._problem.curve(config, seed)
        cost = made.seconds[-1] if self._latency is None else self._latency(config)[1]
        return replace(made, others={COST: cost})

    def loss(self, config: Mapping[str, Any]) -> float:
        return self._problem.loss(config)


@lru_cache(maxsize=32)
def problem_of(name: str) -> tuple[WithCost, Array]:
    """The problem and its reference point."""
    problem, rng = WithCost(name), Streams(0).generator(0, "benchmark")
    curves = [problem.curve(problem.space.sample(rng), seed) for seed in range(DRAWN)]
    drawn = np.array([(curve.losses[-1], curve.others[COST]) for curve in curves])
    return problem, np.quantile(drawn, WORST, axis=0)


def run_with_cost(task: Task, method: str, searcher: Any = None) -> Found:
    """As ``run_simulated``; what falls is the negative hypervolume, as a share of the box between the origin and the reference
    point."""
    problem, r = problem_of(task.problem)
    seconds, begun = full_training(problem.base) * task["trainings"], time.process_time()
    parts = {} if searcher is None else {"searcher": searcher}
    study = simulation.simulate(
        problem,
        method,
        **parts,
        workers=task["workers"],
        seconds=seconds,
        seed=task.seed,
        metric=[METRIC, COST],
    )
    reports = sorted(
        (report.at, trial.number, study.goals.losses(report.metrics))
        for trial in study.history.trials
        for report in trial.reports
        if report.at <= seconds
    )
    front, best, covered = np.empty((0, 2)), [], 0.0
    for at, _, losses in reports:
        if (front <= losses).all(axis=1).any():
            continue
        front = np.vstack([front, losses])
        front = front[non_dominated(front)]
        if (volume := hypervolume(front, r)) > covered:
            covered = volume
            best.append((significant(at, TIMES), significant(-volume / float(np.prod(r)))))
    processor = significant(time.process_time() - begun)
    return {"best": best, "seconds": seconds, "trials": len(study.history.trials), "processor": processor}
