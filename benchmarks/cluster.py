"""Trials on many machines: xstar's Ray executor beside Ray Tune, and `xstar work` beside Optuna.

    python -m benchmarks.cluster --part trials [--slots 8] [--trials 800] [--tune-trials 64] [--rounds 3] [--write]
    python -m benchmarks.cluster --part drivers [--drivers 1,8,32] [--search-trials 96] [--seconds 1] [--write]

Both run the same objective on a cluster of two raylets on this machine, with one CPU per trial as Ray counts them, by random
search. *Short* trials report three times and do nothing else: trials per second are counted once every slot has had two trials.
*Long* trials take 0.5 s per report: the gap is the median time from the end of a trial to the beginning of the next one in the
same process. *Reports*: one trial that reports 300 times, and what each costs it. Ray Tune reuses its actors. Rounds alternate
between the libraries, so that a busy machine slows both down alike; medians are shown.

*Drivers*: so many programs on one study in a PostgreSQL server of their own, each with one trial of a second at a time:
`xstar work` with a GP, Optuna with its TPE and, where torch is installed, its GP.
"""

from __future__ import annotations

import importlib.util
import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from benchmarks.harness.experiment import Experiment, Part, main, numbers
from benchmarks.harness.records import Found, Task
from benchmarks.harness.report import Results, ratio, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads import search_drivers
from benchmarks.workloads.cluster_trials import EPOCHS, measure

SHORT, LONG, REPORTS, DRIVERS = "short", "long", "reports", "drivers"
SECONDS = {SHORT: 0.0, LONG: 0.5, REPORTS: 0.0}
MANY = 300
"""Reports of the one trial that reports much."""
METHODS = ("xstar", "ray-tune")
SAMPLERS = {"xstar": "xstar, GP", "GPSampler": "Optuna, GPSampler", "TPESampler": "Optuna, TPESampler"}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--slots", type=int, nargs="+", default=[8], help="trials at a time")
    parser.add_argument("--trials", type=int, default=800, help="short trials of xstar")
    parser.add_argument(
        "--tune-trials", type=int, default=64, help="short trials of Ray Tune, which runs a few per second"
    )
    parser.add_argument("--rounds", type=int, default=3, help="runs of each")
    parser.add_argument("--drivers", default="1,8,32", help="programs that share a study")
    parser.add_argument("--search-trials", type=int, default=96, help="least number of trials of such a study")
    parser.add_argument("--seconds", type=float, default=1.0, help="that a trial of such a study takes")
    parser.add_argument("--driver-rounds", type=int, default=1, help="runs of each")


def tasks(options: Namespace) -> list[Task]:
    found = []
    for round_ in range(options.rounds):
        for slots in options.slots:
            for method, trials in zip(METHODS, (options.trials, options.tune_trials), strict=True):
                found.append(Task.of(round_, SHORT, method, slots=slots, trials=max(trials, 4 * slots)))
                found.append(Task.of(round_, LONG, method, slots=slots, trials=4 * slots))
        found += [Task.of(round_, REPORTS, method, slots=2, trials=1) for method in METHODS]
    return found


def run(task: Task, options: Namespace) -> Found:
    epochs = MANY if task.problem == REPORTS else EPOCHS
    return measure(task.method, task["trials"], task["slots"], epochs, SECONDS[task.problem])


def report(results: Results, options: Namespace) -> Iterator[str]:
    rows = []
    for slots in options.slots:
        for problem, key, unit in ((SHORT, "rate", "trials/s"), (SHORT, "gap", "ms"), (LONG, "gap", "ms")):
            ours, theirs = (middle(results, problem, method, key, slots) for method in METHODS)
            if ours is not None and theirs is not None:
                better = ratio(ours, theirs) if unit == "trials/s" else ratio(theirs, ours)
                what = f"{problem} trials, {'per second' if key == 'rate' else 'freed slot to next start'}"
                rows.append((str(slots), what, shown(ours, unit), shown(theirs, unit), better))
    yield from table(["slots", "", "xstar", "Ray Tune", "better by"], rows, left=2)
    ours, theirs = (middle(results, REPORTS, method, "span", 2) for method in METHODS)
    if ours is not None and theirs is not None:
        each = [shown(span / MANY, "ms") for span in (ours, theirs)]
        yield ""
        yield f"A report costs the trial that makes it {each[0]}; with Ray Tune {each[1]}."


def driver_tasks(options: Namespace) -> list[Task]:
    torch = options.table_only or importlib.util.find_spec("torch") is not None
    samplers = [each for each in SAMPLERS if each != "GPSampler" or torch]
    return [
        Task.of(
            round_,
            DRIVERS,
            method,
            drivers=count,
            trials=max(options.search_trials, 6 * count),
            seconds=options.seconds,
        )
        for round_ in range(options.driver_rounds)
        for count in numbers(options.drivers)
        for method in samplers
    ]


def run_drivers(task: Task, options: Namespace) -> Found:
    trials = task["trials"] if task["drivers"] > 1 else task["trials"] // 2
    return search_drivers.measure(task.method, task["drivers"], trials, task["seconds"])


def report_drivers(results: Results, options: Namespace) -> Iterator[str]:
    yield f"Trials of {options.seconds:g} s, one at a time in each program. *Busy* is the share of the programs' time in which"
    yield "they trained, once each had begun two: the rest is deciding, and waiting for others who decide."
    rows = []
    for count in numbers(options.drivers):
        for method, name in SAMPLERS.items():
            if found := [record.found for record in results.of(DRIVERS, method, drivers=count)]:
                rate, busy = (statistics.median(each[key] for each in found) for key in ("rate", "busy"))
                rows.append((str(count), name, f"{found[0]['trials']}", f"{rate:,.3g}", f"{busy:.2f}"))
    yield from ("", *table(["programs", "", "trials", "trials/s", "busy"], rows, left=2))


def middle(results: Results, problem: str, method: str, key: str, slots: int) -> float | None:
    found = [record.found[key] for record in results.of(problem, method, slots=slots) if record.found[key] is not None]
    return statistics.median(found) if found else None


def shown(value: float, unit: str) -> str:
    return f"{value:,.3g}" if unit == "trials/s" else f"{value * 1e3:,.3g} ms"


EXPERIMENT = Experiment(
    name="cluster",
    title="Trials on many machines",
    result="cluster.md",
    description=__doc__,
    parts={
        "trials": Part("Beside Ray Tune", tasks, run, report, Libraries({"ray-tune": "ray"}, ("ray",)), fresh=True),
        "drivers": Part(
            "Programs on one study",
            *(driver_tasks, run_drivers, report_drivers),
            Libraries(dict.fromkeys(("GPSampler", "TPESampler"), "optuna"), ("psycopg", "sqlalchemy")),
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
