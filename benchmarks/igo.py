"""First hitting times of the natural-gradient cores: the paper's Figures 1 and 4.

    python -m benchmarks.igo [--part figure1|figure4] [--functions OneMax,LeadingOnes] [--sizes 10,30,100,300,1000]
        [--runs 10] [--limit-minutes M] [--write]

A first hitting time is the number of calls of f until the optimum is drawn for the first time; a run ends without one after
``limit`` calls. ``figure1`` has cGA with both steps, PBIL-λ and PBIL-ε by equation (10) and as they are listed; ``figure4`` has
PBIL-λ with other α.
"""

from __future__ import annotations

import math
import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main, numbers
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, table
from benchmarks.workloads.hitting_times import ALGORITHMS, FUNCTIONS, SEED, Times, check_lockstep, hit, limit, lockstep
from xstar.igo import IGO, Bernoulli

ALPHAS = ("1.1", "1.25", "1.5", "2.0", "3.0")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--functions")
    parser.add_argument("--sizes", help="numbers of bits")
    parser.add_argument("--runs", type=int)


# ---------------------------------------------------------------- hitting times


def tasks(part: str, methods: list[str], options: Namespace) -> list[Task]:
    """All runs of a cell of a table are one line of the records."""
    return [
        Task.of(SEED, function, method, part=part, n=n, runs=options.runs)
        for n in numbers(options.sizes)
        for function in chosen_from(options.functions, FUNCTIONS, "--functions")
        for method in methods
    ]


def run(task: Task, options: Namespace) -> Found:
    """The calls of each run, None where it ended without the optimum; and the largest λ_r of each, where λ is adapted."""
    n, runs, f, most = task["n"], task["runs"], FUNCTIONS[task.problem], limit(task.problem, task["n"])
    streams = [np.random.default_rng((SEED, n, seed)) for seed in range(runs)]
    if task["part"] == "figure 4":
        return {"calls": [hit(IGO(Bernoulli(n), target=float(task.method)), f, rng, most).calls for rng in streams]}
    setting = ALGORITHMS[task.method](n)
    if setting["adapt"] == "samples":
        hits = [hit(IGO(Bernoulli(n), **setting), f, rng, most) for rng in streams]
        return {"calls": [each.calls for each in hits], "largest": [significant(each.largest) for each in hits]}
    check_lockstep()
    return {"calls": lockstep(n, f, setting, runs, most)}


def median(times: Times) -> float:
    """Runs without a hit count as infinitely long."""
    return statistics.median(sorted(math.inf if each is None else each for each in times))


def quartiles(times: Times) -> tuple[float, float]:
    known = sorted(math.inf if each is None else float(each) for each in times)
    return known[(len(known) - 1) // 4], known[-1 - (len(known) - 1) // 4]


def cell(times: Times | None) -> str:
    if times is None:
        return "not run"
    middle, (low, high) = median(times), quartiles(times)
    missed = sum(each is None for each in times)
    ends = f"{low:,.0f}–{high:,.0f}" if math.isfinite(high) else f"{low:,.0f}–" if math.isfinite(low) else ""
    shown = f"{middle:,.0f} ({ends})" if math.isfinite(middle) else "–"
    return shown + (f", {missed} of {len(times)} without" if missed and math.isfinite(middle) else "")


def cells(results: Results, part: str, function: str) -> dict[int, dict[str, Times]]:
    """n → method → the calls of each run, of all that is on record."""
    found: dict[int, dict[str, Times]] = {}
    for task, record in results.all.items():
        if (task.get("part"), task.problem) == (part, function):
            of = found.setdefault(task["n"], {})
            of[task.method] = [*of.get(task.method, []), *record.found["calls"]]
    return dict(sorted(found.items()))


def figure1_report(results: Results, options: Namespace) -> Iterator[str]:
    yield "Median number of calls until the optimum is drawn (quartiles); runs without it count as infinitely long."
    for function in FUNCTIONS:
        rows = [
            (f"{n:,}", *(cell(of.get(m)) for m in ALGORITHMS)) for n, of in cells(results, "figure 1", function).items()
        ]
        yield from ("", f"### {function}", "", *table([f"{function}, n", *ALGORITHMS], rows))
    yield from ("", "The largest λ_r of a run, median:", "")
    of = {
        (task.problem, task["n"], task.method): record.found["largest"]
        for task, record in results.all.items()
        if "largest" in record.found
    }
    adapted = [name for name in ALGORITHMS if any(name == method for *_, method in of)]
    places = sorted({(problem, n) for problem, n, _ in of})
    rows = [
        (
            f"{f}, n = {n:,}",
            *(f"{statistics.median(of[f, n, name]):.1f}" if (f, n, name) in of else "–" for name in adapted),
        )
        for f, n in places
    ]
    yield from table(["", *adapted], rows)


def shares(results: Results, function: str) -> dict[int, list[float]]:
    """n → the median of each α over that of the best, where all were run."""
    found = {
        n: [median(of[a]) for a in ALPHAS]
        for n, of in cells(results, "figure 4", function).items()
        if set(ALPHAS) <= set(of)
    }
    return {n: [each / min(row) for each in row] for n, row in found.items()}


def figure4_report(results: Results, options: Namespace) -> Iterator[str]:
    yield "PBIL-λ: the median over that of the best α."
    rows = [
        (f"{function}, n = {n}", *(f"{each:.2f}" if math.isfinite(each) else "no hit" for each in row))
        for function in FUNCTIONS
        for n, row in shares(results, function).items()
    ]
    yield from ("", *table(["", *(f"α = {float(alpha):g}" for alpha in ALPHAS)], rows))


FIGURE = {"functions": ",".join(FUNCTIONS), "sizes": "10,30,100,300,1000", "runs": 10}
EXPERIMENT = Experiment(
    name="igo",
    title="Natural gradient: first hitting times",
    result="igo.md",
    description=__doc__,
    parts={
        "figure1": Part(
            *("Figure 1", partial(tasks, "figure 1", list(ALGORITHMS)), run, figure1_report),
            defaults=FIGURE,
        ),
        "figure4": Part(
            *("Figure 4", partial(tasks, "figure 4", list(ALPHAS)), run, figure4_report),
            defaults={**FIGURE, "sizes": "10,30,100,300"},
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
