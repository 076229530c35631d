"""Several objectives: how much of the best front a search covers after 25, 50, 100 and 200 evaluations.

    python -m benchmarks.objectives [--part development|validation] [--methods …] [--problems …] [--seeds 10] [--write]

The regret is the share of the hypervolume of the best front that is missing, up to a reference point that lies beyond the worst
of that front by its range. The best front is known (ZDT, DTLZ), or that of the table (NAS-Bench-201: error after 200 epochs
against the latency on one device). Peers run at their own defaults.
"""

from __future__ import annotations

import csv
import gzip
import statistics
import time
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, mean_and_error, ranks, table
from benchmarks.harness.run import Libraries
from xstar.core.pareto import Array, hypervolume, non_dominated
from xstar.problems import data
from xstar.problems.nasbench201 import FILE, OPERATIONS

COUNTS = (25, 50, 100, 200)
POINTS = 400


@dataclass(frozen=True)
class Case:
    """A problem: losses of a configuration, and points of its best front."""

    space: xs.Space
    losses: Callable[[Mapping[str, Any]], tuple[float, ...]]
    front: Array


def unit(d: int) -> xs.Space:
    return xs.Space(**{f"x{i}": xs.Float(0.0, 1.0) for i in range(d)})


def zdt(which: int, d: int) -> Case:
    """Zitzler, Deb and Thiele (2000)."""

    def h(f1: Array, g: Any) -> Any:
        if which == 2:
            return 1.0 - (f1 / g) ** 2
        return 1.0 - np.sqrt(f1 / g) - (f1 / g * np.sin(10 * np.pi * f1) if which == 3 else 0.0)

    def losses(config: Mapping[str, Any]) -> tuple[float, ...]:
        x = np.array([config[f"x{i}"] for i in range(d)])
        f1, rest = x[0], x[1:]
        if which == 6:
            f1 = 1.0 - np.exp(-4 * x[0]) * np.sin(6 * np.pi * x[0]) ** 6
            g = 1.0 + 9.0 * rest.mean() ** 0.25
            return float(f1), float(g * (1.0 - (f1 / g) ** 2))
        if which == 4:
            z = 10.0 * rest - 5.0
            g = 1.0 + 10 * len(z) + float((z**2 - 10 * np.cos(4 * np.pi * z)).sum())
        else:
            g = 1.0 + 9.0 * rest.mean()
        return float(f1), float(g * h(f1, g))

    f1 = np.linspace(0.2807753191 if which == 6 else 0.0, 1.0, POINTS)
    f2 = 1.0 - f1**2 if which == 6 else h(f1, 1.0)
    points = np.column_stack([f1, f2])
    return Case(unit(d), losses, points[non_dominated(points)])


def dtlz(which: int, d: int) -> Case:
    """Deb, Thiele, Laumanns and Zitzler (2002), three objectives."""

    def losses(config: Mapping[str, Any]) -> tuple[float, ...]:
        x = np.array([config[f"x{i}"] for i in range(d)])
        rest = x[2:] - 0.5
        if which == 1:
            g = 100 * (len(rest) + float((rest**2 - np.cos(20 * np.pi * rest)).sum()))
            a, b = x[0], x[1]
            return tuple(float(0.5 * (1 + g) * f) for f in (a * b, a * (1 - b), 1 - a))
        g = float((rest**2).sum())
        a, b = x[0] * np.pi / 2, x[1] * np.pi / 2
        return tuple(float((1 + g) * f) for f in (np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)))

    grid = np.linspace(0.0, 1.0, 12)
    a, b = (each.ravel() for each in np.meshgrid(grid, grid))
    if which == 1:
        points = 0.5 * np.column_stack([a * b, a * (1 - b), 1 - a])
    else:
        a, b = a * np.pi / 2, b * np.pi / 2
        points = np.column_stack([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)])
    return Case(unit(d), losses, np.unique(points.round(12), axis=0))


@lru_cache(maxsize=1)
def cells() -> tuple[Array, Array]:
    """The operations of all cells, and their errors after 200 epochs on three data sets, in the order of the table."""
    edges, names = [f"op{i}" for i in range(6)], [f"{prefix}_val_ep200" for prefix in ("c10", "c100", "in16")]
    with gzip.open(data.path(FILE), "rt", encoding="utf-8", newline="") as file:
        rows = [([row[e] for e in edges], [row[n] for n in names]) for row in csv.DictReader(file)]
    ops, accuracy = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    return ops, 100.0 - accuracy


def nb201(dataset: int, device: str) -> Case:
    """NAS-Bench-201: validation error after 200 epochs against the latency of the cell on a device."""
    ops, errors = cells()
    latency = np.load(data.path("nasbench201/nb201_latency.npz"))[device].astype(np.float64)
    points = np.column_stack([errors[:, dataset], latency])
    index = {tuple(row): i for i, row in enumerate(ops.astype(int).tolist())}
    space = xs.Space(**{f"op{i}": xs.Choice(list(OPERATIONS)) for i in range(6)})
    number = {name: i for i, name in enumerate(OPERATIONS)}

    def losses(config: Mapping[str, Any]) -> tuple[float, ...]:
        return tuple(points[index[tuple(number[config[f"op{i}"]] for i in range(6))]].tolist())

    return Case(space, losses, points[non_dominated(points)])


