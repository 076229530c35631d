"""Architectures that were really trained: MLPs on two data sets, and the cells of NAS-Bench-201.

    python -m benchmarks.nasbot_real --part mlp   [--seeds 3] [--first 3] [--evaluations 50] [--problems naval,protein]
    python -m benchmarks.nasbot_real --part tradeoffs [--seeds 2] [--first 3] [--evaluations 40] [--problems naval,electricity]
    python -m benchmarks.nasbot_real --part carries [--seeds 10] [--evaluations 150]
                                     [--methods …] [--processes 1] [--write]

*MLPs.* ``workloads/mlp_training.py`` says how they are trained (``full``); the paper took 20,000 iterations of SGD and
networks of up to 1,024 units a layer. The objective is the lowest of the validation errors taken along the training, the
test error is that of the same moment. A seed stands for a split, for initial weights and for the search: all methods of
one seed see the same function. ``nasbot-otmann`` has the default's kernel of distances alone, ``nasbot-described`` the
term over features. The network a method ends with is trained ``FINAL`` times more from other weights; the median of these
test errors is reported. *Pool* is the test error of the best of the ten networks that every method begins with. Needs
torch.

*Trade-offs.* The ``short`` trainings with two objectives, validation error and number of weights. The area that a front
dominates is that over the logarithms of both, up to the error of a constant and the largest network that was seen.

*Cells.* All 15,625 cells of NAS-Bench-201 with their validation errors on CIFAR-10 after 200 epochs, the mean of two or three
runs. How many evaluations does it take until one of the six cells is evaluated whose test accuracy is that of ``TARGETS`` or
more? A cell that is asked for twice counts twice. The methods in ``EDGES`` see six categorical parameters, the others a cell.

*Carries.* The same searches by NASBOT with and without each of its parts (``VARIANTS``), and by evolution: what does the work?
On CIFAR-10, which settings are chosen on, and on CIFAR-100 and ImageNet16-120, which they are not.
"""

from __future__ import annotations

import math
import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.problems import at_hand
from benchmarks.harness.records import Record, Task, best_after
from benchmarks.harness.report import Results, row_of_cells, table
from benchmarks.harness.run import Libraries
from benchmarks.tables import data
from benchmarks.workloads.architecture_search import (
    EDGES,
    FINAL,
    NETWORKS,
    TARGETS,
    TERMS,
    VARIANTS,
    run_cells,
    run_mlp,
    run_tradeoffs,
)
from benchmarks.workloads.mlp_training import FILES, TRAININGS
from xstar.core.pareto import hypervolume

PLAIN = ("nasbot", "evolution", "nsga2", "random")
LIMITS = (2_000, 20_000)
EVERY = (*NETWORKS, "nsga2", "nasbot-paper", "treebo", *TERMS, *EDGES)


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods", default=",".join(EVERY), help="those that a part does not have are left out")
    parser.add_argument("--problems", help="of the MLPs")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--first", type=int, help="the first seed")
    parser.add_argument("--evaluations", type=int)


def tasks(options: Namespace, names: list[str], methods: tuple[str, ...], **settings: Any) -> list[Task]:
    wanted = [method for method in chosen_from(options.methods, EVERY, "--methods") if method in methods]
    return [
        Task.of(seed, problem, method, evaluations=options.evaluations, **settings)
        for seed in range(options.first, options.first + options.seeds)
        for problem in names
        for method in wanted
    ]


# ---------------------------------------------------------------- MLPs


def mlp_tasks(options: Namespace) -> list[Task]:
    names = chosen_from(options.problems, FILES, "--problems")
    for name in names:
        data.path(FILES[name])  # refuses where it is not here
    methods = (*NETWORKS, "nasbot-paper", "treebo", *TERMS)
    return sorted(tasks(options, names, methods, training="full", **TRAININGS["full"]), key=lambda task: task.seed)


def mlp_report(results: Results, options: Namespace) -> Iterator[str]:
    how = TRAININGS["full"]
    yield f"{options.evaluations} evaluations. Networks of at most {how['max_layers']} layers of {how['fewest_units']} to"
    yield f"{how['most_units']} units, {how['iterations']:,} iterations of Adam with {how['batch']} rows, a rate of"
    yield f"{how['rate']:g} that falls to 0, all training rows. Mean squared errors of normalised outputs, mean ± standard"
    yield f"error over seeds; the lowest is bold. *Test* is the median of {FINAL} new trainings of the network that was"
    yield "chosen by its validation error, *pool* the test error of the best of the ten networks that every method begins"
    yield "with. The paper's test errors, with networks of up to 1,024 units: naval 0.0075, protein 0.902."
    counts = sorted({min(options.evaluations, count) for count in (10, 25, options.evaluations)})
    for problem in results.problems:
        runs = {method: results.of(problem, method, training="full") for method in results.methods}
        runs = {method: of for method, of in runs.items() if of}
        if not runs:
            continue
        trained = statistics.median(r.found["trained"] for of in runs.values() for r in of)
        rows = [row_of_cells([[best_after(r.found["best"], n) for r in of] for of in runs.values()]) for n in counts]
        rows.append(row_of_cells([[statistics.median(r.found["tests"]) for r in of] for of in runs.values()]))
        rows.append(row_of_cells([[r.found["first"] for r in of] for of in runs.values()]))
        rows.append([f"{statistics.mean(r.found['decided'] for r in of):.3g}" for of in runs.values()])
        rows.append([str(len(of)) for of in runs.values()])
        lines = [(method, *cells) for method, cells in zip(runs, zip(*rows, strict=True), strict=True)]
        heads = ["method", *(f"best of {count}" for count in counts), "test", "pool", "ms per decision", "seeds"]
        yield from ("", f"### {problem}, {trained:.2g} s a network at the median", "", *table(heads, lines))


