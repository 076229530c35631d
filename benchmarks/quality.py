"""How good a search is after 50 and 100 evaluations at the full budget, beside other libraries.

    python -m benchmarks.quality [--methods xstar-gp,optuna-gp] [--problems branin,…] [--seeds 5] [--evaluations 100] [--write]

Seed 0 of all problems and methods comes first, then seed 1, …. The methods are described in ``harness/methods.py``.
"""

from __future__ import annotations

import math
import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.methods import LIBRARIES, METHODS, run_search
from benchmarks.harness.problems import FULL_BUDGET, TARGETS, available
from benchmarks.harness.records import Task, arrival, best_after
from benchmarks.harness.report import Results, mean_and_error, mean_ranks, median_of, row_of_cells, table

OURS = "xstar-gp"
USUAL = ("xstar-gp", "xstar-random", "optuna-tpe", "optuna-gp", "smac", "botorch")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods", default=",".join(USUAL))
    parser.add_argument("--problems", default=",".join(FULL_BUDGET))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--evaluations", type=int, default=100)


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


def rank_table(results: Results, counts: list[int]) -> Iterator[str]:
    columns = []
    for count in counts:
        means, pairs = mean_ranks(results, lambda found, at=count: best_after(found["best"], at), results.methods)
        columns.append(means)
    yield f"Over {pairs} pairs of problem and seed that all methods were run on; equals share their ranks."
    yield ""
    if pairs:
        rows = [(m, *(f"{c[place]:.2f}" for c in columns)) for place, m in enumerate(results.methods)]
        yield from table(["method", *(f"after {count}" for count in counts)], rows)


def loss_table(results: Results, count: int) -> Iterator[str]:
    rows = [(p, *row_of_cells([best(results, p, m, count) for m in results.methods])) for p in results.problems]
    yield from table(["problem", *results.methods], rows)


def verdicts(results: Results, count: int) -> Iterator[str]:
    """Ours beside the peer with the lowest mean."""
    peers, held, rows = [m for m in results.methods if not METHODS[m].ours], 0, []
    for problem in results.problems:
        mine = best(results, problem, OURS, count)
        summary = {peer: mean_and_error(found) for peer in peers if (found := best(results, problem, peer, count))}
        if not mine or not summary:
            continue
        peer = min(summary, key=lambda name: summary[name][0])
        mean, error = mean_and_error(mine)
        difference, allowed = mean - summary[peer][0], math.hypot(error, summary[peer][1])
        held += difference <= allowed
        answer = "better" if difference < -allowed else "yes" if difference <= allowed else "**no**"
        rows.append((problem, peer, f"{difference:+.3g}", f"{allowed:.2g}", answer))
    yield from table(["problem", "best peer", f"{OURS} less best peer", "one standard error", "within"], rows, left=2)
    yield ""
    yield f"Within one standard error of the best peer, or better: {held} of {len(rows)}."


def arrivals(results: Results, cap: int) -> Iterator[str]:
    named = [problem for problem in TARGETS if problem in results.problems]
    rows = [
        (m, *(median_of([arrival(r.found["best"], TARGETS[p]) for r in results.of(p, m)], cap) for p in named))
        for m in results.methods
    ]
    yield from table(["method", *(f"{problem} ≤ {TARGETS[problem]}" for problem in named)], rows)


def times(results: Results) -> Iterator[str]:
    rows = []
    for method in results.methods:
        records = results.of(method=method)
        package = METHODS[method].package
        versions = ", ".join(sorted({f"{package} {r.made['versions'][package]}" for r in records}))
        commits = ", ".join(sorted({r.made["commit"] for r in records}))
        means = [statistics.mean(r.found[name] for r in records) for name in ("processor", "wall")]
        median = statistics.median(r.found["median"] for r in records)
        rows.append(
            (method, versions, commits, f"{means[0]:.3g}", f"{median:.3g}", f"{means[1]:.3g}", str(len(records)))
        )
    heads = ["method", "library", "commit of the run", "processor, mean", "processor, median", "wall, mean", "runs"]
    yield from table(heads, rows, left=3)


def report(results: Results, options: Namespace) -> Iterator[str]:
    counts = sorted({min(50, options.evaluations), options.evaluations})
    yield f"Seeds 0 to {options.seeds - 1}, {options.evaluations} evaluations each, one thread."
    yield from ("", "## Mean rank", "", *rank_table(results, counts))
    for count in counts:
        yield from ("", f"## Best loss after {count} evaluations", "")
        yield from ("Mean ± standard error over seeds; the lowest mean is bold.", "", *loss_table(results, count))
    if OURS in results.methods and not all(METHODS[method].ours for method in results.methods):
        for count in counts:
            yield from ("", f"## {OURS} and the best peer after {count} evaluations", "")
            yield "The best peer is the one with the lowest mean. One standard error is that of the difference of the two"
            yield from ("means, √(se² + se²).", "", *verdicts(results, count))
    yield from ("", "## Evaluations until a target", "")
    yield "Median over seeds, and how many seeds arrived; one that did not counts as infinite."
    yield from ("", *arrivals(results, options.evaluations))
    yield from ("", "## Time per decision", "")
    yield "Milliseconds for one ask and one tell, over all problems; the median is that of the medians of the runs."
    yield from ("", *times(results))


EXPERIMENT = Experiment(
    name="quality",
    title="Searchers at the full budget, one trial at a time",
    result="gp.md",
    description=__doc__,
    parts={"search": Part("Best losses", tasks, run_search, report, LIBRARIES)},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