CASES: dict[str, dict[str, Callable[[], Case]]] = {
    "development": {
        "zdt1": partial(zdt, 1, 6),
        "zdt4": partial(zdt, 4, 4),
        "dtlz2": partial(dtlz, 2, 5),
        "nb201-cifar10-1080ti": partial(nb201, 0, "1080ti_1"),
        "nb201-cifar100-gold": partial(nb201, 1, "gold_6226"),
    },
    "validation": {
        "zdt2": partial(zdt, 2, 6),
        "zdt3": partial(zdt, 3, 6),
        "zdt6": partial(zdt, 6, 6),
        "dtlz1": partial(dtlz, 1, 5),
        "nb201-cifar10-pixel2": partial(nb201, 0, "pixel2"),
        "nb201-cifar100-titan": partial(nb201, 1, "titanxp_32"),
        "nb201-imagenet16-samsung": partial(nb201, 2, "samsung_a50"),
    },
}


@lru_cache(maxsize=32)
def case_of(name: str) -> Case:
    return next(cases[name] for cases in CASES.values() if name in cases)()


# ---------------------------------------------------------------- methods

Evaluate = Callable[[Mapping[str, Any]], tuple[float, ...]]
"""Notes and returns the losses of a configuration."""


def ours(method: str, case: Case, evaluate: Evaluate, seed: int, count: int) -> None:
    names = [f"loss{i}" for i in range(case.front.shape[1])]
    study = xs.Study(case.space, method=method, metric=names, seed=seed)
    for _ in range(count):
        if (trial := study.ask()) is None:
            return
        study.tell(trial, dict(zip(names, evaluate(trial.config), strict=True)))


def optunas(sampler: str, case: Case, evaluate: Evaluate, seed: int, count: int) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    made = getattr(optuna.samplers, sampler)(seed=seed)
    study = optuna.create_study(directions=["minimize"] * case.front.shape[1], sampler=made)

    def objective(trial: Any) -> tuple[float, ...]:
        config: dict[str, Any] = {}
        for name, parameter in case.space.parameters.items():
            if isinstance(parameter, xs.Choice):
                config[name] = trial.suggest_categorical(name, list(parameter.options))
            else:
                config[name] = trial.suggest_float(name, 0.0, 1.0)
        return evaluate(config)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study.optimize(objective, n_trials=count)


METHODS: dict[str, Callable[[Case, Evaluate, int, int], None]] = {
    **{f"xstar-{name}": partial(ours, name) for name in ("gp", "tpe", "random")},
    "optuna-tpe": partial(optunas, "TPESampler"),
    "optuna-nsga2": partial(optunas, "NSGAIISampler"),
    "optuna-gp": partial(optunas, "GPSampler"),
}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods")
    parser.add_argument("--problems", default="")
    parser.add_argument("--seeds", type=int)


def tasks(which: str, options: Namespace) -> list[Task]:
    methods = chosen_from(options.methods, METHODS, "--methods")
    problems = chosen_from(options.problems or ",".join(CASES[which]), CASES[which], "--problems")
    return [Task.of(seed, p, m, set=which) for seed in range(options.seeds) for p in problems for m in methods]


def run(task: Task, options: Namespace) -> Found:
    case, seen, inside = case_of(task.problem), [], 0.0

    def evaluate(config: Mapping[str, Any]) -> tuple[float, ...]:
        nonlocal inside
        begun = time.process_time()
        seen.append(case.losses(config))
        inside += time.process_time() - begun
        return seen[-1]

    begun = time.process_time()
    METHODS[task.method](case, evaluate, task.seed, COUNTS[-1])
    spent = time.process_time() - begun - inside
    low, high = case.front.min(axis=0), case.front.max(axis=0)
    r = high + (high - low)
    full = hypervolume(case.front, r)
    regrets = [1.0 - hypervolume(np.array(seen[:count]), r) / full for count in COUNTS]
    return {
        "regrets": [significant(max(each, 0.0)) for each in regrets],
        "processor": significant(1e3 * spent / len(seen)),
    }


def report(results: Results, options: Namespace) -> Iterator[str]:
    methods, rows, placed = results.methods, [], []
    for problem in results.problems:
        runs = {method: {r.task.seed: r.found["regrets"] for r in results.of(problem, method)} for method in methods}
        placed += [
            [ranks([runs[method][seed][i] for method in methods]) for i in range(len(COUNTS))]
            for seed in set.intersection(*(set(each) for each in runs.values()))
        ]
        cells = [[each[2] for each in runs[method].values()] for method in methods]
        rows.append(
            (problem, *("–" if not cell else "{:.3g} ± {:.1g}".format(*mean_and_error(cell)) for cell in cells))
        )
    if placed:
        means = np.mean(placed, axis=0)  # (counts, methods)
        spent = [statistics.mean(r.found["processor"] for r in results.of(method=method)) for method in methods]
        told = [
            (m, *(f"{means[i][j]:.2f}" for i in range(len(COUNTS))), f"{spent[j]:.3g}") for j, m in enumerate(methods)
        ]
        yield f"Mean rank over {len(placed)} pairs of problem and seed, and milliseconds of the processor for a decision:"
        yield from ("", *table(["method", *(f"after {count}" for count in COUNTS), "ms"], told), "")
    yield "Share of the hypervolume that is missing after 100 evaluations, mean ± standard error:"
    yield from ("", *table(["problem", *methods], rows))


LIBRARIES = Libraries({name: "optuna" for name in METHODS if name.startswith("optuna")})
USUAL = {"methods": ",".join(METHODS), "seeds": 10}

EXPERIMENT = Experiment(
    name="objectives",
    title="Several objectives",
    result="objectives.md",
    description=__doc__,
    parts={name: Part(f"The {name} set", partial(tasks, name), run, report, LIBRARIES, USUAL) for name in CASES},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
