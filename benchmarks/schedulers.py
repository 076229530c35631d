"""What a scheduling decision costs when a study is large, beside Optuna's successive-halving pruner in the same run.

    python -m benchmarks.schedulers [--records 1000000] [--reports 1000000] [--workers 10000]

1. Verdicts per second of stopping ASHA with 10⁴ … 10⁶ records in the ladder, and of the same verdicts with the record put
   in its place (what a study does); promotions per second of ASHA likewise.
2. Optuna's ``SuccessiveHalvingPruner`` on the same 10⁴ records, as a ratio. It goes through all trials for every verdict, so
   more records would only take longer.
3. A simulated cluster: time per report while the study grows to 10⁶ reports.

Times are those of the processor, not of the clock on the wall: everything here computes on one core, and the machine is shared.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.machine import describe_machine
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


def per_second(count: int, seconds: float) -> str:
    return f"{count / seconds:>11,.0f}/s"


def verdicts(records: int, fresh: np.ndarray) -> float:
    """Print decisions per second with so many records in the ladder; returns seconds per verdict."""
    losses = np.random.default_rng(0).random(records)
    scheduler = StoppingASHA(81)
    history = ladder(scheduler, losses, Verdict.STOP)
    reports = [Report(records + i, 0, 1, {"value": loss}, 0.0) for i, loss in enumerate(fresh.tolist())]
    start = time.process_time()
    for report in reports:
        scheduler.judge(history, report)
    judged = time.process_time() - start
    start = time.process_time()
    for report in reports:
        verdict = scheduler.judge(history, report)
        history.extend([ev.Reported(report.trial, 1, report.metrics, 0.0, verdict=verdict)])
    recorded = time.process_time() - start
    promoting = ASHA(81)
    history = ladder(promoting, losses, Verdict.PAUSE)
    promotions = min(VERDICTS, records // promoting.eta)  # more are not due
    start = time.process_time()
    for _ in range(promotions):
        task = promoting.next(history)
        history.extend([ev.Started(task.trial, 1, 1, 0.0, budget=task.budget)])  # type: ignore[union-attr]
    promoted = time.process_time() - start
    count = len(reports)
    print(
        f"{records:>9,} records   verdicts {per_second(count, judged)}   with the record put in place "
        f"{per_second(count, recorded)}   promotions, each carried out {per_second(promotions, promoted)}"
    )
    return judged / count


def optuna_verdicts(records: int, fresh: np.ndarray, ours: float) -> None:
    import optuna
    from optuna.distributions import FloatDistribution
    from optuna.trial import TrialState, create_trial

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3)
    study = optuna.create_study(pruner=pruner, sampler=optuna.samplers.RandomSampler(seed=0))
    losses = np.random.default_rng(0).random(records)
    study.add_trials(
        create_trial(
            state=TrialState.PRUNED,
            params={"x": loss},
            distributions={"x": FloatDistribution(0, 1)},
            intermediate_values={1: loss},
            system_attrs={"completed_rung_0": loss},  # what the pruner itself leaves behind at a rung
            value=loss,
        )
        for loss in losses.tolist()
    )
    few = fresh[:100].tolist()
    trials = [study.ask() for _ in few]
    for trial, loss in zip(trials, few, strict=True):
        trial.report(loss, 1)
    start = time.process_time()
    for trial in trials:
        trial.should_prune()
    seconds = (time.process_time() - start) / len(few)
    print(
        f"{records:>9,} records   Optuna's SuccessiveHalvingPruner {per_second(1, seconds)} "
        f"({seconds * 1e6:,.0f} µs each)   xstar is {seconds / ours:,.0f}× faster on the same records"
    )


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


def cluster(method: str, workers: int, reports: int) -> None:
    problem = problems.get("curves-mlp")
    marks = [mark for mark in (10_000, 100_000, 1_000_000) if mark <= reports]
    simulator = Simulator(problem, workers)
    study = xs.Study(problem.space, method=method, max_budget=81, metric=METRIC, seed=0, clock=lambda: simulator.now)
    watch, begin = Stopwatch(study, marks), time.process_time()
    with contextlib.suppress(Enough):
        run(study, simulator)
    times = watch.times
    line = "   ".join(f"at {mark:,}: {t * 1e6:.1f} µs" for mark, t in zip(marks, times, strict=True))
    print(
        f"{method:<10} {workers:,} workers   time per report {line}   largest/smallest {max(times) / min(times):.2f}×   "
        f"{len(study.history.trials):,} trials, {time.process_time() - begin:.0f} s in all"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--reports", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=10_000)
    options = parser.parse_args()
    print(describe_machine("optuna", "sortedcontainers"))
    fresh = np.random.default_rng(1).random(VERDICTS)
    ours = verdicts(10_000, fresh)
    optuna_verdicts(10_000, fresh, ours)
    for records in (100_000, 1_000_000):
        if records <= options.records:
            verdicts(records, fresh)
    for method in ("asha", "asha-stop"):
        cluster(method, options.workers, options.reports)


if __name__ == "__main__":
    main()
