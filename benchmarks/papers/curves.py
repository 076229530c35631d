"""The papers' figures of losses over time or over iterations, drawn from the records."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from benchmarks.cotrain import PAPER as MNIST
from benchmarks.cotrain import counted
from benchmarks.harness.records import best_after
from benchmarks.harness.simulated import regret_curve
from benchmarks.mobster import FIGURE3, FIGURE5
from benchmarks.papers import dngo, findings_cifar, igo
from benchmarks.papers import mobster_records as mobster
from benchmarks.papers import nasbot_records as nasbot
from benchmarks.papers.sources import OnRecord
from xstar.plots.svg import Series, line_chart

POINTS = 80
FIRST = 0.12
"""The share of the time that a picture begins with."""
BASELINES = tuple(method for method in FIGURE5 if not method.endswith("-stop"))
"""Without the stopping variants, so that lines can be told apart; the tables have them."""


def all_of_them() -> dict[str, Callable[[], str]]:
    """File name → what draws it, of what is on record."""
    made: dict[str, Callable[[], str]] = {}
    for name, source, problem, methods in (
        (mobster.FIGURE5_MLP, mobster.BASELINES_MLP, mobster.MLP, BASELINES),
        (mobster.FIGURE5_CELLS, mobster.BASELINES_CELLS, "nb201-cifar10", BASELINES),
        (mobster.FIGURE3_MLP, mobster.HALVING_MLP, mobster.MLP, FIGURE3),
        (mobster.FIGURE3_CELLS, mobster.HALVING_CELLS, "nb201-cifar10", FIGURE3),
    ):
        if source.found:
            made[name] = partial(regrets, source, problem, methods)
    if igo.LONG["layers"].found:
        made[igo.FIGURE2] = layers
    made |= {name: partial(ablated, *panel) for name, panel in nasbot.PANELS.items()}
    if any(findings_cifar.seeds(method) for method in findings_cifar.METHODS):
        made[findings_cifar.COSTS] = by_cost
    if dngo.SEARCH.found:
        made[dngo.FIGURE4] = tuned
    return made


def regrets(source: OnRecord, problem: str, methods: Sequence[str]) -> str:
    """The mean regret over simulated time, from the lowest loss of all runs of the figure on."""
    best = min(record.found["best"][-1][1] for record in source.results.of(problem))
    runs = {method: [record.found for record in source.results.of(problem, method)] for method in methods}
    seconds = max(found["seconds"] for of in runs.values() for found in of)
    grid = np.linspace(FIRST * seconds, seconds, POINTS)
    series = []
    for method, of in runs.items():
        regret = regret_curve(of, grid, best)
        shown = np.isfinite(regret) & (regret > 0.0)
        series.append(Series(method, grid[shown].tolist(), regret[shown].tolist(), steps=True))
    seeds, workers = len({record.task.seed for record in source.found}), source.found[0].task["workers"]
    return line_chart(
        series,
        title=f"{problem}: regret",
        subtitle=f"mean of {seeds} seeds, {workers} workers; from the lowest loss of all these runs",
        x_label="seconds (simulated)",
        log_y=True,
    )


def layers() -> str:
    curve, seeds = igo.longest("layers")
    moments = [moment["iteration"] for moment in curve]
    series = []
    for name in MNIST["layers"]:
        quartiles = [statistics.quantiles(moment[name]["error"], n=4, method="inclusive") for moment in curve]
        low, middle, high = ([each[place] for each in quartiles] for place in range(3))
        series.append(Series(name, moments, middle, low=low, high=high))
    return over_iterations(series, "MNIST, layers switched by 31 bits", f"median and quartiles of {counted(seeds)}")


def over_iterations(series: Sequence[Series], title: str, told: str) -> str:
    """Test errors while networks are trained on MNIST."""
    return line_chart(
        series,
        title=f"{title}: test error in %",
        subtitle=f"{told}; the rate of the weights falls at 1/2 and 3/4 of the iterations",
        x_label="iterations",
        log_x=True,
    )


def tuned() -> str:
    """The lowest validation error so far of DNGO's network, over the number of trained networks; the mean over seeds."""
    series = []
    for method in dngo.SEARCH.results.methods:
        runs = dngo.SEARCH.results.of(method=method)
        counts = range(1, 1 + min(record.task["evaluations"] for record in runs))
        means = [statistics.mean(best_after(record.found["best"], count) for record in runs) for count in counts]
        series.append(Series(method, list(counts), means, steps=True))
    epochs, seeds = dngo.SEARCH.found[0].task["epochs"], len({record.task.seed for record in dngo.SEARCH.found})
    return line_chart(
        series,
        title="CIFAR-10, fourteen hyperparameters: validation error of the best network so far",
        subtitle=f"{epochs} epochs a network, {counted(seeds)}",
        x_label="networks trained",
        log_y=True,
    )


def by_cost() -> str:
    """The lowest validation error on CIFAR-10 over the multiplications of all networks so far; the mean over seeds."""
    series = []
    for method in findings_cifar.METHODS:
        if not (seeds := findings_cifar.seeds(method)):
            continue
        searches = [findings_cifar.spent(method, seed) for seed in seeds]
        first, last = max(points[0][0] for points in searches), min(points[-1][0] for points in searches)
        costs = np.geomspace(max(first, 0.5), last, POINTS).tolist()
        means = [statistics.mean(findings_cifar.lowest_within(points, cost) for points in searches) for cost in costs]
        series.append(Series(f"{method} ({len(seeds)})", costs, means, steps=True))
    return line_chart(
        series,
        title="CIFAR-10: validation error of the best network so far",
        subtitle="mean over seeds (their number in brackets); each line ends where its cheapest search does",
        x_label="10⁹ multiplications of all networks so far, for one image",
        log_x=True,
    )


def ablated(what: str, methods: Sequence[str]) -> str:
    """The mean over f1, f2 and f3 of the highest value so far, of the seeds that all of these methods have."""
    found = nasbot.PARTS.results
    runs = {
        method: {(record.task.problem, record.task.seed): record for record in found.of(method=method)}
        for method in methods
    }
    shared = sorted(set.intersection(*(set(of) for of in runs.values())))
    counts = list(range(1, 1 + nasbot.PARTS.found[0].task["evaluations"]))
    series = []
    for method, of in runs.items():
        means = [statistics.mean(-best_after(of[key].found["best"], count) for key in shared) for count in counts]
        series.append(Series(method, counts, means, steps=True))
    return line_chart(
        series,
        title=f"Figure 7, {what}: the highest value so far",
        subtitle=f"mean over f1, f2 and f3, {len(shared)} searches each; higher is better",
        x_label="networks evaluated",
    )