def tradeoff_tasks(options: Namespace) -> list[Task]:
    names = chosen_from(options.problems, FILES, "--problems")
    return tasks(options, names, PLAIN, training="short", **TRAININGS["short"])


def missing(methods: Sequence[Sequence[Record]], n: int) -> list[list[float]]:
    """By method and seed: the share of the area of all methods' networks together that the front of the first n leaves out."""
    runs = [{record.task.seed: np.log10(record.found["seen"]) for record in records} for records in methods]
    every = {seed: np.concatenate([each[seed] for each in runs]) for seed in sorted(set.intersection(*map(set, runs)))}
    most = {seed: np.array([0.0, rows[:, 1].max()]) for seed, rows in every.items()}
    return [
        [1 - hypervolume(of[seed][:n], most[seed]) / hypervolume(every[seed], most[seed]) for seed in every]
        for of in runs
    ]


def tradeoff_report(results: Results, options: Namespace) -> Iterator[str]:
    yield f"{options.evaluations} trainings (Adam, 300 iterations) a search, two objectives: validation error (of a"
    yield "constant: 1) and number of weights. *Missing*: of the area that the networks of all methods dominate, over the"
    yield "logarithms of both, what a front leaves out. *Error*: the lowest with so many weights. Mean ± standard error over"
    yield "seeds; the lowest is bold."
    counts = sorted({min(options.evaluations, count) for count in (10, 20, options.evaluations)})
    heads = ["method", *(f"missing after {n}" for n in counts), *(f"error, ≤ {n:,}" for n in LIMITS), "ms per decision"]
    for problem in results.problems:
        methods = [method for method in PLAIN if results.of(problem, method)]
        runs = [results.of(problem, method) for method in methods]
        cells = [missing(runs, n) for n in counts] + [
            [[min(e for e, size in [*r.found["seen"], (1.0, 0)] if size <= limit) for r in of] for of in runs]
            for limit in LIMITS
        ]
        rows = [row_of_cells(each, "{:.3g} ± {:.1g}") for each in cells]
        rows.append([f"{statistics.mean(r.found['decided'] for r in of):.3g}" for of in runs])
        lines = [(method, *row) for method, row in zip(methods, zip(*rows, strict=True), strict=True)]
        yield from ("", f"### {problem}, error × weights, {len(runs[0])} seeds", "", *table(heads, lines))


# ---------------------------------------------------------------- cells


def carry_tasks(options: Namespace) -> list[Task]:
    return [
        Task.of(seed, problem, method, evaluations=options.evaluations, target=TARGETS[problem])
        for seed in range(options.first, options.first + options.seeds)
        for problem in at_hand(list(TARGETS))
        for method in (*VARIANTS, "nasbot-paper", "evolution", *EDGES)
    ]


def cell_report(results: Results, options: Namespace) -> Iterator[str]:
    cap = options.evaluations
    yield "Evaluations until one of the six cells of 15,625 with the highest test accuracy was evaluated. The search sees"
    yield f"validation errors. At most {cap} evaluations; a run that did not arrive counts as infinite."
    for problem in results.problems:
        rows = []
        for method in results.methods:
            found = [record.found for record in results.of(problem, method)]
            if not found:
                continue
            counts = [each["count"] if each["arrived"] else math.inf for each in found]
            low, middle, high = (
                f"{value:g}" if math.isfinite(value) else f"> {cap}"
                for value in (quartile(counts, 0.25), statistics.median(counts), quartile(counts, 0.75))
            )
            decided = statistics.mean(each["decided"] for each in found)
            arrived = f"{sum(map(math.isfinite, counts))} of {len(counts)}"
            sees = "six edges" if method in EDGES else "a cell"
            rows.append((method, sees, middle, f"{low} … {high}", arrived, f"{decided:.3g}"))
        heads = ["method", "sees", "median", "quartiles", "arrived", "ms per decision"]
        yield from ("", f"{problem}, a test accuracy of {TARGETS[problem]} %:", "", *table(heads, rows, left=2))


def quartile(counts: list[float], share: float) -> float:
    """One of the counts: some may be infinite, and nothing lies between them and the others."""
    return sorted(counts)[min(len(counts) - 1, math.floor(share * len(counts)))]


EXPERIMENT = Experiment(
    name="nasbot_real",
    title="Architectures that were trained",
    result="nasbot-real.md",
    description=__doc__,
    parts={
        "mlp": Part(
            "MLPs",
            mlp_tasks,
            run_mlp,
            mlp_report,
            Libraries(also=("torch",)),
            {"first": 0, "seeds": 10, "evaluations": 50, "problems": "naval,protein"},
        ),
        "tradeoffs": Part(
            "Error against weights",
            tradeoff_tasks,
            run_tradeoffs,
            tradeoff_report,
            Libraries(also=("torch",)),
            {"first": 3, "seeds": 3, "evaluations": 40, "problems": "naval,electricity"},
            records="nasbot_tradeoffs",
        ),
        "carries": Part(
            "What carries NASBOT",
            carry_tasks,
            run_cells,
            cell_report,
            Libraries({"optuna-tpe": "optuna"}, ("POT",)),
            {"first": 0, "seeds": 10, "evaluations": 150},
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
