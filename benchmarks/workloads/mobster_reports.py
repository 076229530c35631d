"""What is told of MOBSTER's runs beside ASHA's: ``mobster.py`` says how they are made."""

from __future__ import annotations

import math
import statistics
from argparse import Namespace
from collections.abc import Iterator

import numpy as np

from benchmarks.harness.experiment import numbers
from benchmarks.harness.records import Record, Task, best_after
from benchmarks.harness.report import Results, cell, ranks, table
from benchmarks.harness.simulated import regret_curve, share_of_time

GRID = 2000
SHARES = (1 / 3, 1.0)


def task_of(seed: int, workers: int, problem: str, method: str, trainings: float) -> Task:
    """``method`` is ``asha`` or ``asha-stop``; ``mobster`` or ``mobster-stop``, with ``:surrogate`` and ``@rule`` if not the
    default; ``dngo``: that searcher under ASHA."""
    return Task.of(seed, problem, method, workers=workers, trainings=float(trainings))


def shares(results: Results, columns: list[tuple[str, int]], options: Namespace) -> Iterator[str]:
    """Of each problem, variant and number of workers: the share of ASHA's time until its final regret."""
    ratios: dict[tuple[str, int], list[float]] = {column: [] for column in columns}
    rows = []
    for name in results.problems:
        losses = [record.found["best"][-1][1] for task, record in results.all.items() if task.problem == name]
        row = [name]
        for variant, count in columns:
            both = [
                [
                    results.found(task_of(s, count, name, f"{m}{variant}", options.trainings))
                    for m in ("mobster", "asha")
                ]
                for s in range(options.seeds)
            ]
            pairs = [(ours, theirs) for ours, theirs in both if ours is not None and theirs is not None]
            if not pairs:
                row.append("")
                continue
            grid = np.linspace(0.0, pairs[0][0]["seconds"], GRID + 1)[1:]
            ours, theirs = (regret_curve(list(side), grid, min(losses)) for side in zip(*pairs, strict=True))
            ratio, reached = share_of_time(ours, theirs, grid)
            ratios[variant, count].append(ratio)
            fewer = f" [{len(pairs)}]" if len(pairs) < options.seeds else ""
            row.append((f"{ratio:.2f}" if reached else f"never ({ratio:.2f})") + fewer)
        rows.append(row)
    means = [math.exp(statistics.mean(map(math.log, found))) if found else math.nan for found in ratios.values()]
    rows.append(["**geometric mean**", *(f"**{mean:.2f}**" for mean in means)])
    yield from table(["problem", *(f"mobster{variant}, {count}" for variant, count in columns)], rows)


def surrogate_ranks(results: Results) -> Iterator[str]:
    """Of each problem, the seeds that all methods on record have been run on."""
    found: dict[str, list[float]] = {}
    for name in results.problems:
        runs: dict[str, dict[int, Record]] = {}
        for record in results.of(name):
            runs.setdefault(record.task.method, {})[record.task.seed] = record
        if not (shared := set.intersection(*map(set, runs.values())) if runs else set()):
            continue
        finals = [statistics.mean(of[seed].found["best"][-1][1] for seed in shared) for of in runs.values()]
        for method, rank in zip(runs, ranks(finals), strict=True):
            found.setdefault(method, []).append(rank)
    ordered = sorted(found.items(), key=lambda pair: statistics.mean(pair[1]))
    rows = [(method, f"{statistics.mean(each):.2f}", str(len(each))) for method, each in ordered]
    yield from table(["method", "mean rank of the final regret", "problems"], rows)


def many_trials(results: Results) -> Iterator[str]:
    rows = []
    for name in results.problems:
        for method in results.methods:
            if not (runs := [record.found for record in results.of(name, method)]):
                continue
            trials = statistics.mean(found["trials"] for found in runs)
            decision = statistics.mean(found["processor"] / found["trials"] for found in runs)
            marks = [[best_after(f["best"], share * f["seconds"]) for f in runs] for share in (1 / 3, 1.0)]
            losses = [cell(mark, "{:.2f} ± {:.2f}") for mark in marks]
            rows.append((name, method, str(len(runs)), f"{trials:,.0f}", f"{1000 * decision:.0f} ms", *losses))
    heads = [
        "problem",
        "method",
        "seeds",
        "trials",
        "a trial's decisions",
        "best loss after a third of the time",
        "at the end",
    ]
    yield from table(heads, rows, left=2)


def duel(results: Results, one: str, other: str) -> tuple[str, int, int]:
    """How often ``one`` ends lower than ``other``, and how often higher."""
    ends: dict[str, dict[tuple[object, ...], float]] = {one: {}, other: {}}
    for method, found in ends.items():
        for record in results.of(method=method):
            task = record.task
            found[task.problem, task.seed, task["workers"]] = record.found["best"][-1][1]
    both = [(ends[one][key], ends[other][key]) for key in ends[one] if key in ends[other]]
    return one, sum(a < b for a, b in both), sum(a > b for a, b in both)


def regret_tables(results: Results, options: Namespace, methods: tuple[str, ...]) -> Iterator[str]:
    length = f"{options.trainings:g} trainings per worker"
    seeds = len({record.task.seed for record in results.records})
    yield f"Mean regret of {seeds} seeds after a third of the time, and at its end; {length}."
    for count in numbers(options.workers):
        rows, placed = [], {method: [] for method in methods}
        for name in results.problems:
            runs = {method: [record.found for record in results.of(name, method, workers=count)] for method in methods}
            if not any(runs.values()):
                continue
            lowest = min(found["best"][-1][1] for each in runs.values() for found in each)
            means = {
                method: [
                    statistics.mean(best_after(f["best"], s * f["seconds"]) - lowest for f in each) for s in SHARES
                ]
                for method, each in runs.items()
                if each
            }
            ends = ranks([after[-1] for after in means.values()])
            for method, rank in zip(means, ends, strict=True):
                placed[method].append(rank)
            shown = (
                " → ".join(f"{mean:.3g}" for mean in means[method]) if method in means else "–" for method in methods
            )
            rows.append((name, *shown))
        rows.append(
            ("mean rank at the end", *(f"{statistics.mean(each):.2f}" if each else "–" for each in placed.values()))
        )
        yield from ("", f"{count} workers:", "", *table(["problem", *methods], rows))
