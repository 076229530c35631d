"""Runs of several methods on a set of tasks over budgets, side by side: ``budgets.py`` says what is told of them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.harness.records import Found, Record
from benchmarks.harness.report import Results, mean_and_error, ranks, table
from benchmarks.harness.simulated import regret_curve, share_of_time
from benchmarks.workloads.budget_methods import (
    ASHA_LATELY,
    DNGO_LATELY,
    IGNORING,
    LATELY,
    NEVER_STRAIGHT,
    SYNE_TUNE,
    THEN,
)

TIMED = ("asha", ASHA_LATELY, "asha-before", "asha-two:long_steps=eta", "mobster-two:long_steps=eta")
"""What shares of the time are told of."""
RIVALS = (
    *TIMED,
    "mobster:long_steps=eta",
    "random",
    "mobster-before",
    "asha:searcher=DNGO()",
    DNGO_LATELY,
    SYNE_TUNE,
    IGNORING,
    THEN,
    LATELY,
    NEVER_STRAIGHT,
)
"""What pairs are told against."""
WITHOUT_MODEL = ("asha", ASHA_LATELY, "asha-two:long_steps=eta", "asha-two", "random")
GRID = 2000

Runs = dict[tuple[str, str], dict[int, Found]]
"""(problem, method) → what each seed found."""


def runs_of(records: Sequence[Record]) -> Runs:
    found: Runs = {}
    for record in records:
        found.setdefault((record.task.problem, record.task.method), {})[record.task.seed] = record.found
    return found


def regret(found: Found, optimum: float) -> float:
    return float(found["best"][-1][1]) - optimum


def late(found: Found) -> bool:
    """Whether no trial was complete by half of the time."""
    return found["first"] is None or found["first"] > found["seconds"] / 2


def shared_runs(runs: Runs) -> Runs:
    """Of each problem, the seeds that all methods have been run on."""
    methods = {method for _, method in runs}
    seeds = {name: set.intersection(*(set(runs.get((name, method), {})) for method in methods)) for name, _ in runs}
    kept = {
        (name, method): {s: f for s, f in found.items() if s in seeds[name]} for (name, method), found in runs.items()
    }
    return {key: found for key, found in kept.items() if found}


class Comparison:
    """The runs of a set of tasks with one number of workers; ``shared``: of the seeds alone that all methods have."""

    def __init__(self, results: Results, names: Sequence[str], workers: int, shared: bool = False) -> None:
        self.runs = runs_of([record for name in names for record in results.of(name, workers=workers)])
        if shared:
            self.runs = shared_runs(self.runs)
        self.names = [name for name in names if any(problem == name for problem, _ in self.runs)]
        self.methods = list(dict.fromkeys(method for _, method in self.runs))
        # Of all that is on record, whatever was asked for: y★ shall not depend on it.
        self.optimum = {
            name: min(r.found["best"][-1][1] for task, r in results.all.items() if task.problem == name)
            for name in self.names
        }

    def seeds(self, name: str, *methods: str) -> list[int]:
        return sorted(set.intersection(*(set(self.runs.get((name, method), {})) for method in methods)))

    def ends(self, name: str, method: str, seeds: Sequence[int]) -> list[float]:
        return [regret(self.runs[name, method][seed], self.optimum[name]) for seed in seeds]

    def share(self, method: str, other: str) -> str:
        """Of the other's time until its regret at the end: the geometric mean over tasks."""
        shares = [share for name in self.names if (share := self.share_on(name, method, other)) is not None]
        return f"{math.exp(statistics.mean(map(math.log, shares))):.2f}" if shares else "–"

    def least_share(self, other: str) -> str:
        """The same for the method that has the least on each task, as only hindsight can tell."""
        of_tasks = ([self.share_on(name, method, other) for method in self.methods] for name in self.names)
        known = [[share for share in shares if share is not None] for shares in of_tasks]
        least = [min(shares) for shares in known if shares]
        return f"{math.exp(statistics.mean(map(math.log, least))):.2f}"

    def share_on(self, name: str, method: str, other: str) -> float | None:
        """The same on one task; None: they have no seed in common."""
        if not (seeds := self.seeds(name, method, other)):
            return None
        sides = [[self.runs[name, which][seed] for seed in seeds] for which in (method, other)]
        grid = np.linspace(0.0, sides[0][0]["seconds"], GRID + 1)[1:]
        ours, theirs = (regret_curve(side, grid, self.optimum[name]) for side in sides)
        return share_of_time(ours, theirs, grid)[0]

    def pairs(self, method: str, other: str) -> str:
        both = [
            pair
            for name in self.names
            for seeds in (self.seeds(name, method, other),)
            for pair in zip(self.ends(name, method, seeds), self.ends(name, other, seeds), strict=True)
        ]
        return f"{sum(a < b for a, b in both)}–{sum(a > b for a, b in both)}"

    def behind(self, method: str) -> str:
        """On how many tasks it ends behind the best one of ASHA's rules and random search: surely, and (at all)."""
        others = [other for other in WITHOUT_MODEL if other in self.methods]
        if not others:
            return "–"
        surely = at_all = tasks = 0
        for name in self.names:
            seeds = self.seeds(name, method, *others)
            if not seeds:
                continue
            ends = {which: self.ends(name, which, seeds) for which in (method, *others)}
            better = min(others, key=lambda which: statistics.mean(ends[which]))
            mean, error = mean_and_error([a - b for a, b in zip(ends[method], ends[better], strict=True)])
            tasks += 1
            at_all += mean > 0
            surely += mean > max(error, 0.0) and mean > 0
        return f"{surely} ({at_all}) of {tasks}"

    def every(self, method: str) -> list[Found]:
        return [found for (_, which), each in self.runs.items() if which == method for found in each.values()]

    def lates(self, method: str) -> list[bool]:
        return [late(found) for found in self.every(method)]

    def rows(self) -> tuple[list[str], list[tuple[str, ...]]]:
        """The heads of the table of methods, and a row of each; pairs against those alone that were run."""
        timed = [other for other in TIMED if other in self.methods]
        duels = [other for other in RIVALS if other in self.methods]
        heads = ["method", *(f"share of {other}'s time" for other in timed), *(f"against {other}" for other in duels)]
        rows = [
            (
                method,
                *(self.share(method, other) for other in timed),
                *(self.pairs(method, other) for other in duels),
                *self.ends_well(method),
            )
            for method in self.methods
        ]
        return [*heads, "behind the better of asha and random", "no complete trial by half", "processor, a run"], rows

    def ends_well(self, method: str) -> tuple[str, ...]:
        every, lates = self.every(method), self.lates(method)
        spent = statistics.mean(found["processor"] for found in every)
        return self.behind(method), f"{sum(lates)} of {len(lates)}", f"{spent:.1f} s"


