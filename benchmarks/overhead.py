"""What a trial costs besides its training: ask + tell of random search, beside Optuna in the same run.

    python -m benchmarks.overhead [--trials 10000] [--optuna-sqlite-trials 10000] [--growth 100000] [--rounds 5] [--write]

Time per trial of both libraries in memory and in SQLite with their ratio; xstar's time per trial at 1,000, 10,000 and 100,000
trials, measured over the last tenth; and the memory per trial. Both libraries search the same four parameters with their random
sampler and default settings of their storage. Rounds alternate between the libraries so that a busy machine slows both down
alike; medians are reported. In memory the time is that of the processor, since both libraries compute on one core and the
machine may be shared; in SQLite it is the time on the wall, since both wait for the disk.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness.experiment import Experiment, Part, main
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, ratio, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads.trial_cost import SIZES, growth, memory, optuna_trials, xstar_trials

MEMORY, DISK = "in memory", "SQLite"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--trials", type=int, default=10_000, help="trials per run")
    parser.add_argument(
        "--optuna-sqlite-trials",
        type=int,
        default=10_000,
        help="Optuna in SQLite takes 40 ms a trial: 10,000 are 7 minutes",
    )
    parser.add_argument("--growth", type=int, default=100_000, help="largest study of the growth table")
    parser.add_argument("--rounds", type=int, default=5, help="rounds in memory; SQLite runs once")


def tasks(options: Namespace) -> list[Task]:
    """A round is a seed in name only: both samplers are seeded with 0 each time."""
    wanted = [
        Task.of(round_, MEMORY, method, measure="trial", trials=options.trials)
        for round_ in range(options.rounds)
        for method in ("xstar", "optuna")
    ]
    wanted += [
        Task.of(0, DISK, "xstar", measure="trial", trials=options.trials),
        Task.of(0, DISK, "optuna", measure="trial", trials=options.optuna_sqlite_trials),
    ]
    wanted += [Task.of(0, where, "xstar", measure="growth", trials=options.growth) for where in (MEMORY, DISK)]
    return [*wanted, Task.of(0, MEMORY, "xstar", measure="memory", trials=options.growth)]


def run(task: Task, options: Namespace) -> Found:
    gc.collect()
    with tempfile.TemporaryDirectory() as folder:
        storage = Path(folder) / "study.db" if task.problem == DISK else None
        clock = time.perf_counter if storage else time.process_time
        if task["measure"] == "memory":
            return {"bytes": round(memory(task["trials"]))}
        if task["measure"] == "growth":
            return {"seconds": growth(task["trials"], storage, clock)}
        measured = xstar_trials if task.method == "xstar" else optuna_trials
        return {"seconds": significant(measured(task["trials"], storage, clock))}


def report(results: Results, options: Namespace) -> Iterator[str]:
    rows = []
    for where in (MEMORY, DISK):
        both = [results.of(where, method, measure="trial") for method in ("xstar", "optuna")]
        if all(both):
            ours, theirs = (statistics.median(r.found["seconds"] for r in records) for records in both)
            trials = [f"{records[0].task['trials']:,}" for records in both]
            rows.append((where, f"{ours * 1e6:.1f} µs", f"{theirs * 1e6:.1f} µs", ratio(theirs, ours), *trials))
    yield "Time per trial, ask and tell together:"
    yield from ("", *table(["", "xstar", "Optuna", "ratio", "trials", "trials of Optuna"], rows), "")
    grown = {record.task.problem: record.found["seconds"] for record in results.of(measure="growth")}
    sizes = [str(size) for size in SIZES if size <= options.growth]
    lines = [
        (where, *(f"{of[size] * 1e6:.1f} µs" for size in sizes), f"{max(of.values()) / min(of.values()):.2f}×")
        for where, of in grown.items()
    ]
    yield "xstar's time per trial once a study has so many:"
    yield from ("", *table(["", *(f"{int(size):,}" for size in sizes), "largest/smallest"], lines), "")
    for record in results.of(measure="memory"):
        yield f"Memory: {record.found['bytes']:,} bytes per trial at {record.task['trials']:,} trials."


EXPERIMENT = Experiment(
    name="overhead",
    title="What a trial costs besides its training",
    result="overhead.md",
    description=__doc__,
    parts={"trials": Part("Time per trial", tasks, run, report, Libraries({"optuna": "optuna"}))},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
