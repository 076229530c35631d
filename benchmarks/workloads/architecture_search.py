"""Searches for architectures that were trained: MLPs, trained as they are asked for, and the cells of NAS-Bench-201."""

from __future__ import annotations

import statistics
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import xstar as xs
from benchmarks.harness.methods import METHODS, Optimiser, Xstar
from benchmarks.harness.records import Found, Task, improvements, significant
from benchmarks.workloads.mlp_training import domain, train
from xstar import nets, problems
from xstar.nets import catalogue
from xstar.searchers import NASBOT, Searcher

FINAL = 3
CELLS = "nb201-cifar10"
TARGETS = {CELLS: 94.3, "nb201-cifar100": 73.14, "nb201-imagenet16": 46.85}
"""Test accuracies in % that the six best of 15,625 cells have."""
NETWORKS = ("nasbot", "evolution", "nasbot-random", "random")
EDGES = {"gp-edges": "xstar-gp", "optuna-tpe": "optuna-tpe"}
"""Methods on the six edges, and what ``harness/methods.py`` calls them."""
OTMANN = {"describe": False}
"""The paper's kernel alone."""
QUADRATIC = {"powers": (1.0, 2.0)}
"""Its powers: p = 1, p̄ = 2."""
VARIANTS: dict[str, Searcher] = {
    "both": NASBOT(),
    "describing term alone": NASBOT(distances="none"),
    "OTMANN alone": NASBOT(**OTMANN),
    "OTMANN, sampled": NASBOT(**OTMANN, samples=4),
    "OTMANN, projected": NASBOT(**OTMANN, project=True),
    "OTMANN, p̄ = 2": NASBOT(**OTMANN, **QUADRATIC),
    "OTMANN, p̄ = 2, projected": NASBOT(**OTMANN, **QUADRATIC, project=True),
    "OTMANN, p̄ = 2, sampled": NASBOT(**OTMANN, **QUADRATIC, samples=4),
    "OTMANN, p̄ = 2, sampled, projected": NASBOT(**OTMANN, **QUADRATIC, samples=4, project=True),
    "both, sampled": NASBOT(samples=4),
    "both, p̄ = 2": NASBOT(**QUADRATIC),
    "both, projected": NASBOT(project=True),
    "both, all distances exact": NASBOT(),
    "OTMANN alone, all distances exact": NASBOT(**OTMANN),
}
"""NASBOT with and without each of its parts; hyperparameters at their MAP, matrices with jitter, p = p̄ = 1 and five exact
distances of a candidate unless named."""
EXACT = ("all distances exact", "nasbot-exact")
"""Ends of the names of methods that take all distances of a candidate exactly."""
TERMS = {"nasbot-otmann": VARIANTS["OTMANN alone"], "nasbot-described": VARIANTS["describing term alone"]}
"""NASBOT with one of its terms, as methods of the MLPs."""
CHANGED = {
    "nasbot-sampled": VARIANTS["both, sampled"],
    "nasbot-projected": VARIANTS["both, projected"],
    "nasbot-quadratic": VARIANTS["both, p̄ = 2"],
    "nasbot-exact": VARIANTS["both, all distances exact"],
}
"""NASBOT with one of its settings changed, as methods of the MLPs."""


def milliseconds(decided: list[float]) -> float:
    """Of the processor, per decision."""
    return float(significant(1e3 * statistics.mean(decided)))


def run_mlp(task: Task, options: Namespace) -> Found:
    with near(exact_distances(task)):
        return search_mlps(task)


def search_mlps(task: Task) -> Found:
    space, searchers = xs.Space(net=domain(task.problem, task.seed)), TERMS | CHANGED
    how: dict[str, Any] = {"searcher": searchers[task.method]} if task.method in searchers else {"method": task.method}
    study = xs.Study(space, metric="mse", seed=task.seed, **how)
    losses, trained, decided = [], [], []
    for _ in range(task["evaluations"]):
        begun = time.process_time()
        trial = study.ask()
        decided.append(time.process_time() - begun)
        if trial is None:
            raise RuntimeError(f"the study gave no trial: {study.ended}")
        found = train(task.problem, task.seed, trial["net"], 0)
        losses.append(found.valid)
        trained.append(found.seconds)
        study.tell(trial, found.valid)
    pick = study.best["net"]
    return {
        "best": improvements(losses),
        "tests": [train(task.problem, task.seed, pick, weights).test for weights in range(1, FINAL + 1)],
        "pick": pick.to_json(),
        "trained": significant(statistics.median(trained)),
        "decided": milliseconds(decided),
    }


@contextmanager
def near(count: int) -> Iterator[None]:
    """So many exact distances of a candidate, in this process."""
    before = catalogue.NEAR
    catalogue.NEAR = count
    try:
        yield
    finally:
        catalogue.NEAR = before


def exact_distances(task: Task) -> int:
    """Of a candidate."""
    return int(task["evaluations"]) if task.method.endswith(EXACT) else catalogue.NEAR


def run_cells(task: Task, options: Namespace) -> Found:
    with near(exact_distances(task)):
        return search_cells(task)


def search_cells(task: Task) -> Found:
    """Ends with the first cell that is good enough."""
    problem: Any = problems.get(task.problem)
    optimiser: Optimiser
    unpack: Callable[[Any], Any]
    if task.method in EDGES:
        optimiser = METHODS[EDGES[task.method]].make(problem.space, task.seed, task["evaluations"])
        unpack = problem.space.parse
    elif task.method in VARIANTS:
        space = xs.Space(cell=nets.Cell())
        optimiser, unpack = Xstar(space, task.seed, None, VARIANTS[task.method]), lambda c: c["cell"].config
    else:
        optimiser, unpack = Xstar(xs.Space(cell=nets.Cell()), task.seed, task.method), lambda c: c["cell"].config
    losses, decided, accuracy = [], [], 0.0
    while len(losses) < task["evaluations"] and accuracy < task["target"]:
        begun = time.process_time()
        config = optimiser.ask()
        decided.append(time.process_time() - begun)
        found = unpack(config)
        losses.append(problem.loss(found))
        accuracy = round(100.0 - problem.test_error(found), 4)
        optimiser.tell(config, losses[-1])
    return {
        "best": improvements(losses),
        "count": len(losses),
        "arrived": accuracy >= task["target"],
        "decided": milliseconds(decided),
    }
