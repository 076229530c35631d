"""How good searches at the full budget are after 50 and 100 evaluations, beside other libraries.

    python -m benchmarks.search [--part quality|baselines|defaults] [--methods …] [--problems …] [--seeds N] [--write]

``quality``    the GP beside other libraries' best, on functions and tables; where a target is reached
``baselines``  TPE, the random forest and CMA-ES, each beside its best-known implementation
``defaults``   the quickstarts of four libraries: what is found for which nobody chooses anything (``workloads/quickstarts.py``)

The methods are described in ``harness/methods.py``. SMAC3's searches take minutes each; ``--methods`` names it.
"""

from __future__ import annotations

import math
import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.methods import LIBRARIES, METHODS, run_search
from benchmarks.harness.problems import FULL_BUDGET, TARGETS, available
from benchmarks.harness.records import Found, Task, arrival, best_after
from benchmarks.harness.report import Results, mean_and_error, mean_ranks, median_of, row_of_cells, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads import quickstarts

USUAL = ("xstar-gp", "xstar-random", "optuna-tpe", "optuna-gp", "smac", "botorch")
PAIRS = {"xstar-tpe": "optuna-tpe", "xstar-forest": "smac", "xstar-cma": "cmaes"}
"""Ours, and the best-known implementation."""
BASELINES = ("xstar-tpe", "optuna-tpe", "xstar-forest", "smac", "xstar-cma", "cmaes", "xstar-random")
FEW = (
    *("branin", "hartmann6", "rosenbrock4", "levy6"),
    *("hpolib-svm", "fcnet-naval", "fcnet-protein", "nb201-cifar100"),
)
PACKAGES = {"optuna": "optuna", "hyperopt": "hyperopt", "smac": "smac"}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods")
    parser.add_argument("--problems")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--evaluations", type=int)


def tasks(options: Namespace) -> list[Task]:
    methods, problems = chosen_from(options.methods, METHODS, "--methods"), available(options.problems)
    return [
        Task.of(seed, problem, method, evaluations=options.evaluations)
        for seed in range(options.seeds)
        for problem in problems
        for method in methods
    ]


def best(results: Results, problem: str, method: str, count: int) -> list[float]:
    """The lowest loss of the first ``count`` evaluations, one per seed."""
    return [best_after(record.found["best"], count) for record in results.of(problem, method)]


def report(results: Results, options: Namespace) -> Iterator[str]:
    counts = (options.evaluations // 2, options.evaluations)
    columns = []
    for count in counts:
        means, pairs = mean_ranks(results, lambda found, at=count: best_after(found["best"], at), results.methods)
        columns.append(means)
    yield f"Mean rank over {pairs} pairs of problem and seed that all methods were run on, and milliseconds per decision:"
    spent = [statistics.mean(r.found["processor"] for r in results.of(method=method)) for method in results.methods]
    if pairs:
        rows = [(m, *(f"{c[i]:.2f}" for c in columns), f"{spent[i]:.3g}") for i, m in enumerate(results.methods)]
        yield from ("", *table(["method", *(f"after {count}" for count in counts), "ms"], rows))
    yield from ("", f"Best loss after {counts[1]}, mean ± standard error; the lowest mean is bold:", "")
    rows = [(p, *row_of_cells([best(results, p, m, counts[1]) for m in results.methods])) for p in results.problems]
    yield from table(["problem", *results.methods], rows)
    if named := [problem for problem in TARGETS if problem in results.problems]:
        yield from ("", "Evaluations until a target, median over seeds, and how many arrived:", "")
        cells = {
            m: [median_of([arrival(r.found["best"], TARGETS[p]) for r in results.of(p, m)], counts[1]) for p in named]
            for m in results.methods
        }
        yield from table(["method", *(f"{p} ≤ {TARGETS[p]}" for p in named)], [(m, *row) for m, row in cells.items()])


def baseline_report(results: Results, options: Namespace) -> Iterator[str]:
    yield from report(results, options)
    rows = []
    for ours, peer in PAIRS.items():
        for problem in results.problems:
            both = [best(results, problem, method, options.evaluations) for method in (ours, peer)]
            if min(map(len, both)) > 1:
                (mean, error), (other, spread) = map(mean_and_error, both)
                allowed = math.hypot(error, spread)
                answer = "better" if mean - other < -allowed else "yes" if mean - other <= allowed else "**no**"
                rows.append((ours, peer, problem, f"{mean - other:+.3g}", f"{allowed:.2g}", answer))
    yield from ("", f"Each beside its best-known implementation after {options.evaluations}:", "")
    heads = ["ours", "peer", "problem", "ours less peer", "one standard error", "not worse by more"]
    yield from table(heads, rows, left=3)


# ---------------------------------------------------------------- nobody chooses anything


def default_tasks(options: Namespace) -> list[Task]:
    methods = chosen_from(options.methods, quickstarts.SEARCHES, "--methods")
    known = quickstarts.tasks()
    problems = chosen_from(options.problems, known, "--problems") if options.problems else list(known)
    return [Task.of(seed, p, m) for seed in range(options.seeds) for p in problems for m in methods]


def run_default(task: Task, options: Namespace) -> Found:
    return quickstarts.search(task.method, task.problem, task.seed)


def default_report(results: Results, options: Namespace) -> Iterator[str]:
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
    title="Searches at the full budget",
    result="search.md",
    description=__doc__,
    parts={
        "quality": Part(
            "Best losses",
            *(tasks, run_search, report, LIBRARIES),
            defaults={"methods": ",".join(USUAL), "problems": ",".join(FULL_BUDGET), "seeds": 5, "evaluations": 100},
            records="quality",
        ),
        "baselines": Part(
            "Baselines beside other implementations",
            *(tasks, run_search, baseline_report, LIBRARIES),
            defaults={"methods": ",".join(BASELINES), "problems": ",".join(FEW), "seeds": 10, "evaluations": 60},
            records="baselines",
        ),
        "defaults": Part(
            "Nobody chooses anything",
            *(default_tasks, run_default, default_report, Libraries(PACKAGES)),
            defaults={"methods": ",".join(quickstarts.SEARCHES), "problems": "", "seeds": 10},
            records="defaults",
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
