"""PBIL against nevergrad's discrete optimisers and Optuna's TPE: calls to the optimum, and time per call.

    python -m benchmarks.igo_peers [--part speed|calls] [--runs 5] [--seconds 120] [--problems …] [--methods …] [--write]

OneMax-100, LeadingOnes-50, OneMax-1000 and NAS-Bench-201 (CIFAR-10, mean validation error at 200 epochs, by table), one run
after the other. A call is ask, evaluation and tell; the objective itself takes microseconds. A run ends at the optimum, after
``calls`` or after ``--seconds``; then the best loss above the optimum is given instead. The methods: ``harness/vectors.py``.
"""

from __future__ import annotations

import statistics
import time
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness.experiment import Experiment, Part, main
from benchmarks.harness.problems import at_hand
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, duration, table
from benchmarks.harness.vectors import LIBRARIES, METHODS, Vector, Vectors
from benchmarks.workloads.hitting_times import leadingones, onemax
from xstar import problems

TABLE = "nb201-cifar10"
SPEED = 3000
"""Bits of the speed test."""
CALLS = {"Optuna TPE": 16, "nevergrad": 60, "": 300}
"""Timed calls of a method whose name begins so."""


def bits(function: Callable[[np.ndarray], np.ndarray], n: int, calls: int) -> Vectors:
    return Vectors(n, 2, lambda x: int(function(np.asarray(x, dtype=np.int8))), 0, calls)


def cells(calls: int) -> Vectors:
    known: Any = problems.get(TABLE)
    options = {name: parameter.options for name, parameter in known.space.parameters.items()}

    def error(x: Vector) -> float:
        return float(known.loss({name: options[name][int(k)] for name, k in zip(options, x, strict=True)}))

    return Vectors(6, 5, error, known.optimum, calls)


PROBLEMS: dict[str, Callable[[], Vectors]] = {
    "OneMax-100": partial(bits, onemax, 100, 5_000),
    "LeadingOnes-50": partial(bits, leadingones, 50, 20_000),
    "OneMax-1000": partial(bits, onemax, 1000, 30_000),
    "NAS-Bench-201": partial(cells, 5_000),
}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=120.0, help="limit of one run")
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--methods", default=";".join(METHODS), help="separated by semicolons")


def chosen(text: str, known: dict[str, Any], mark: str, option: str) -> list[str]:
    wanted = [name.strip() for name in text.split(mark)]
    if unknown := [name for name in wanted if name not in known]:
        raise SystemExit(f"{option}: unknown: {', '.join(unknown)}. There are: {'; '.join(known)}")
    return wanted


def methods_of(options: Namespace) -> list[str]:
    return chosen(options.methods, METHODS, ";", "--methods")


# ---------------------------------------------------------------- calls to the optimum


def call_tasks(options: Namespace) -> list[Task]:
    names = chosen(options.problems, PROBLEMS, ",", "--problems")
    if "NAS-Bench-201" in names:
        at_hand([TABLE])
    return [
        Task.of(seed, name, method, limit=options.seconds)
        for name in names
        for method in methods_of(options)
        for seed in range(options.runs)
    ]


def run_calls(task: Task, options: Namespace) -> Found:
    problem = PROBLEMS[task.problem]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nevergrad's, about its own future
        method = METHODS[task.method](problem, task.seed, problem.calls)
        started, best = time.perf_counter(), float("inf")
        call, arrived, spent = 0, False, 0.0
        while call < problem.calls and not arrived and spent <= task["limit"]:
            call += 1
            loss = problem.loss(method.ask())
            best = min(best, loss)
            arrived = loss <= problem.optimum + 1e-9
            method.tell(loss)
            spent = time.perf_counter() - started
    gap = 0.0 if arrived else best - problem.optimum
    return {"arrived": bool(arrived), "calls": call, "gap": gap, "seconds": significant(spent / call)}


def call_report(results: Results, options: Namespace) -> Iterator[str]:
    yield f"{options.runs} runs each, at most {options.seconds:g} s per run. A call is ask, evaluation and tell."
    heads = [
        "method",
        "calls to the optimum, median (range)",
        "runs that got there",
        "loss left by the others",
        "time per call",
    ]
    for problem in results.problems:
        rows = []
        for method in results.methods:
            runs = [record.found for record in results.of(problem, method)]
            hits = sorted(run["calls"] for run in runs if run["arrived"])
            left = [run for run in runs if not run["arrived"]]
            times = f"{statistics.median(hits):,.0f} ({hits[0]:,}–{hits[-1]:,})" if hits else "–"
            gap, made = (statistics.median([run[key] for run in left] or [0]) for key in ("gap", "calls"))
            others = f"{gap:.3g} after {made:,.0f} calls" if left else ""
            each = duration(statistics.median(run["seconds"] for run in runs)) if runs else "–"
            rows.append((method, times, f"{len(hits)} of {len(runs)}", others, each))
        yield from ("", f"### {problem}", "", *table(heads, rows))


# ---------------------------------------------------------------- time of a call


def speed_tasks(options: Namespace) -> list[Task]:
    return [Task.of(0, "OneMax", method, n=SPEED) for method in methods_of(options)]


def run_speed(task: Task, options: Namespace) -> Found:
    """Ask + tell, after the first ten calls (which TPE draws at random)."""
    problem, took = bits(onemax, task["n"], 0), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method = METHODS[task.method](problem, 0, 1000)
        for _ in range(next(count for name, count in CALLS.items() if task.method.startswith(name))):
            started = time.perf_counter()
            x = method.ask()
            asked = time.perf_counter() - started
            loss = problem.loss(x)
            started = time.perf_counter()
            method.tell(loss)
            took.append(asked + time.perf_counter() - started)
    # The core works once per generation: its mean is what a call costs.
    return significant({"median": statistics.median(took[10:]), "mean": statistics.mean(took[10:])})


def speed_report(results: Results, options: Namespace) -> Iterator[str]:
    rows = [(r.task.method, duration(r.found["median"]), duration(r.found["mean"])) for r in results.records]
    yield from table(["method", "median of one call", "mean"], rows)


EXPERIMENT = Experiment(
    name="igo_peers",
    title="PBIL and its peers",
    result="igo-peers.md",
    description=__doc__,
    parts={
        "speed": Part(f"Time of ask + tell, {SPEED:,} bits", speed_tasks, run_speed, speed_report, LIBRARIES),
        "calls": Part("Calls to the optimum", call_tasks, run_calls, call_report, LIBRARIES),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
