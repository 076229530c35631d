"""First hitting times of the natural-gradient cores: the paper's Figures 1 and 4, and the cores beside other libraries.

    python -m benchmarks.igo [--part figure1|figure4|rivals] [--functions OneMax,LeadingOnes] [--sizes 10,30,100,300,1000]
        [--runs 10] [--seconds 120] [--limit-minutes M] [--write]

A first hitting time is the number of calls of f until the optimum is drawn for the first time; a run ends without one after
``limit`` calls. ``figure1`` has cGA with both steps, PBIL-λ and PBIL-ε by equation (10) and as they are listed; ``figure4`` has
PBIL-λ with other α. ``rivals`` are nevergrad's discrete optimisers and Optuna's TPE (``harness/vectors.py``): a run ends at the
optimum, after 3 n² calls or after ``--seconds`` of processor time; then the best loss above the optimum is told. The objective
itself takes microseconds.
"""

from __future__ import annotations

import math
import statistics
import time
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main, numbers
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import FOLDER, Results, duration, table
from benchmarks.harness.vectors import LIBRARIES, METHODS, Vector, Vectors
from benchmarks.workloads.hitting_times import ALGORITHMS, FUNCTIONS, SEED, Times, check_lockstep, hit, limit, lockstep
from tools.svg import Series, line_chart
from xstar import problems
from xstar.igo import IGO, Bernoulli

ALPHAS = ("1.1", "1.25", "1.5", "2.0", "3.0")
TABLE = "nb201-cifar10"
CELLS = "NAS-Bench-201"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--functions", help="OneMax,LeadingOnes; of the rivals also NAS-Bench-201")
    parser.add_argument("--sizes", help="numbers of bits")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seconds", type=float, default=120.0, help="processor time of a run of the rivals at most")


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
        picture = f"![{function}](igo-figure1-{function.lower()}.svg)"
        yield from ("", f"### {function}", "", picture, "", *table([f"{function}, n", *ALGORITHMS], rows))
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


def figure1_pictures(results: Results, options: Namespace) -> dict[Path, str]:
    made = {}
    for function in FUNCTIONS:
        found, series = cells(results, "figure 1", function), []
        for name in ALGORITHMS:
            hits = {n: of[name] for n, of in found.items() if name in of and math.isfinite(median(of[name]))}
            low, high = ([quartiles(each)[side] / n for n, each in hits.items()] for side in (0, 1))
            series.append(Series(name, list(hits), [median(each) / n for n, each in hits.items()], low, high))
        made[FOLDER / f"igo-figure1-{function.lower()}.svg"] = line_chart(
            series,
            title=f"{function}: calls until the optimum / n",
            subtitle="median and quartiles; a line ends where half of the runs do not get there",
            x_label="n",
            log_x=True,
            log_y=True,
            x_ticks=list(found),
        )
    return made


# ---------------------------------------------------------------- rivals


def problem_of(name: str) -> Vectors:
    """``OneMax-100``: that function of so many bits."""
    function, _, n = name.partition("-")
    if name != CELLS:
        f, size = FUNCTIONS[function], int(n)
        return Vectors(size, 2, lambda x: int(f(np.asarray(x, dtype=np.int8))), 0, 3 * size * size)
    known: Any = problems.get(TABLE)
    options = {each: parameter.options for each, parameter in known.space.parameters.items()}

    def error(x: Vector) -> float:
        return float(known.loss({each: options[each][int(k)] for each, k in zip(options, x, strict=True)}))

    return Vectors(6, 5, error, known.optimum, 5_000)


def rival_tasks(options: Namespace) -> list[Task]:
    wanted = chosen_from(options.functions, [*FUNCTIONS, CELLS], "--functions")
    named = [f"{function}-{n}" for n in numbers(options.sizes) for function in wanted if function != CELLS]
    return [
        Task.of(seed, name, method, limit=options.seconds)
        for seed in range(options.runs)
        for name in (*named, *(each for each in wanted if each == CELLS))
        for method in METHODS
    ]


def run_rivals(task: Task, options: Namespace) -> Found:
    problem = problem_of(task.problem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nevergrad's, about its own future
        method = METHODS[task.method](problem, task.seed, problem.calls)
        started, best = time.process_time(), float("inf")
        call, arrived, spent = 0, False, 0.0
        while call < problem.calls and not arrived and spent <= task["limit"]:
            call += 1
            loss = problem.loss(method.ask())
            best = min(best, loss)
            arrived = loss <= problem.optimum + 1e-9
            method.tell(loss)
            spent = time.process_time() - started
    gap = 0.0 if arrived else best - problem.optimum
    return {"arrived": bool(arrived), "calls": call, "gap": gap, "seconds": significant(spent / call)}


def rival_report(results: Results, options: Namespace) -> Iterator[str]:
    yield "A call is ask, evaluation and tell. In a cell: median calls to the optimum (how many got there), or the median loss"
    yield "that is left; and the time of a call."
    every: dict[str, dict[str, list[Found]]] = {}
    for task, record in results.all.items():
        if task.method in METHODS and task.get("limit") is not None:
            every.setdefault(task.problem, {}).setdefault(task.method, []).append(record.found)
    rows = []
    for method in METHODS:
        shown = []
        for of in every.values():
            runs = of.get(method, [])
            hits = [each["calls"] for each in runs if each["arrived"]]
            left = f"{statistics.median(each['gap'] for each in runs):.3g} left" if runs else "–"
            told = f"{statistics.median(hits):,.0f} ({len(hits)} of {len(runs)})" if 2 * len(hits) > len(runs) else left
            shown.append(f"{told}, {duration(statistics.median(each['seconds'] for each in runs))}" if runs else "–")
        rows.append((method, *shown))
    yield from ("", *table(["method", *every], rows))


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
            figures=figure1_pictures,
        ),
        "figure4": Part(
            *("Figure 4", partial(tasks, "figure 4", list(ALPHAS)), run, figure4_report),
            defaults={**FIGURE, "sizes": "10,30,100,300"},
        ),
        "rivals": Part(
            *("Other libraries", rival_tasks, run_rivals, rival_report, LIBRARIES),
            defaults={"functions": f"OneMax,LeadingOnes,{CELLS}", "sizes": "50,100,1000", "runs": 5},
            timed=True,
            whole=True,
            records="igo_peers",
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
