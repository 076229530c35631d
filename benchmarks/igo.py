"""First hitting times of the natural-gradient cores: the paper's Figures 1 and 4, and what it leaves as future work.

    python -m benchmarks.igo [--large] [--most 1000] [--runs 10] [--processes 1] [--raw FILE]

OneMax and LeadingOnes with n from 10 to 1,000 (``--large``: 3,000), cGA with both steps, PBIL-λ and PBIL-ε; PBIL-λ with other
α; OneMax over K values; OneMax under noise; PBIL in a study with many workers. A first hitting time is the number of calls of
f until the optimum is drawn for the first time. A run ends without one after ``limit`` calls.

Runs of two points per generation are simulated side by side (``lockstep``): Python would take nine tenths of the time. A check
at the start compares it with the core itself, number by number.

Writes benchmarks/results/igo.md, igo-figure1-*.svg and igo-figure4-*.svg. With ``--raw`` finished parts are kept in a file and
not run again. LeadingOnes with n = 1,000 takes as long as everything else together, several times over: ``--most 300`` leaves
out what is larger and not in that file. The peers are in ``benchmarks.igo_peers``.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.machine import describe_machine
from xstar.igo import IGO, Bernoulli, Categorical
from xstar.plots.svg import Series, line_chart
from xstar.searchers.pbil import PBIL

FOLDER = Path(__file__).parent / "results"
SIZES, LARGE = (10, 30, 100, 300, 1000), (3000,)
ALGORITHMS: dict[str, Callable[[int], dict[str, Any]]] = {
    "cGA, ε = 1/n": lambda n: {"adapt": "none", "step": 1 / n},
    "cGA, ε = n^-½": lambda n: {"adapt": "none", "step": n**-0.5},
    "PBIL-λ": lambda n: {"adapt": "samples"},
    "PBIL-ε": lambda n: {"adapt": "step"},
}
ALPHAS = (1.1, 1.25, 1.5, 2.0, 3.0)
ALPHA_SIZES = (10, 30, 100, 300)
WORKERS = (1, 4, 16, 64)
SEED = 20181

Task = tuple[str, str, int, str]  # part, function, n, algorithm (or α, noise, workers)
Times = list[float | None]


def onemax(x: np.ndarray) -> np.ndarray:
    """Zeros, over the last axis."""
    return x.shape[-1] - np.count_nonzero(x, axis=-1)


def leadingones(x: np.ndarray) -> np.ndarray:
    """Bits from the first zero on, over the last axis."""
    bits = x.view(np.bool_)
    first = bits.argmin(axis=-1)  # 0 where all are ones, too
    return x.shape[-1] - np.where(bits[..., 0] & (first == 0), x.shape[-1], first)


FUNCTIONS = {"OneMax": onemax, "LeadingOnes": leadingones}


def limit(function: str, n: int) -> int:
    """Calls after which a run is given up: several times the median of PBIL-λ."""
    if function == "OneMax":
        return 100 * n * max(10, n) // 10
    return 40 * n * n if n <= 100 else 6 * n * n if n <= 300 else 3 * n * n


# ---------------------------------------------------------------- runs


def hit(core: IGO, f: Callable[[np.ndarray], np.ndarray], rng: np.random.Generator, most: int) -> int | None:
    """The number of calls until f is 0 for the first time."""
    calls = 0
    while calls < most:
        points = core.sample(core.samples, rng)
        losses = f(points)
        if not losses.all():
            return calls + int(losses.argmin()) + 1
        core.update(points, losses)
        calls += len(points)
    return None


def lockstep(n: int, f: Callable[[np.ndarray], np.ndarray], setting: dict[str, Any], runs: int, most: int) -> Times:
    """``hit`` of many runs of IGO(Bernoulli(n), **setting) with λ = 2, side by side."""
    rng = np.random.default_rng(SEED)
    core = IGO(Bernoulli(n), **setting)
    low, high, first, alpha = core.family.lowest, core.family.highest, core.settings.step, core.settings.target
    adapt, longest = core.settings.adapt == "step", core.settings.most
    theta, path = np.full((runs, n), 0.5), np.zeros((runs, n))
    gamma, size, who = np.zeros(runs), np.full(runs, 2.0), np.arange(runs)
    found: Times = [None] * runs
    for calls in range(0, most, 2):
        x = rng.random((len(who), 2, n)) >= (1.0 - theta)[:, None]
        losses = f(x)
        if not losses.all():
            hits = (losses == 0).any(axis=1)
            for row in np.flatnonzero(hits):
                found[who[row]] = calls + int(losses[row].argmin()) + 1
            theta, path, gamma, size, who, x, losses = (a[~hits] for a in (theta, path, gamma, size, who, x, losses))
            if not len(who):
                break
        sign = np.sign(losses[:, 1] - losses[:, 0]).astype(np.float64)  # 1: the first one is better; 0: nothing moves
        gradient = (x[:, 0].view(np.int8) - x[:, 1].view(np.int8)) * sign[:, None]
        step = first / (size / 2.0) if adapt else np.full(len(who), first)
        if adapt:
            white = gradient / np.sqrt(theta * (1.0 - theta))
            rate = np.sqrt(step * (2.0 - step) / (n * 4.0 / 2.0))
            on = sign != 0
            path = np.where(on[:, None], (1.0 - step)[:, None] * path + rate[:, None] * white, path)
            gamma = np.where(on, (1.0 - step) ** 2 * gamma + step * (2.0 - step), gamma)
            change = np.exp(step * (gamma - (path * path).sum(axis=1) / alpha))
            size = np.where(on, (size * change).clip(2.0, longest), size)
        gradient *= step[:, None]
        gradient += theta
        theta = gradient.clip(low, high, out=gradient)
    return found


def check_lockstep() -> None:
    """The side-by-side form is the core: same random numbers, same times."""
    for function, f in FUNCTIONS.items():
        for name in ("cGA, ε = 1/n", "PBIL-ε"):
            setting = ALGORITHMS[name](20)
            alone = hit(IGO(Bernoulli(20), **setting), f, np.random.default_rng(SEED), 50_000)
            if lockstep(20, f, setting, 1, 50_000) != [alone]:
                raise AssertionError(f"{name} on {function}: lockstep is not the core")


def study_calls(workers: int, seed: int) -> int | None:
    """Calls until a study finds the optimum of OneMax-100 with trials that take random times on many workers."""
    study = xs.Study(xs.Space(x=xs.Bits(100)), searcher=PBIL(), seed=seed)
    rng, running = np.random.default_rng(seed), []
    for call in range(20_000):
        trial = study.ask()
        if all(trial["x"]):
            return call + 1
        running.append(trial)
        if len(running) == workers:
            done = running.pop(int(rng.integers(workers)))
            study.tell(done, 100 - sum(done["x"]))
    return None


def noisy(sd: float, setting: dict[str, Any], seed: int, most: int) -> int | None:
    """Calls until the mode of the distribution is the optimum of OneMax-100 that is seen through Gaussian noise."""
    rng, core, calls = np.random.default_rng((SEED, seed)), IGO(Bernoulli(100), **setting), 0
    while calls < most:
        points = core.sample(core.samples, rng)
        core.update(points, onemax(points) + sd * rng.standard_normal(len(points)))
        calls += len(points)
        if core.mode().all():
            return calls
    return None


def perform(task: Task, runs: int) -> Times:
    part, function, n, variant = task
    seeds = [np.random.default_rng((SEED, n, seed)) for seed in range(runs)]
    if part == "figure 1":
        setting, f, most = ALGORITHMS[variant](n), FUNCTIONS[function], limit(function, n)
        if setting["adapt"] != "samples":
            return lockstep(n, f, setting, runs, most)
        return [hit(IGO(Bernoulli(n), **setting), f, rng, most) for rng in seeds]
    if part == "figure 4":
        f, most = FUNCTIONS[function], limit(function, n)
        return [hit(IGO(Bernoulli(n), target=float(variant)), f, rng, most) for rng in seeds]
    if part == "categorical":
        setting = ALGORITHMS[variant](100 * (n - 1))
        return [
            hit(IGO(Categorical(100, n), **setting), lambda x: np.count_nonzero(x, axis=-1), rng, 200_000)
            for rng in seeds
        ]
    if part == "noise":
        return [noisy(float(n), ALGORITHMS[variant](100), seed, 200_000) for seed in range(runs)]
    return [study_calls(n, seed) for seed in range(runs)]


def tasks(large: bool) -> Iterator[Task]:
    """The longest ones last."""
    yield from (("workers", "OneMax", count, "PBIL-λ") for count in WORKERS)
    for values in (2, 3, 5, 10):
        yield from (("categorical", "OneMax", values, name) for name in ALGORITHMS)
    for sd in (0, 1, 3, 10):
        yield from (("noise", "OneMax", sd, name) for name in ALGORITHMS)
    for n in (*SIZES, *(LARGE if large else ())):
        yield from (("figure 1", "OneMax", n, name) for name in ALGORITHMS)
        if n in ALPHA_SIZES:
            yield from (("figure 4", "OneMax", n, str(alpha)) for alpha in ALPHAS)
    for n in (*SIZES, *(LARGE if large else ())):
        yield from (("figure 1", "LeadingOnes", n, name) for name in reversed(ALGORITHMS))
        if n in ALPHA_SIZES:
            yield from (("figure 4", "LeadingOnes", n, str(alpha)) for alpha in reversed(ALPHAS))


# ---------------------------------------------------------------- the report


def median(times: Times) -> float:
    """Runs without a hit count as infinitely long."""
    return statistics.median(sorted(math.inf if time is None else time for time in times))


def quartiles(times: Times) -> tuple[float, float]:
    known = sorted(math.inf if time is None else float(time) for time in times)
    return known[(len(known) - 1) // 4], known[-1 - (len(known) - 1) // 4]


def cell(times: Times, most: int | None = None) -> str:
    middle, (low, high) = median(times), quartiles(times)
    missed = sum(time is None for time in times)
    ends = f"{low:,.0f}–{high:,.0f}" if math.isfinite(high) else f"{low:,.0f}–" if math.isfinite(low) else ""
    shown = f"{middle:,.0f} ({ends})" if math.isfinite(middle) else f"not in {most:,}" if most else "–"
    return shown + (f", {missed} of {len(times)} without" if missed and math.isfinite(middle) else "")


def table(head: str, names: list[str], rows: list[tuple[str, list[str]]]) -> Iterator[str]:
    yield f"| {head} | {' | '.join(names)} |"
    yield "|---|" + "---:|" * len(names)
    yield from (f"| {name} | {' | '.join(cells)} |" for name, cells in rows)
    yield ""


def alpha_sizes(found: dict[Task, Times], function: str) -> list[int]:
    """The n of Figure 4 that were run with every α."""
    return [n for n in ALPHA_SIZES if all(("figure 4", function, n, str(alpha)) in found for alpha in ALPHAS)]


def report(found: dict[Task, Times], options: argparse.Namespace) -> str:
    sizes = sorted({task[2] for task in found if task[0] == "figure 1"})
    lines = [
        "# Natural gradient: first hitting times",
        "",
        "`python -m benchmarks.igo" + (" --large" if options.large else "") + f" --runs {options.runs}`",
        "",
        describe_machine().removeprefix("# "),
        "",
        f"{options.runs} runs each. Median number of calls until the optimum is drawn (quartiles); runs that ended without it "
        "count as infinitely long.",
        "",
    ]
    for function in FUNCTIONS:
        lines += [f"## {function} (Figure 1)", "", f"![{function}](igo-figure1-{function.lower()}.svg)", ""]
        rows = []
        for n in sizes:
            cells = [
                cell(found["figure 1", function, n, name], limit(function, n))
                if ("figure 1", function, n, name) in found
                else "not run"
                for name in ALGORITHMS
            ]
            rows.append((f"{n:,}", cells))
        lines += table("n", list(ALGORITHMS), rows)
    lines += ["## Robustness to α (Figure 4)", "", "Median over that of the best α, PBIL-λ.", ""]
    for function in FUNCTIONS:
        rows = []
        for n in alpha_sizes(found, function):
            medians = [median(found["figure 4", function, n, str(alpha)]) for alpha in ALPHAS]
            shares = [f"{value / min(medians):.2f}" if math.isfinite(value) else "no hit" for value in medians]
            rows.append((f"{function}, n = {n}", shares))
        lines += table("", [f"α = {alpha:g}" for alpha in ALPHAS], rows)
    lines += [
        "## OneMax over K values, 100 variables",
        "",
        "n = 100 (K − 1) parameters; K = 2 is the Bernoulli family.",
        "",
    ]
    lines += grid_of(found, "categorical", "K", 200_000)
    lines += ["## OneMax-100 under Gaussian noise", "", "Calls until the mode of the distribution is the optimum.", ""]
    lines += grid_of(found, "noise", "standard deviation", 200_000)
    lines += ["## OneMax-100 in a study, many workers", "", "Trials end in random order; nobody waits.", ""]
    rows = [(str(count), [cell(found["workers", "OneMax", count, "PBIL-λ"])]) for count in WORKERS]
    return "\n".join([*lines, *table("workers", ["PBIL-λ, calls"], rows)])


def grid_of(found: dict[Task, Times], part: str, head: str, most: int) -> Iterator[str]:
    keys = sorted({task[2] for task in found if task[0] == part})
    rows = [(str(key), [cell(found[part, "OneMax", key, name], most) for name in ALGORITHMS]) for key in keys]
    return table(head, list(ALGORITHMS), rows)


def draw(found: dict[Task, Times]) -> Iterator[tuple[str, str]]:
    sizes = sorted({task[2] for task in found if task[0] == "figure 1"})
    for function in FUNCTIONS:
        series = []
        for name in ALGORITHMS:
            known = [n for n in sizes if math.isfinite(median(found.get(("figure 1", function, n, name), [None])))]
            times = [found["figure 1", function, n, name] for n in known]
            bands = [quartiles(each) for each in times]
            low = [each[0] / n for n, each in zip(known, bands, strict=True)]
            high = [each[1] / n for n, each in zip(known, bands, strict=True)]
            series.append(Series(name, known, [median(t) / n for n, t in zip(known, times, strict=True)], low, high))
        title = f"{function}: calls until the optimum / n"
        subtitle = "median and quartiles; a line ends where half of the runs do not get there"
        chart = line_chart(series, title=title, subtitle=subtitle, x_label="n", log_x=True, log_y=True, x_ticks=sizes)
        yield f"igo-figure1-{function.lower()}.svg", chart
        series = []
        sizes_4 = alpha_sizes(found, function)
        for alpha in ALPHAS:
            middle = {(n, a): median(found["figure 4", function, n, str(a)]) for n in sizes_4 for a in ALPHAS}
            share = [middle[n, alpha] / min(middle[n, a] for a in ALPHAS) for n in sizes_4]
            series.append(Series(f"α = {alpha:g}", sizes_4, share))
        title = f"{function}: PBIL-λ with other α, calls over those of the best α"
        chart = line_chart(series, title=title, x_label="n", log_x=True, x_ticks=sizes_4)
        yield f"igo-figure4-{function.lower()}.svg", chart


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="n = 3,000, too")
    parser.add_argument("--most", type=int, default=10**6, help="run nothing with a larger n")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--raw", type=Path, help="where finished parts are kept")
    options = parser.parse_args()
    check_lockstep()
    found: dict[Task, Times] = {}
    if options.raw is not None and options.raw.exists():
        for line in options.raw.read_text().splitlines():
            key, times = json.loads(line)
            found[tuple(key)] = times
    started = time.perf_counter()
    left = [task for task in tasks(options.large) if task not in found and task[2] <= options.most]
    with ProcessPoolExecutor(options.processes) as pool:
        for task, times in zip(left, pool.map(partial(perform, runs=options.runs), left), strict=True):
            found[task] = times
            print(f"{time.perf_counter() - started:6.0f} s", *task, cell(times), flush=True)
            if options.raw is not None:
                with options.raw.open("a") as file:
                    file.write(json.dumps([task, times]) + "\n")
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "igo.md").write_text(report(found, options) + "\n", encoding="utf-8")
    for name, chart in draw(found):
        (FOLDER / name).write_text(chart, encoding="utf-8")


if __name__ == "__main__":
    main()
