"""What workers cost that share the cores: processor time of the same torch trials by one worker and by several.

    python -m benchmarks.threads [--trials 8] [--steps 1000] [--workers 2] [--rounds 3] [--write]

Each run trains the same small networks in worker processes. *one* is a single worker with one thread: the least that the trials
take. *shared* are several workers, each with its share of the cores, which is the default; *unshared* are several with all the
cores each (``cores=`` the number of cores), which is what libraries do if nobody tells them. Processor time counts everything
that the workers do, importing torch included. The machine should have nothing else to do.
"""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads.small_network import processor_seconds
from xstar.executors.devices import available_cores

NETWORK = "small network"
METHODS = ("one", "shared", "unshared")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--trials", type=int, default=8, help="trials per run")
    parser.add_argument("--steps", type=int, default=1000, help="steps of SGD per trial")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--methods", default=",".join(METHODS), help="some of them")


def tasks(options: Namespace) -> list[Task]:
    """A round is a seed in name only: every run trains the same networks."""
    return [
        Task.of(round_, NETWORK, method, trials=options.trials, steps=options.steps, workers=options.workers)
        for round_ in range(options.rounds)
        for method in chosen_from(options.methods, METHODS, "--methods")
    ]


def run(task: Task, options: Namespace) -> Found:
    workers = 1 if task.method == "one" else task["workers"]
    cores = {"one": 1, "shared": None, "unshared": available_cores()}[task.method]
    used, wall = processor_seconds(task["trials"], task["steps"], workers, cores)
    return {"processor": significant(used), "wall": significant(wall), "cores": available_cores()}


def report(results: Results, options: Namespace) -> Iterator[str]:
    rows = []
    by_one = [record.found["processor"] for record in results.of(NETWORK, "one")]
    for method in METHODS:
        if records := results.of(NETWORK, method):
            used = statistics.median(record.found["processor"] for record in records)
            wall = statistics.median(record.found["wall"] for record in records)
            beside = f"{used / statistics.median(by_one):.2f}×" if by_one else ""
            workers = 1 if method == "one" else records[0].task["workers"]
            rows.append((method, str(workers), f"{used:.1f} s", beside, f"{wall:.1f} s", str(len(records))))
    yield "Processor time of the workers and time on the wall, medians:"
    yield from ("", *table(["", "workers", "processor", "beside one", "wall", "runs"], rows))


EXPERIMENT = Experiment(
    name="threads",
    title="What workers cost that share the cores",
    result="threads.md",
    description=__doc__,
    parts={"threads": Part("Processor time", tasks, run, report, Libraries(also=("torch",)), fresh=True)},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
