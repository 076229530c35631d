"""What the library costs besides the training: trials, starting, sharing, distances; beside Optuna and the plain way.

    python -m benchmarks.cost --part trials|startup|sharing|otmann [--rounds N] [--write]

``trials``     one ask and one tell of random search over four parameters, in memory (processor time) and in SQLite (time on the
               wall: both libraries wait for the disk)
``startup``    processor time of a Python process that imports the library, prints its version, makes a first small search, and
               one with a model; from compiled bytecode, Python's own start included
``sharing``    trials per second of so many programs that share one study (``workloads/drivers.py``)
``otmann``     distances of networks per second on one thread, beside one call of ``ot.emd2`` for each pair and ν_str; by layers

Rounds alternate between the libraries, so that a busy machine slows both down alike; medians are told.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.harness.experiment import Experiment, Part, main, numbers
from benchmarks.harness.machine import ROOT
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, ratio, table
from benchmarks.harness.run import Libraries

BOTH = ("xstar", "optuna")
OPTUNA = Libraries({"optuna": "optuna"})


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--trials", type=int, help="of a study")
    parser.add_argument("--drivers", default="1,4,8,16,64", help="programs that share a study; SQLite: those up to 8")


def medians(results: Results, problem: str, what: str, **settings: object) -> list[float]:
    """Of both libraries; empty where one of them is not on record."""
    both = [[record.found[what] for record in results.of(problem, method, **settings)] for method in BOTH]
    return [statistics.median(each) for each in both] if all(both) else []


# ---------------------------------------------------------------- a trial

MEMORY, DISK = "in memory", "SQLite"


def trial_tasks(options: Namespace) -> list[Task]:
    """A round is a seed in name only. Optuna in SQLite takes 20 ms a trial."""
    few = options.trials // 10
    made = [
        Task.of(round_, MEMORY, method, measure="trial", trials=few)
        for round_ in range(options.rounds)
        for method in BOTH
    ]
    return [
        *made,
        Task.of(0, DISK, "xstar", measure="trial", trials=few),
        Task.of(0, DISK, "optuna", measure="trial", trials=2_000),
    ]


def run_trials(task: Task, options: Namespace) -> Found:
    from benchmarks.workloads.trial_cost import optuna_trials, xstar_trials

    with tempfile.TemporaryDirectory() as folder:
        storage = Path(folder) / "study.db" if task.problem == DISK else None
        clock = time.perf_counter if storage else time.process_time
        measured = xstar_trials if task.method == "xstar" else optuna_trials
        return {"seconds": significant(measured(task["trials"], storage, clock))}


def trial_report(results: Results, options: Namespace) -> Iterator[str]:
    found = {where: medians(results, where, "seconds", measure="trial") for where in (MEMORY, DISK)}
    rows = [
        (w, *(f"{each * 1e6:,.1f} µs" for each in both), ratio(both[1], both[0])) for w, both in found.items() if both
    ]
    yield from table(["a trial", "xstar", "Optuna", "ratio"], rows)


# ---------------------------------------------------------------- starting

VERSION = "import sys; sys.argv = ['{0}', '--version']; from {0}.cli{1} import main; main()"
XSTAR_SEARCH = "import xstar as xs; xs.minimize(lambda t: t['x'] ** 2, xs.Space(x=xs.Float(0, 1)), trials={})"
OPTUNA_SEARCH = (
    "import optuna; optuna.logging.set_verbosity(40);"
    "optuna.create_study().optimize(lambda t: t.suggest_float('x', 0, 1) ** 2, n_trials={})"
)
PROGRAMS = {
    "import": {"xstar": "import xstar", "optuna": "import optuna"},
    "version": {"xstar": VERSION.format("xstar", ".entry"), "optuna": VERSION.format("optuna", "")},
    "first trials": {"xstar": XSTAR_SEARCH.format(3), "optuna": OPTUNA_SEARCH.format(3)},
    "first model": {"xstar": XSTAR_SEARCH.format(15), "optuna": OPTUNA_SEARCH.format(15)},
}
TIMES = 5
"""Processes whose median a round takes."""


def startup_tasks(options: Namespace) -> list[Task]:
    return [
        Task.of(round_, what, method, times=TIMES)
        for round_ in range(options.rounds)
        for what in PROGRAMS
        for method in BOTH
    ]


def run_startup(task: Task, options: Namespace) -> Found:
    code = PROGRAMS[task.problem][task.method]
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPATH": str(ROOT / "src"), "PYTHONPYCACHEPREFIX": folder}
        process_time(code, environment)  # compiles
        return {
            "seconds": significant(statistics.median(process_time(code, environment) for _ in range(task["times"])))
        }


def process_time(code: str, environment: dict[str, str]) -> float:
    """Seconds of processor time, user and system, of a Python process that runs the code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def startup_report(results: Results, options: Namespace) -> Iterator[str]:
    found = {what: medians(results, what, "seconds") for what in PROGRAMS}
    rows = [
        (w, *(f"{each * 1e3:.0f} ms" for each in both), f"{both[0] / both[1]:.2f}") for w, both in found.items() if both
    ]
    yield from table(["", "xstar", "Optuna", "xstar / Optuna"], rows)


