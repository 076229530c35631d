"""What the quickstarts of four libraries find after 30, 60 and 100 evaluations, where nobody chooses anything.

    python -m benchmarks.search [--methods …] [--problems …] [--seeds N] [--write]

``workloads/quickstarts.py`` has them, and the problems. SMAC3's searches take minutes each; ``--methods`` leaves it out.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.records import Found, Task
from benchmarks.harness.report import Results, mean_ranks, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads import quickstarts

PACKAGES = {"optuna": "optuna", "hyperopt": "hyperopt", "smac": "smac"}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods", default=",".join(quickstarts.SEARCHES))
    parser.add_argument("--problems")
    parser.add_argument("--seeds", type=int, default=10)


def tasks(options: Namespace) -> list[Task]:
    methods = chosen_from(options.methods, quickstarts.SEARCHES, "--methods")
    known = quickstarts.tasks()
    problems = chosen_from(options.problems, known, "--problems") if options.problems else list(known)
    return [Task.of(seed, p, m) for seed in range(options.seeds) for p in problems for m in methods]


def run(task: Task, options: Namespace) -> Found:
    return quickstarts.search(task.method, task.problem, task.seed)


def report(results: Results, options: Namespace) -> Iterator[str]:
    libraries = [m for m in results.methods if m in ("xstar", *PACKAGES)]
    for title, methods in (("Among the libraries", libraries), ("With our other methods", results.methods)):
        columns = []
        for point in quickstarts.CHECKPOINTS:
            means, pairs = mean_ranks(results, lambda found, at=point: float(found["after"][str(at)]), methods)
            columns.append(means)
        if pairs:
            yield from (f"{title}: mean rank of the true loss over {pairs} searches.", "")
            rows = [(m, *(f"{c[i]:.2f}" for c in columns)) for i, m in enumerate(methods)]
            yield from (*table(["search", *(f"after {each}" for each in quickstarts.CHECKPOINTS)], rows), "")


EXPERIMENT = Experiment(
    name="search",
    title="Searches for which nobody chooses anything",
    result="search.md",
    description=__doc__,
    parts={
        "defaults": Part("Nobody chooses anything", tasks, run, report, Libraries(PACKAGES), records="defaults"),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
