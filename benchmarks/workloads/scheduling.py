"""Scheduling decisions in large studies, ours and those of Optuna's successive-halving pruner, in processor time."""

from __future__ import annotations

import contextlib
import gc
import time
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.harness.peers import quiet_optuna
from benchmarks.harness.records import Found, significant
from xstar import problems
from xstar.executors import Simulator
from xstar.executors.simulator import METRIC
from xstar.journal import History
from xstar.journal import events as ev
from xstar.loop import run
from xstar.schedulers import ASHA, StoppingASHA
from xstar.schedulers.base import Scheduler
from xstar.testing.journals import created
from xstar.trial import Report, Verdict

VERDICTS = 20_000
SIZES = (10_000, 100_000, 1_000_000)
"""Records in the ladder, and reports of a simulated cluster."""


def ladder(scheduler: Scheduler, losses: np.ndarray, verdict: Verdict) -> History:
    """A history with one record per loss at the lowest rung, and as many trials again on their way there."""
    history = History(scheduler.rungs)
    history.extend([created()])
    for number, loss in enumerate(losses.tolist()):
        history.extend(
            [
                ev.Asked(number, {"x": loss}, "random", 1, 0.0, budget=1),
                ev.Reported(number, 1, {"value": loss}, 0.0, verdict=verdict),
            ]
        )
    for number in range(len(losses), len(losses) + VERDICTS):
        history.extend([ev.Asked(number, {"x": 1.0 + number}, "random", 1, 0.0, budget=1)])
    return history


def rates(losses: np.ndarray, fresh: list[float]) -> dict[str, float]:
    """Decisions per second with so many records in the ladder."""
    records, scheduler = len(losses), StoppingASHA(81, min_budget=1)
    history = ladder(scheduler, losses, Verdict.STOP)
    reports = [Report(records + i, 0, 1, {"value": loss}) for i, loss in enumerate(fresh)]
    gc.collect()  # a pass through millions of objects takes seconds, and would count to what is timed when it comes
    start = time.process_time()
    for report in reports:
        scheduler.judge(history, report)
    judged = time.process_time()
    for report in reports:
        verdict = scheduler.judge(history, report)
        history.extend([ev.Reported(report.trial, 1, report.metrics, 0.0, verdict=verdict)])
    recorded = time.process_time()
    promoting = ASHA(81, min_budget=1)
    history = ladder(promoting, losses, Verdict.PAUSE)
    promotions = min(VERDICTS, records // promoting.eta)  # more are not due
    promote(
        promoting, history, 2
    )  # what follows the history, copies and paces, catches up; a study does so by the report
    gc.collect()
    begun = time.process_time()
    promote(promoting, history, promotions - 2)
    promoted = time.process_time()
    return {
        "verdicts": len(fresh) / (judged - start),
        "recorded": len(fresh) / (recorded - judged),
        "promotions": (promotions - 2) / (promoted - begun),
    }


def promote(scheduler: Scheduler, history: History, times: int) -> None:
    for _ in range(times):
        task = scheduler.next(history)
        history.extend([ev.Started(task.trial, 1, 1, 0.0, budget=task.budget)])  # type: ignore[union-attr]


def optuna_seconds(losses: np.ndarray, fresh: list[float]) -> float:
    """Of one verdict of Optuna's pruner."""
    optuna = quiet_optuna()
    pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3)
    study = optuna.create_study(pruner=pruner, sampler=optuna.samplers.RandomSampler(seed=0))
    study.add_trials(
        optuna.trial.create_trial(
            state=optuna.trial.TrialState.PRUNED,
            params={"x": loss},
            distributions={"x": optuna.distributions.FloatDistribution(0, 1)},
            intermediate_values={1: loss},
            system_attrs={"completed_rung_0": loss},  # what the pruner itself leaves behind at a rung
            value=loss,
        )
        for loss in losses.tolist()
    )
    trials = [study.ask() for _ in fresh]
    for trial, loss in zip(trials, fresh, strict=True):
        trial.report(loss, 1)
    start = time.process_time()
    for trial in trials:
        trial.should_prune()
    return (time.process_time() - start) / len(fresh)


class Enough(Exception):
    """As many reports as were wanted."""


class Stopwatch:
    """Counts the reports of a study and times the last tenth before each mark."""

    def __init__(self, study: xs.Study, marks: list[int]) -> None:
        self.times: list[float] = []
        self._marks = marks
        self._record = study.report
        self._count = 0
        self._from = (0, 0.0)
        study.report = self  # type: ignore[method-assign, assignment]

    def __call__(self, *args: Any, **options: Any) -> Verdict:
        self._count += 1
        mark = self._marks[len(self.times)]
        if self._count == mark * 9 // 10:
            self._from = (self._count, time.process_time())
        if self._count == mark:
            count, since = self._from
            self.times.append((time.process_time() - since) / (self._count - count))
            if len(self.times) == len(self._marks):
                raise Enough
        return self._record(*args, **options)


def cluster(method: str, workers: int, reports: int) -> Found:
    problem = problems.get("curves-mlp")
    marks = [mark for mark in SIZES if mark <= reports]
    simulator = Simulator(problem, workers)
    study = xs.Study(problem.space, method=method, max_budget=81, metric=METRIC, seed=0, clock=lambda: simulator.now)
    watch, begun = Stopwatch(study, marks), time.process_time()
    with contextlib.suppress(Enough):
        run(study, simulator)
    return {
        "seconds": {str(mark): significant(spent) for mark, spent in zip(marks, watch.times, strict=True)},
        "trials": len(study.history.trials),
        "processor": significant(time.process_time() - begun),
    }