# ---------------------------------------------------------------- programs that share a study

DATABASES = {"postgresql": "PostgreSQL", "sqlite": "SQLite"}


def sharing_tasks(options: Namespace) -> list[Task]:
    return [
        Task.of(round_, database, what, drivers=count, searcher=searcher)
        for round_ in range(options.rounds)
        for database in DATABASES
        for searcher in ("random", "gp")
        for count in numbers(options.drivers)
        for what in BOTH
        if count <= 8 or database == "postgresql"
    ]


def run_sharing(task: Task, options: Namespace) -> Found:
    from benchmarks.workloads import drivers

    return drivers.measure(task.problem, task.method, task["drivers"], task["searcher"], task.seed)


def sharing_report(results: Results, options: Namespace) -> Iterator[str]:
    for database, title in DATABASES.items():
        for searcher in ("random", "gp"):
            found = {
                n: medians(results, database, "rate", drivers=n, searcher=searcher) for n in numbers(options.drivers)
            }
            rows = [(str(n), *(f"{each:,.1f}" for each in both), ratio(*both)) for n, both in found.items() if both]
            if rows:
                heads = ["programs", "xstar, trials/s", "Optuna, trials/s", "ratio"]
                yield from (f"{title}, {searcher}:", "", *table(heads, rows), "")


# ---------------------------------------------------------------- distances of networks

LAYERS = (10, 20, 40, 60, 200, 500)
NETWORKS = 40
PLAIN_UP_TO = 60
"""Layers up to which the plain way is measured, too: it takes minutes above."""


def otmann_tasks(options: Namespace) -> list[Task]:
    return [
        Task.of(0, "pairs", "both", layers=n, networks=NETWORKS if n <= PLAIN_UP_TO else 6, rounds=options.rounds)
        for n in LAYERS
    ]


def run_otmann(task: Task, options: Namespace) -> Found:
    return pairs(task["layers"], task["networks"], task["rounds"])


def pairs(size: int, networks: int, rounds: int) -> Found:
    """Pairs per second of both ways, medians over the rounds; half of the networks are MLPs, half CNNs."""
    from benchmarks.workloads.plain_otmann import Plain, random_cnn, random_mlp
    from xstar.nets import STRUCTURE, distances

    rng = np.random.default_rng(size)
    groups = [[make(rng, size) for _ in range(networks)] for make in (random_mlp, random_cnn)]
    plain = [Plain(group) for group in groups] if size <= PLAIN_UP_TO else []
    indices = [(i, j) for i in range(networks) for j in range(i)]

    def ours() -> list[np.ndarray]:
        return [distances(group, threads=1) for group in groups]

    def theirs() -> list[list[list[float]]]:
        return [[[one.distance(i, j, nu) for nu in STRUCTURE] for i, j in indices] for one in plain]

    found = {"xstar": statistics.median(seconds(ours) for _ in range(rounds))}
    if plain:
        for mine, other in zip(ours(), theirs(), strict=True):
            np.testing.assert_allclose([mine[i, j] for i, j in indices], other, rtol=1e-9)
        found["plain"] = statistics.median(seconds(theirs) for _ in range(rounds))
    return {name: significant(2 * len(indices) / each) for name, each in found.items()}


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def otmann_report(results: Results, options: Namespace) -> Iterator[str]:
    yield "Pairs of networks per second, four values of ν_str each, on one thread:"
    rows = []
    for record in results.of("pairs"):
        plain = record.found.get("plain")
        other = ("–", "–") if plain is None else (f"{plain:,.0f}", ratio(record.found["xstar"], plain))
        rows.append((str(record.task["layers"]), f"{record.found['xstar']:,.3g}", *other))
    yield from ("", *table(["layers", "xstar", "plain", "faster"], rows))


EXPERIMENT = Experiment(
    name="cost",
    title="What the library costs",
    result="cost.md",
    description=__doc__,
    parts={
        "trials": Part(
            *("A trial", trial_tasks, run_trials, trial_report, OPTUNA),
            defaults={"rounds": 5, "trials": 100_000},
            timed=True,
            records="overhead",
        ),
        "startup": Part(
            *("Starting", startup_tasks, run_startup, startup_report, OPTUNA),
            defaults={"rounds": 5},
            timed=True,
            records="startup",
        ),
        "sharing": Part(
            "Programs that share a study",
            *(
                sharing_tasks,
                run_sharing,
                sharing_report,
                Libraries({"optuna": "optuna"}, also=("psycopg", "sqlalchemy")),
            ),
            defaults={"rounds": 2},
            timed=True,
            records="sharing",
        ),
        "otmann": Part(
            *("Distances of networks", otmann_tasks, run_otmann, otmann_report, Libraries(also=("POT",))),
            defaults={"rounds": 3},
            timed=True,
            records="otmann",
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