def by_task(comparison: Comparison) -> Iterator[str]:
    rows = []
    for name in comparison.names:
        means = []
        for method in comparison.methods:
            ends = comparison.ends(name, method, comparison.seeds(name, method))
            means.append(statistics.mean(ends) if ends else math.nan)
        least = min((mean for mean in means if not math.isnan(mean)), default=math.nan)
        rows.append((name, *("–" if math.isnan(m) else f"**{m:.3g}**" if m == least else f"{m:.3g}" for m in means)))
    yield from table(["task", *comparison.methods], rows)


def shares_by_task(comparison: Comparison, other: str = "asha") -> Iterator[str]:
    methods = [method for method in comparison.methods if method != other]
    rows = []
    for name in comparison.names:
        shares = [comparison.share_on(name, method, other) for method in methods]
        rows.append((name, *("–" if share is None else f"{share:.2f}" for share in shares)))
    yield from table(["task", *methods], rows)


def mean_ranks(comparison: Comparison, methods: Sequence[str]) -> dict[str, float]:
    placed: dict[str, list[float]] = {method: [] for method in methods}
    for name in comparison.names:
        for seed in comparison.seeds(name, *methods):
            ends = [comparison.ends(name, method, [seed])[0] for method in methods]
            for method, rank in zip(methods, ranks(ends), strict=True):
                placed[method].append(rank)
    return {method: statistics.mean(found) if found else math.nan for method, found in placed.items()}
