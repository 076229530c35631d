"""How many workers can one program keep busy? Methods on a simulated cluster, with the time that their decisions really take.

    python -m benchmarks.scaling [--methods random,asha,mobster,…] [--workers 100,1000,10000] [--epoch 1,10,60] [--write]
    python -m benchmarks.scaling --methods mobster --workers 1000 --epoch 10 --most 1300      # slow ones need fewer trials

One program makes all decisions, one after the other, while the workers train on; a worker that waits for it is idle. The clock
of the simulation advances by the processor time that a decision takes. Training is that of ``curves-mlp``, 27 epochs at the
full budget, with so many seconds per epoch in the median. A method with a model is asked for as many trials beyond the first
round as minutes allow: the first trial of every worker comes without a model, and says nothing about it.
"""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import tables as problems
from benchmarks.harness.experiment import Experiment, Part, chosen_from, main, names, numbers
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, table
from benchmarks.harness.run import Libraries
from tools.svg import Series, line_chart
from xstar.schedulers import ASHA
from xstar.searchers import DNGO
from xstar.study import Study
from xstar.testing.problems import Curve, Problem
from xstar.testing.simulate import simulate

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
MODELS = ("mobster", "dngo under asha")
PICTURE = Path("docs/assets/scaling.svg")
PICTURED = 10.0
"""Seconds per epoch in the picture."""


@dataclass(frozen=True)
class Paced:
    """A problem at another pace."""

    problem: Problem
    factor: float

    def __getattr__(self, name: str) -> Any:
        return getattr(self.problem, name)

    def curve(self, config: Mapping[str, Any], seed: int) -> Curve:
        curve = self.problem.curve(config, seed)
        return Curve(curve.losses, [seconds * self.factor for seconds in curve.seconds])


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
    parser.add_argument(
        "--modelled", type=int, default=1000, help="trials beyond the first of every worker, with a model"
    )


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
    if task.method in MODELS:
        trials = min(trials, workers + options.modelled)
    return measure(problem, task.method, workers, trials)


def measure(problem: Any, method: str, workers: int, trials: int) -> Found:
    start = time.process_time()
    study = simulate(problem, **METHODS[method], workers=workers, trials=trials, count_decisions=True)
    decided = time.process_time() - start
    begun = [trial.runs.asked_at for trial in study.history.trials]
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


def seconds_trained(study: Study, problem: Any, end: float) -> float:
    """How long the workers trained up to a moment, in all: between two events of a trial, and what was under way then."""
    spent = 0.0
    for trial in study.history.trials:
        at = [report.at for report in trial.reports if report.at <= end]
        curve = problem.curve(trial.config, trial.number).seconds
        spent += curve[len(at) - 1] if at else 0.0
        under_way = curve[len(at)] - (curve[len(at) - 1] if at else 0.0) if len(at) < len(curve) else 0.0
        begun = at[-1] if at else trial.runs.asked_at
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


def figures(results: Results, options: Namespace) -> dict[Path, str]:
    """Busy workers over their number; a line joins the simulations of a method, and ends at the last that was made."""
    series = []
    for method in results.methods:
        found = {r.task["workers"]: r.found["busy"] for r in results.of(method=method, epoch=PICTURED)}
        if found:
            series.append(Series(method, sorted(found), [found[workers] for workers in sorted(found)]))
    if not series:
        return {}
    title, ticks = "Share of the workers' time in which they trained", numbers(options.workers)
    subtitle = f"one program decides for all; epochs of {PICTURED:g} s, most trials end after one"
    chart = line_chart(
        series, title=title, subtitle=subtitle, x_label="workers", log_x=True, x_ticks=ticks, y_range=(0.0, 1.0)
    )
    return {PICTURE: chart}


EXPERIMENT = Experiment(
    name="scaling",
    title="How many workers one program keeps busy",
    result="scaling.md",
    description=__doc__,
    parts={
        "workers": Part("Busy workers", tasks, run, report, Libraries(), figures=figures),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
