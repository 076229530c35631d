"""First hitting times of the natural-gradient cores: the paper's Figures 1 and 4, and what it leaves as future work.

    python -m benchmarks.igo [--large] [--most 1000] [--functions OneMax] [--figures-only] [--runs 10] [--processes 1] [--write]
                             [--minutes 9] [--kept DIR]

OneMax and LeadingOnes with n from 10 to 1,000 (``--large``: 3,000), cGA with both steps, PBIL-λ and PBIL-ε; PBIL-λ with other
α; OneMax over K values; OneMax under noise; PBIL in a study with many workers. A first hitting time is the number of calls of
f until the optimum is drawn for the first time. A run ends without one after ``limit`` calls.

All ``--runs`` of a cell of a table are one line of the records, except those of PBIL-λ on LeadingOnes from n = 1,000 on: a run
of n = 3,000 takes several minutes of the processor, so each is a line of its own, and one that is not done after ``--minutes``
leaves a file in ``--kept`` from which the next call goes on. The others are not run there with n = 3,000: from n = 300 on none
of them arrives within ``limit``. ``--most 300`` leaves out what is larger. ``--write`` draws results/igo-figure1-*.svg and
igo-figure4-*.svg, too. The peers are in ``benchmarks.igo_peers``.
"""

from __future__ import annotations

import math
import statistics
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.records import FOLDER as RECORDS
from benchmarks.harness.records import Found, Task
from benchmarks.harness.report import FOLDER, Results, table
from benchmarks.workloads.hitting_times import (
    ALGORITHMS,
    FUNCTIONS,
    SEED,
    BrokenOff,
    Times,
    check_lockstep,
    continued,
    hit,
    limit,
    lockstep,
    noisy,
    study_calls,
)
from xstar.igo import IGO, Bernoulli, Categorical
from xstar.plots.svg import Series, line_chart

