"""DNGO with hundreds of workers (parts ``workers`` and ``pending`` of ``benchmarks/dngo.py``), on ``workloads/captions.py``."""

from __future__ import annotations

import contextlib
import io
import statistics
from argparse import Namespace
from collections.abc import Iterator
from itertools import pairwise

from benchmarks.harness.experiment import chosen_from, numbers
from benchmarks.harness.records import Found, Record, Task, best_after
from benchmarks.harness.report import Results, cell, table
from benchmarks.workloads import captions
from benchmarks.workloads.dngo_forms import Form
from xstar.searchers import DNGO, Random, Searcher
from xstar.searchers.dngo.fit import DNGOOptions

CROWD = ("xstar-dngo", "xstar-random")
METHODS: dict[str, Searcher] = {
    "xstar-dngo": DNGO(),
    "xstar-dngo-fantasies": Form(DNGOOptions(keeps_distance=False)),
    "xstar-random": Random(),
}
PENDING = {
    "xstar-dngo": "distances from 10 running trials on, no fantasies from 50 on",
    "xstar-dngo-fantasies": "fantasies of all that runs, no distances",
}
CROWDS = {100: 300, 200: 625, 400: 1250, 800: 2500}
"""Workers of the part ``pending`` → trials."""


# ---------------------------------------------------------------- hundreds of workers


def worker_tasks(options: Namespace) -> list[Task]:
    methods = chosen_from(options.methods, METHODS, "--methods")
    return [
        Task.of(seed, "captions", method, workers=options.workers, trials=options.trials)
        for seed in range(options.seeds)
        for method in methods
    ]


def run_workers(task: Task, options: Namespace) -> Found:
    workers, trials = task["workers"], task["trials"]
    with contextlib.redirect_stderr(io.StringIO()):  # a line for each of two thousand failures
        return captions.ours(METHODS[task.method], workers, trials, task.seed)


def worker_report(results: Results, options: Namespace) -> Iterator[str]:
    edges = [*range(0, options.trials, options.workers), options.trials]
    rows = []
    for method in (*METHODS, "optuna-tpe"):  # Optuna's, as it was asked and told at 023aeac, is on record
        if not (own := [r.found for r in known(results, method, options.workers, options.trials)]):
            continue
        sums = [sum(found["infeasible"][at] for found in own) for at in range(len(edges) - 1)]
        shares = [
            f"{count / len(own) / (high - low):.0%}" for count, (low, high) in zip(sums, pairwise(edges), strict=True)
        ]
        best = [[best_after(found["best"], count) for found in own] for count in (options.trials // 2, options.trials)]
        losses = [cell(each, "{:.4f} ± {:.4f}") for each in best]
        duplicates, seconds = sum(f["duplicates"] for f in own), statistics.mean(f["seconds"] for f in own)
        rows.append((method, str(len(own)), *shares, str(duplicates), *losses, f"{seconds:.3f}"))
    heads = [f"infeasible, {low + 1} to {high}" for low, high in pairwise(edges)]
    heads += ["duplicates", f"best after {options.trials // 2}", f"best after {options.trials}", "seconds a suggestion"]
    yield from table(["method", "seeds", *heads], rows)


# ---------------------------------------------------------------- spreading and fantasies


def pending_tasks(options: Namespace) -> list[Task]:
    return [
        Task.of(seed, "captions", method, workers=workers, trials=CROWDS[workers])
        for workers in map(int, chosen_from(options.sizes, map(str, CROWDS), "--sizes"))
        for seed in range(options.seeds)
        for method in PENDING
    ]


def known(results: Results, method: str, workers: int, trials: int) -> list[Record]:
    """All that are on record, of variants that are run no longer, too."""
    wanted = (workers, trials)
    every = [r for task, r in results.all.items() if task.problem == "captions" and task.method == method]
    return [r for r in every if (r.task.get("workers"), r.task.get("trials")) == wanted]


def pending_report(results: Results, options: Namespace) -> Iterator[str]:
    rows = []
    for workers in sorted(numbers(options.sizes)):
        trials = CROWDS[workers]
        for method, pending in PENDING.items():
            own = [record.found for record in known(results, method, workers, trials)]
            if not own:
                continue
            best = [[best_after(found["best"], count) for found in own] for count in (trials // 2, trials)]
            left = trials - (len(own[0]["infeasible"]) - 1) * workers
            last = sum(found["infeasible"][-1] for found in own) / len(own) / left
            seconds = statistics.mean(found["seconds"] for found in own)
            told = f"{last:.0%}", *(cell(each, "{:.3f} ± {:.3f}") for each in best), f"{1e3 * seconds:.0f} ms"
            rows.append((f"{workers}, {trials:,}", pending, str(len(own)), *told))
    heads = [
        "workers, trials",
        "pending",
        "seeds",
        "infeasible of the last round",
        "best after half",
        "best",
        "a suggestion",
    ]
    yield from table(heads, rows, left=2)
