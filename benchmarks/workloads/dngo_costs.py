"""What DNGO costs (parts ``figure1`` and ``head`` of ``benchmarks/dngo.py``): a suggestion, and its linear part."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from benchmarks.harness.experiment import chosen_from, numbers
from benchmarks.harness.methods import METHODS
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, table
from benchmarks.workloads.linear_head import head_times
from benchmarks.workloads.suggestion_time import PROBLEM, suggestion_time

SLOWEST = {"optuna-gp": 1000, "xstar-gp": 100_000, "optuna-tpe": 100_000}
"""Observations beyond which a method is not asked: at 1,000 Optuna's GP takes seconds already."""


# ---------------------------------------------------------------- Figure 1


def figure1_tasks(options: Namespace) -> list[Task]:
    methods = chosen_from(options.methods, METHODS, "--methods")
    return [
        Task.of(0, PROBLEM, method, part="figure1", n=n)
        for n in numbers(options.sizes)
        for method in methods
        if n <= SLOWEST.get(method, 10**9)
    ]


def run_figure1(task: Task, options: Namespace) -> Found:
    return suggestion_time(task.method, task["n"], task.seed)


def figure1_report(results: Results, options: Namespace) -> Iterator[str]:
    rows = []
    for n in numbers(options.sizes):
        row = [f"{n:,}"]
        for method in results.methods:
            found = next((record.found for record in results.of(method=method, n=n)), None)
            told = "–" if found is None else f"{found['seconds'] * 1e3:.0f} ms, {found['megabytes']:.0f} MB"
            if found is not None and "training" in found:
                told += f" ({found['usual'] * 1e3:.0f} ms, {found['training']:.1f} s a training)"
            row.append(told)
        rows.append(row)
    yield from table(["n", *results.methods], rows, left=0)
    ends = [record.found["seconds"] for n in (1000, 100_000) for record in results.of(method="xstar-dngo", n=n)]
    if len(ends) == 2:
        yield from ("", f"DNGO at 100,000: {ends[1] / ends[0]:.2f} times what it is at 1,000.")


# ---------------------------------------------------------------- the linear part


def head_tasks(options: Namespace) -> list[Task]:
    devices = chosen_from(options.device, ("cpu", "cuda"), "--device")
    return [
        Task.of(0, "head", "dngo", part="head", n=n, device=device)
        for device in devices
        for n in numbers(options.sizes)
    ]


def run_head(task: Task, options: Namespace) -> Found:
    return significant(head_times(task["n"], task["device"]))


def head_report(results: Results, options: Namespace) -> Iterator[str]:
    heads = [
        "trained on",
        "n",
        "add one",
        "add 4,096, each",
        "posterior",
        "predict 1,000",
        "features of all",
        "train 10 networks",
        "steps",
    ]
    rows = []
    for record in results.records:
        f = record.found
        micro = f"{f['add'] * 1e6:.1f} µs", f"{f['each'] * 1e6:.2f} µs", f"{f['posterior'] * 1e6:.0f} µs"
        rest = f"{f['predict'] * 1e3:.2f} ms", f"{f['features']:.2f} s", f"{f['training']:.2f} s", f"{f['steps']:,}"
        rows.append((record.task["device"], f"{record.task['n']:,}", *micro, *rest))
    yield from table(heads, rows)
