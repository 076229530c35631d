"""What ``make bench-quick`` measures: each figure beside its peer in the same run, one after the other in the same process.

``better`` is how many times better xstar is: the peer's time over ours, or the peer's regret over ours.
"""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import tables as problems
from benchmarks.cost import PROGRAMS, pairs, run_startup
from benchmarks.harness.machine import installed
from benchmarks.harness.methods import METHODS, search
from benchmarks.harness.records import Task
from benchmarks.harness.report import duration
from benchmarks.harness.simulated import regret_curve, run_simulated, share_of_time
from benchmarks.igo import run as hitting_times
from benchmarks.workloads.hitting_times import SEED
from benchmarks.workloads.suggestion_time import suggestion_time
from benchmarks.workloads.trial_cost import optuna_trials, xstar_trials

LEAST = 1e-9
"""Regrets below count as this: a ratio of rounding errors says nothing."""
NEEDS = {"optuna-gp": ("optuna", "torch"), "optuna-tpe": ("optuna",), "botorch": ("botorch",)}


@dataclass(frozen=True)
class Sizes:
    """How much is measured. The defaults take five to ten minutes on two cores."""

    problems: tuple[str, ...] = ("branin", "hartmann6", "rosenbrock4")
    evaluations: int = 50
    seeds: int = 2
    simulated: tuple[str, ...] = ("curves-mlp", "curves-optimizer")
    trainings: float = 4.0
    networks: int = 20
    bits: int = 100
    runs: int = 10
    observations: tuple[int, ...] = (1_000, 10_000)
    trials: int = 2_000
    stored: int = 200
    times: int = 3


@dataclass(frozen=True)
class Headline:
    """One line of what is printed."""

    what: str
    ours: str
    peer: str
    theirs: str
    better: float

    def __str__(self) -> str:
        shown = f"{self.better:,.2f}×" if self.better < 100 else f"{self.better:,.0f}×"
        return f"{self.what:<64} {self.ours:>12}   {self.peer + ' ' + self.theirs:<34} {shown:>9}"


def there(method: str) -> bool:
    """Whether the library of a method is installed, and what it needs."""
    return METHODS[method].ours or all(map(installed, NEEDS.get(method, (METHODS[method].package,))))


def gaussian_process(sizes: Sizes) -> Iterator[Headline]:
    """Regret and time of a search."""
    for peer in filter(there, ("optuna-gp", "optuna-tpe")):
        regrets: dict[str, list[float]] = {"xstar-gp": [], peer: []}
        spent: dict[str, list[float]] = {"xstar-gp": [], peer: []}
        for name in sizes.problems:
            problem = problems.get(name)
            for seed in range(sizes.seeds):
                for method in regrets:
                    steps = search(problem, method, seed, sizes.evaluations)
                    regrets[method].append(max(LEAST, min(step.loss for step in steps) - problem.optimum))
                    spent[method].append(statistics.mean(step.processor for step in steps))
        ours, theirs = (math.exp(statistics.mean(map(math.log, each))) for each in regrets.values())
        where = f"{len(sizes.problems)} problems, {sizes.evaluations} trials"
        yield Headline(f"GP: regret, geometric mean ({where})", f"{ours:.2g}", peer, f"{theirs:.2g}", theirs / ours)
        mine, other = (statistics.mean(each) for each in spent.values())
        yield Headline("GP: processor time of a decision", duration(mine), peer, duration(other), other / mine)


def mobster(sizes: Sizes) -> Iterator[Headline]:
    """MOBSTER's time until ASHA's final regret, in simulated time with eight workers."""
    for name in sizes.simulated:
        runs = {
            method: [
                run_simulated(Task.of(seed, name, method, workers=8, trainings=sizes.trainings), method)
                for seed in range(sizes.seeds)
            ]
            for method in ("mobster", "asha")
        }
        best = min(found["best"][-1][1] for each in runs.values() for found in each)
        grid = np.linspace(0.0, runs["asha"][0]["seconds"], 2001)[1:]
        ours, theirs = (regret_curve(each, grid, best) for each in runs.values())
        share, reached = share_of_time(ours, theirs, grid)
        shown = f"{share:.2f}" if reached else f"never ({share:.2f})"
        yield Headline(f"MOBSTER: share of ASHA's time to ASHA's regret, {name}", shown, "asha", "1", 1.0 / share)


def otmann(sizes: Sizes) -> Iterator[Headline]:
    """``pairs`` compares every distance with the plain way to nine digits and fails where they differ."""
    for layers in (10, 20):
        found = pairs(layers, sizes.networks, 1)
        ours, theirs = (f"{found[name]:,.0f}/s" for name in ("xstar", "plain"))
        what = f"OTMANN: exact distances of networks of {layers} layers"
        yield Headline(what, ours, "ot.emd2", theirs, found["xstar"] / found["plain"])


def natural_gradient(sizes: Sizes) -> Iterator[Headline]:
    for function in ("OneMax", "LeadingOnes"):
        n = sizes.bits if function == "OneMax" else max(5, sizes.bits // 4)
        tasks = [
            Task.of(SEED, function, name, part="figure 1", n=n, runs=sizes.runs) for name in ("PBIL-λ", "cGA, ε = 1/n")
        ]
        counts = [hitting_times(task, Namespace())["calls"] for task in tasks]
        both = [statistics.median(math.inf if count is None else count for count in each) for each in counts]
        what = f"PBIL-λ: calls until the optimum of {function}, {n} bits"
        yield Headline(what, f"{both[0]:,.0f}", "cGA", f"{both[1]:,.0f}", both[1] / both[0])


def dngo(sizes: Sizes) -> Iterator[Headline]:
    """Its time is that of a suggestion with its share of a training."""
    times = {}
    for method in filter(there, ("xstar-dngo", "optuna-tpe")):
        times[method] = [suggestion_time(method, n)["seconds"] for n in sizes.observations]
    if len(times) < 2:
        return
    for at, n in enumerate(sizes.observations):
        ours, theirs = (each[at] for each in times.values())
        what = f"DNGO: time of a suggestion after {n:,} observations"
        yield Headline(what, duration(ours), "optuna-tpe", duration(theirs), theirs / ours)


def storage(sizes: Sizes) -> Iterator[Headline]:
    if not installed("optuna"):
        return
    for where, trials, clock in (
        ("in memory", sizes.trials, time.process_time),
        ("in SQLite", sizes.stored, time.perf_counter),
    ):
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / f"{name}.db" if where == "in SQLite" else None for name in ("xstar", "optuna")]
            ours, theirs = xstar_trials(trials, files[0], clock), optuna_trials(trials, files[1], clock)
        yield Headline(f"a trial of random search, {where}", duration(ours), "optuna", duration(theirs), theirs / ours)


def starting(sizes: Sizes) -> Iterator[Headline]:
    if not installed("optuna"):
        return
    for what in PROGRAMS:
        ours, theirs = (
            run_startup(Task.of(0, what, method, times=sizes.times), Namespace())["seconds"]
            for method in ("xstar", "optuna")
        )
        yield Headline(
            f"processor time of a process: {what}", duration(ours), "optuna", duration(theirs), theirs / ours
        )


MEASURES: dict[str, Callable[[Sizes], Iterator[Headline]]] = {
    "gp": gaussian_process,
    "mobster": mobster,
    "otmann": otmann,
    "igo": natural_gradient,
    "dngo": dngo,
    "storage": storage,
    "startup": starting,
}
