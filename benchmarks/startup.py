"""How long one waits before anything happens: import, version and a first search, beside Optuna in the same run.

    python -m benchmarks.startup [--rounds 5] [--times 5] [--write]

Processor time of a whole Python process, its start included, from compiled bytecode as an installed package has it. A round
alternates between the libraries, so that a busy machine slows both down alike; a process is started once for the bytecode, then
``--times`` times, and the median counts. ``empty`` is Python itself.

==============  ====================================================================================================
import          ``import xstar``, ``import optuna``
version         ``xstar --version``, ``optuna --version``: what the installed programs call
first trials    a search of one parameter with 3 trials, everything at its default
first model     the same with 15 trials: xstar's Gaussian process and Optuna's TPE have begun
==============  ====================================================================================================
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from benchmarks.harness.experiment import Experiment, Part, main
from benchmarks.harness.machine import ROOT
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, table
from benchmarks.harness.run import Libraries

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


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=5, help="rounds; each measures every program")
    parser.add_argument("--times", type=int, default=5, help="processes per program and round")


def tasks(options: Namespace) -> list[Task]:
    """A round is a seed in name only."""
    wanted = []
    for round_ in range(options.rounds):
        wanted.append(Task.of(round_, "empty", "xstar", times=options.times))
        wanted += [
            Task.of(round_, what, method, times=options.times) for what, both in PROGRAMS.items() for method in both
        ]
    return wanted


def run(task: Task, options: Namespace) -> Found:
    code = PROGRAMS[task.problem][task.method] if task.problem in PROGRAMS else "pass"
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPATH": str(ROOT / "src"), "PYTHONPYCACHEPREFIX": folder}
        processor_time(code, environment)  # compiles
        times = [processor_time(code, environment) for _ in range(task["times"])]
    return {"seconds": significant(statistics.median(times))}


def processor_time(code: str, environment: dict[str, str]) -> float:
    """Seconds of processor time, user and system, of a Python process that runs the code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def report(results: Results, options: Namespace) -> Iterator[str]:
    rows = []
    for what in PROGRAMS:
        both = [results.of(what, method) for method in ("xstar", "optuna")]
        if all(both):
            ours, theirs = (statistics.median(record.found["seconds"] for record in records) for records in both)
            rows.append((what, f"{ours * 1e3:.0f} ms", f"{theirs * 1e3:.0f} ms", f"{ours / theirs:.2f}"))
    empty = [record.found["seconds"] for record in results.of("empty", "xstar")]
    yield from table(["", "xstar", "Optuna", "xstar / Optuna"], rows)
    yield ""
    if empty:
        yield f"Python itself: {statistics.median(empty) * 1e3:.0f} ms, which is part of every figure."


EXPERIMENT = Experiment(
    name="startup",
    title="How long one waits before anything happens",
    result="startup.md",
    description=__doc__,
    parts={"start": Part("Processor time of a process", tasks, run, report, Libraries({"optuna": "optuna"}))},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
