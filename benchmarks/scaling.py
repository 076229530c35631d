"""How many workers can one program keep busy? Methods on a simulated cluster, with the time that their decisions really take.

    python -m benchmarks.scaling [--methods random,asha,mobster,…] [--workers 100,1000,10000] [--epoch 1,10,60] [--write]
    python -m benchmarks.scaling --methods mobster --workers 1000 --epoch 10 --most 1300      # slow ones need fewer trials

One program makes all decisions, one after the other, while the workers train on; a worker that waits for it is idle. The clock
of the simulation advances by the processor time that a decision takes. Training is that of ``curves-mlp``, 27 epochs at the
full budget, with so many seconds per epoch in the median.
"""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main, names, numbers
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, table
from benchmarks.harness.run import Libraries
from xstar import problems
from xstar.problems import Curve, Problem
from xstar.schedulers import ASHA
from xstar.searchers import DNGO
from xstar.simulation import simulate
from xstar.space import Config, Space
from xstar.study import Study

MAX_BUDGET = 27
ROUNDS = 3
"""Trials that a worker begins on average before the simulation ends."""
METHODS: Mapping[str, Mapping[str, Any]] = {
    "random": {"method": "random"},
    "asha": {"method": "asha"},
    "bohb": {"method": "bohb"},
    "mobster": {"method": "mobster"},
    "dngo under asha": {"searcher": DNGO(), "scheduler": ASHA(MAX_BUDGET)},
}


@dataclass(frozen=True)
class Paced:
    """A problem at another pace."""

    problem: Problem
    factor: float
    name: str = "curves-mlp"

    @property
    def space(self) -> Space:
        return self.problem.space

    @property
    def budgets(self) -> tuple[int, ...]:
        return self.problem.budgets

    @property
    def unit(self) -> str:
        return self.problem.unit

    @property
    def optimum(self) -> float:
        return self.problem.optimum

    @property
    def best(self) -> Config:
        return self.problem.best

    def curve(self, config: Mapping[str, Any], seed: int) -> Curve:
        curve = self.problem.curve(config, seed)
        return Curve(curve.losses, [seconds * self.factor for seconds in curve.seconds])

    def loss(self, config: Mapping[str, Any]) -> float:
        return self.problem.loss(config)


def paced(epoch: float) -> Paced:
    """The problem with an epoch of so many seconds in the median over its space."""
    problem, rng = problems.get("curves-mlp", max_budget=MAX_BUDGET), np.random.default_rng(0)
    drawn = [problem.curve(problem.space.sample(rng), 0).seconds[0] for _ in range(301)]
    return Paced(problem, epoch / statistics.median(drawn))


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--workers", default="100,1000,10000")
    parser.add_argument("--epoch", default="1,10,60", help="seconds that an epoch takes")
    parser.add_argument("--most", type=int, default=30_000, help="trials after which a simulation ends in any case")


def tasks(options: Namespace) -> list[Task]:
    methods = chosen_from(options.methods, METHODS, "--methods")
    return [
        Task.of(0, "curves-mlp", method, workers=workers, epoch=float(epoch))
        for workers in numbers(options.workers)
        for epoch in names(options.epoch)
        for method in methods
    ]


def run(task: Task, options: Namespace) -> Found:
    problem, workers = paced(task["epoch"]), task["workers"]
    trials = min(ROUNDS * workers, options.most)
    start = time.process_time()
    study = simulate(problem, **METHODS[task.method], workers=workers, trials=trials, count_decisions=True)
    decided = time.process_time() - start
    begun = [trial.asked_at for trial in study.history.trials]
    last = begun[-1]
    trained = seconds_trained(study, problem, last)
    return significant(
        {
            "busy": trained / (workers * last) if last else 1.0,
            "decision": decided / len(begun),
            "filled": begun[min(workers, len(begun)) - 1],
            "trials": len(begun),
        }
    )


def seconds_trained(study: Study, problem: Paced, end: float) -> float:
    """How long the workers trained up to a moment, in all: between two events of a trial, and what was under way then."""
    spent = 0.0
    for trial in study.history.trials:
        at = [report.at for report in trial.reports if report.at <= end]
        curve = problem.curve(trial.config, trial.number).seconds
        spent += curve[len(at) - 1] if at else 0.0
        under_way = curve[len(at)] - (curve[len(at) - 1] if at else 0.0) if len(at) < len(curve) else 0.0
        begun = at[-1] if at else trial.asked_at
        if len(trial.reports) > len(at) and trial.reports[len(at)].at - begun <= 1.5 * under_way:
            spent += min(end - begun, under_way)
    return spent


def report(results: Results, options: Namespace) -> Iterator[str]:
    yield "Share of the workers' time in which they trained, from the start until the last trial began. The processor time is"
    yield "that of the program for each trial, promotions and reports included. 1.00 is a cluster that never waits."
    epochs = sorted({record.task["epoch"] for record in results.records})
    rows = []
    for workers in sorted({record.task["workers"] for record in results.records}):
        for method in results.methods:
            found = {r.task["epoch"]: r.found for r in results.of(method=method, workers=workers)}
            if found:
                decision = statistics.median(each["decision"] for each in found.values())
                cells = [f"{found[epoch]['busy']:.2f}" if epoch in found else "–" for epoch in epochs]
                trials = "–".join(f"{count:,}" for count in sorted({each["trials"] for each in found.values()}))
                rows.append((f"{workers:,}", method, trials, f"{1e3 * decision:.3g} ms", *cells))
    heads = [
        "workers",
        "method",
        "trials",
        "processor time a trial",
        *(f"busy, {epoch:g} s an epoch" for epoch in epochs),
    ]
    yield from ("", *table(heads, rows, left=2))


EXPERIMENT = Experiment(
    name="scaling",
    title="How many workers one program keeps busy",
    result="scaling.md",
    description=__doc__,
    parts={"workers": Part("Busy workers", tasks, run, report, Libraries())},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
