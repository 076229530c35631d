"""Nobody chooses anything: each library as its quickstart calls it, on fifteen problems; mean rank after 30, 60 and 100 trials.

    python -m benchmarks.defaults [--methods xstar,optuna,hyperopt,smac] [--problems branin,…] [--seeds 10] [--write]

``workloads/quickstarts.py`` has the problems and the calls. ``xstar-random`` and ``xstar-gp`` show what the choice of a method
by xstar itself is worth; they are left out of the ranks among the libraries.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.records import Found, Task
from benchmarks.harness.report import Results, mean_ranks, row_of_cells, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads.quickstarts import CHECKPOINTS, SEARCHES, search
from benchmarks.workloads.quickstarts import tasks as problems_by_name

OURS = ("xstar", "xstar-random", "xstar-gp")
PEERS = tuple(name for name in SEARCHES if name not in OURS)
LIBRARIES = Libraries({name: name for name in PEERS})


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods", default=",".join(SEARCHES))
    parser.add_argument("--problems", default=",".join(problems_by_name()))
    parser.add_argument("--seeds", type=int, default=10)


def tasks(options: Namespace) -> list[Task]:
    methods = chosen_from(options.methods, SEARCHES, "--methods")
    problems = chosen_from(options.problems, problems_by_name(), "--problems")
    return [
        Task.of(seed, problem, method) for seed in range(options.seeds) for problem in problems for method in methods
    ]


def run(task: Task, options: Namespace) -> Found:
    return search(task.method, task.problem, task.seed)


def loss_after(count: int) -> Callable[[Found], float]:
    return lambda found: float(found["after"][str(count)])


def rank_rows(results: Results, methods: Sequence[str]) -> Iterator[str]:
    """Mean ranks over all problems, then problem by problem at the last checkpoint."""
    columns, pairs = [], 0
    for count in CHECKPOINTS:
        means, pairs = mean_ranks(results, loss_after(count), methods)
        columns.append(means)
    yield f"Mean rank over {pairs} pairs of problem and seed that all of them were run on; equals share their ranks."
    yield ""
    if pairs:
        rows = [(name, *(f"{column[place]:.2f}" for column in columns)) for place, name in enumerate(methods)]
        yield from table(["library", *(f"after {count}" for count in CHECKPOINTS)], rows)


def loss_rows(results: Results, count: int) -> Iterator[str]:
    value = loss_after(count)
    rows = [
        (
            problem,
            *row_of_cells(
                [[value(r.found) for r in results.of(problem, m)] for m in results.methods], "{:.4g} ± {:.2g}"
            ),
        )
        for problem in results.problems
    ]
    yield from table(["problem", *results.methods], rows)


def report(results: Results, options: Namespace) -> Iterator[str]:
    libraries = [name for name in results.methods if name == "xstar" or name in PEERS]
    own = [name for name in results.methods if name in (*OURS, "optuna")]
    yield from ("### Among the libraries", "", *rank_rows(results, libraries))
    yield from ("", "### What xstar's own choice is worth", "", *rank_rows(results, own))
    for count in CHECKPOINTS:
        yield from ("", f"### True loss of the incumbent after {count} trials", "")
        yield from ("Mean ± standard error over seeds; the lowest mean is bold.", "", *loss_rows(results, count))


EXPERIMENT = Experiment(
    name="defaults",
    title="Searches for which nobody chooses anything",
    result="defaults.md",
    description=__doc__,
    parts={"search": Part("Ranks", tasks, run, report, LIBRARIES)},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