SIZES, LARGE = (10, 30, 100, 300, 1000), (3000,)
LONG = 1000
"""From this n on, each run of PBIL-λ on LeadingOnes is a line of the records."""
ALPHAS = (1.1, 1.25, 1.5, 2.0, 3.0)
ALPHA_SIZES = (10, 30, 100, 300)
WORKERS, CATEGORIES, NOISES = (1, 4, 16, 64), (2, 3, 5, 10), (0, 1, 3, 10)
MOST_CALLS = 200_000
"""Of a run over K values or under noise."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--large", action="store_true", help="n = 3,000, too")
    parser.add_argument("--most", type=int, default=10**6, help="run nothing with a larger n")
    parser.add_argument("--functions", default=",".join(FUNCTIONS), help="of Figures 1 and 4")
    parser.add_argument("--figures-only", action="store_true", help="Figures 1 and 4, nothing beyond the paper")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=1e6, help="of this call, for runs that are lines of their own")
    parser.add_argument("--kept", type=Path, default=RECORDS / "igo", help="where such runs are kept")


def tasks(options: Namespace) -> list[Task]:
    """The longest ones last."""

    def task(part: str, function: str, n: int, method: str) -> Task:
        return Task.of(SEED, function, method, part=part, n=n, runs=options.runs)

    sizes = [n for n in (*SIZES, *(LARGE if options.large else ())) if n <= options.most]
    wanted = [task("workers", "OneMax", count, "PBIL-λ") for count in WORKERS]
    wanted += [task("categorical", "OneMax", values, name) for values in CATEGORIES for name in ALGORITHMS]
    wanted += [task("noise", "OneMax", sd, name) for sd in NOISES for name in ALGORITHMS]
    if options.figures_only:
        wanted = []
    options.until = time.time() + 60.0 * options.minutes
    for function in chosen_from(options.functions, FUNCTIONS, "--functions"):
        for n in sizes:
            if function == "LeadingOnes" and n >= LONG:
                wanted += [
                    Task.of(one, function, "PBIL-λ", part="figure 1", n=n, runs=1) for one in range(options.runs)
                ]
                names = [name for name in reversed(ALGORITHMS) if name != "PBIL-λ" and n not in LARGE]
            else:
                names = list(reversed(ALGORITHMS))
            wanted += [task("figure 1", function, n, name) for name in names]
            wanted += [task("figure 4", function, n, str(alpha)) for alpha in reversed(ALPHAS) if n in ALPHA_SIZES]
    return wanted


def run(task: Task, options: Namespace) -> Found:
    """The calls of each run; None where it ended without the optimum."""
    if task.seed != SEED:
        return {"calls": [one_run(task, options)]}
    return {"calls": calls(task)}


def one_run(task: Task, options: Namespace) -> int | None:
    """A run that is a line of its own; it has the random numbers that it has among others."""
    n, f = task["n"], FUNCTIONS[task.problem]
    file = options.kept / f"{task.problem}-{n}-{task.seed}.json"
    core, rng = IGO(Bernoulli(n), **ALGORITHMS[task.method](n)), np.random.default_rng((SEED, n, task.seed))
    try:
        found = continued(core, f, rng, limit(task.problem, n), file, lambda calls: time.time() > options.until)
    except BrokenOff as broken:
        raise SystemExit(f"{file.stem} has made {broken.args[0]:,} calls: call again to go on") from None
    file.unlink(missing_ok=True)
    return found


def calls(task: Task) -> Times:
    part, n, runs = task["part"], task["n"], task["runs"]
    streams = [np.random.default_rng((SEED, n, seed)) for seed in range(runs)]
    if part == "workers":
        return [study_calls(n, seed) for seed in range(runs)]
    if part == "noise":
        return [noisy(float(n), ALGORITHMS[task.method](100), seed, MOST_CALLS) for seed in range(runs)]
    if part == "categorical":
        setting = ALGORITHMS[task.method](100 * (n - 1))
        return [
            hit(IGO(Categorical(100, n), **setting), lambda x: np.count_nonzero(x, axis=-1), rng, MOST_CALLS)
            for rng in streams
        ]
    f, most = FUNCTIONS[task.problem], limit(task.problem, n)
    if part == "figure 4":
        return [hit(IGO(Bernoulli(n), target=float(task.method)), f, rng, most) for rng in streams]
    setting = ALGORITHMS[task.method](n)
    if setting["adapt"] != "samples":
        check_lockstep()
        return lockstep(n, f, setting, runs, most)
    return [hit(IGO(Bernoulli(n), **setting), f, rng, most) for rng in streams]


# ---------------------------------------------------------------- the report


def median(times: Times) -> float:
    """Runs without a hit count as infinitely long."""
    return statistics.median(sorted(math.inf if time is None else time for time in times))


def quartiles(times: Times) -> tuple[float, float]:
    known = sorted(math.inf if time is None else float(time) for time in times)
    return known[(len(known) - 1) // 4], known[-1 - (len(known) - 1) // 4]


def cell(times: Times | None, most: int | None = None) -> str:
    if times is None:
        return "not run"
    middle, (low, high) = median(times), quartiles(times)
    missed = sum(time is None for time in times)
    ends = f"{low:,.0f}–{high:,.0f}" if math.isfinite(high) else f"{low:,.0f}–" if math.isfinite(low) else ""
    shown = f"{middle:,.0f} ({ends})" if math.isfinite(middle) else f"not in {most:,}" if most else "–"
    return shown + (f", {missed} of {len(times)} without" if missed and math.isfinite(middle) else "")


class Cells:
    """The runs of each cell, by part, function, n and method."""

    def __init__(self, results: Results) -> None:
        self.found: dict[tuple[str, str, int, str], Times] = {}
        for r in results.records:
            key = (r.task["part"], r.task.problem, r.task["n"], r.task.method)
            self.found[key] = [*self.found.get(key, []), *r.found["calls"]]

    def of(self, part: str, function: str, n: int, method: str) -> Times | None:
        return self.found.get((part, function, n, method))

    def sizes(self, part: str, function: str = "") -> list[int]:
        return sorted({n for at, of, n, _ in self.found if at == part and function in ("", of)})

    def alphas(self, function: str) -> dict[int, list[float]]:
        """n → the medians for each α, where all were run."""
        each = {n: [self.of("figure 4", function, n, str(alpha)) for alpha in ALPHAS] for n in ALPHA_SIZES}
        return {n: [median(times) for times in row if times] for n, row in each.items() if all(row)}

    def table(self, head: str, part: str, function: str, methods: Sequence[str], form: str = "{}") -> Iterator[str]:
        most = MOST_CALLS if part in ("categorical", "noise") else None
        rows = [
            (form.format(n), *(cell(self.of(part, function, n, m), most) for m in methods))
            for n in self.sizes(part, function)
        ]
        yield from (*table([head, *methods], rows), "")


def report(results: Results, options: Namespace) -> Iterator[str]:
    cells, names = Cells(results), list(ALGORITHMS)
    yield f"{options.runs} runs each. Median number of calls until the optimum is drawn (quartiles); runs that ended without it"
    yield from ("count as infinitely long.", "")
    for function in FUNCTIONS:
        if not cells.sizes("figure 1", function):
            continue
        yield from (f"## {function} (Figure 1)", "", f"![{function}](igo-figure1-{function.lower()}.svg)", "")
        yield from cells.table("n", "figure 1", function, names, "{:,}")
    if cells.sizes("figure 4"):
        yield from ("## Robustness to α (Figure 4)", "", "Median over that of the best α, PBIL-λ.", "")
    for function in FUNCTIONS:
        rows: list[tuple[str, ...]] = []
        if not cells.sizes("figure 4", function):
            continue
        for n, medians in cells.alphas(function).items():
            shares = [f"{value / min(medians):.2f}" if math.isfinite(value) else "no hit" for value in medians]
            rows.append((f"{function}, n = {n}", *shares))
        yield from (*table(["", *(f"α = {alpha:g}" for alpha in ALPHAS)], rows), "")
    if not cells.sizes("workers"):
        return
    yield from ("## OneMax over K values, 100 variables", "")
    yield from ("n = 100 (K − 1) parameters; K = 2 is the Bernoulli family.", "")
    yield from cells.table("K", "categorical", "OneMax", names)
    yield from (
        "## OneMax-100 under Gaussian noise",
        "",
        "Calls until the mode of the distribution is the optimum.",
        "",
    )
    yield from cells.table("standard deviation", "noise", "OneMax", names)
    yield from ("## OneMax-100 in a study, many workers", "", "Trials end in random order; nobody waits.", "")
    yield from cells.table("workers", "workers", "OneMax", ["PBIL-λ"])


def figures(results: Results, options: Namespace) -> dict[Path, str]:
    cells, made = Cells(results), {}
    for function in FUNCTIONS:
        sizes, series = cells.sizes("figure 1", function), []
        if not sizes:
            continue
        for name in ALGORITHMS:
            times = {n: cells.of("figure 1", function, n, name) for n in sizes}
            hits = {n: each for n, each in times.items() if each and math.isfinite(median(each))}
            bands = {n: quartiles(each) for n, each in hits.items()}
            low, high = ([bands[n][side] / n for n in hits] for side in (0, 1))
            series.append(Series(name, list(hits), [median(each) / n for n, each in hits.items()], low, high))
        title = f"{function}: calls until the optimum / n"
        subtitle = "median and quartiles; a line ends where half of the runs do not get there"
        made[FOLDER / f"igo-figure1-{function.lower()}.svg"] = line_chart(
            series, title=title, subtitle=subtitle, x_label="n", log_x=True, log_y=True, x_ticks=sizes
        )
        medians = cells.alphas(function)
        shares = {n: [each / min(row) for each in row] for n, row in medians.items()}
        series = [
            Series(f"α = {alpha:g}", list(shares), [row[place] for row in shares.values()])
            for place, alpha in enumerate(ALPHAS)
        ]
        title = f"{function}: PBIL-λ with other α, calls over those of the best α"
        made[FOLDER / f"igo-figure4-{function.lower()}.svg"] = line_chart(
            series, title=title, x_label="n", log_x=True, x_ticks=list(shares)
        )
    return made


EXPERIMENT = Experiment(
    name="igo",
    title="Natural gradient: first hitting times",
    result="igo.md",
    description=__doc__,
    parts={"hits": Part("Hitting times", tasks, run, report, figures=figures)},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
