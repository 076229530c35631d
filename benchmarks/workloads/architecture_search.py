"""Searches for architectures that were trained: MLPs, trained as they are asked for, and the cells of NAS-Bench-201."""

from __future__ import annotations

import statistics
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import xstar as xs
from benchmarks import tables as problems
from benchmarks.harness.methods import METHODS, Optimiser, Xstar
from benchmarks.harness.records import Found, Task, improvements, significant
from benchmarks.workloads.mlp_training import Trained, domain, train
from xstar import nets
from xstar.journal import History
from xstar.journal.trial import Done, New, Suggestion
from xstar.nets import synthetic
from xstar.searchers import NASBOT, Searcher
from xstar.searchers.nasbot import suggest_as_paper

FINAL = 3
POOL = 10
"""Networks that every method begins with (B.3); the test error of the best of them tells what no search was needed for."""
CELLS = "nb201-cifar10"
TARGETS = {CELLS: 94.3, "nb201-cifar100": 73.14, "nb201-imagenet16": 46.85}
"""Test accuracies in % that the six best of 15,625 cells have."""
NETWORKS = ("nasbot", "evolution", "nasbot-random", "random")
EDGES = {"gp-edges": "xstar-gp", "optuna-tpe": "optuna-tpe"}
"""Methods on the six edges, and what ``harness/methods.py`` calls them."""


@dataclass(frozen=True)
class PaperVariant:
    """NASBOT as its paper has it with one thing changed (Figure 7)."""

    distances: str = "both"
    powers: tuple[float, float] = (1.0, 2.0)
    modifiers: str = "all"

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        return suggest_as_paper(history, task, rng, self.distances, self.powers, self.modifiers)


DOMAINS: dict[str, Any] = {
    "f1": nets.CNN(image=32, channels=3, classes=10),
    "f2": nets.MLP(inputs=16, outputs=1),
    "f3": nets.MLP(inputs=16, outputs=1),
}
"""Of the paper's synthetic functions."""
TERMS: dict[str, Callable[[], Searcher]] = {
    "nasbot-otmann": lambda: NASBOT(features=False),
    "nasbot-described": lambda: NASBOT(distances="none"),
}
"""NASBOT with one of its terms."""
VARIANTS: dict[str, Callable[[], Searcher]] = {
    "both": NASBOT,
    "describing term alone": TERMS["nasbot-described"],
    "OTMANN alone": TERMS["nasbot-otmann"],
    "OTMANN, sampled": lambda: NASBOT(features=False, samples=4),
    "both, sampled": lambda: NASBOT(samples=4),
}
"""The same on the cells, and with sampled hyperparameters."""


def searcher_of(method: str) -> dict[str, Any]:
    """What a study is to be made with."""
    known = TERMS | VARIANTS
    return {"searcher": known[method]()} if method in known else {"method": method}


def milliseconds(decided: list[float]) -> float:
    """Of the processor, per decision."""
    return float(significant(1e3 * statistics.mean(decided)))


def trained(task: Task, study: xs.Study, told: Callable[[Trained], Any]) -> tuple[list[Trained], float]:
    """Every network that a study asks for, and the milliseconds of a decision."""
    found, decided = [], []
    for _ in range(task["evaluations"]):
        begun = time.process_time()
        trial = study.ask()
        decided.append(time.process_time() - begun)
        if trial is None:
            raise RuntimeError(f"the study gave no trial: {study.ended}")
        found.append(train(task.problem, task.seed, trial["net"], 0, task["training"]))
        study.tell(trial, told(found[-1]))
    return found, milliseconds(decided)


def run_mlp(task: Task, options: Namespace) -> Found:
    space = xs.Space(net=domain(task.problem, task.seed, task["training"]))
    study = xs.Study(space, metric="mse", seed=task.seed, **searcher_of(task.method))
    found, decided = trained(task, study, lambda one: one.valid)
    pick, again = study.best["net"], range(1, FINAL + 1)
    return {
        "best": improvements(one.valid for one in found),
        "first": significant(min((one.valid, one.test) for one in found[:POOL])[1]),
        "tests": [train(task.problem, task.seed, pick, weights, task["training"]).test for weights in again],
        "pick": pick.to_json(),
        "trained": significant(statistics.median(one.seconds for one in found)),
        "decided": decided,
    }


def run_tradeoffs(task: Task, options: Namespace) -> Found:
    """Validation error against the number of weights: both of every network."""
    space = xs.Space(net=domain(task.problem, task.seed, task["training"]))
    study = xs.Study(space, metric=["mse", "weights"], seed=task.seed, **searcher_of(task.method))
    found, decided = trained(task, study, lambda one: {"mse": one.valid, "weights": one.weights})
    return {"seen": [(significant(one.valid), one.weights) for one in found], "decided": decided}


def run_cells(task: Task, options: Namespace) -> Found:
    """Ends with the first cell that is good enough."""
    problem: Any = problems.get(task.problem)
    optimiser: Optimiser
    unpack: Callable[[Any], Any]
    if task.method in EDGES:
        optimiser = METHODS[EDGES[task.method]].make(problem.space, task.seed, task["evaluations"])
        unpack = problem.space.parse
    else:
        how = searcher_of(task.method)
        optimiser = Xstar(xs.Space(cell=nets.Cell()), task.seed, how.get("method"), how.get("searcher"))
        unpack = lambda c: c["cell"].config  # noqa: E731
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


# ---------------------------------------------------------------- the time of a suggestion


def suggestion_time(function: str, t: int, repeats: int) -> Found:
    """Processor time of a suggestion after ``t`` networks, refits at their share, and the mean number of layers."""
    space, value = xs.Space(net=DOMAINS[function]), getattr(synthetic, function)
    drawn = xs.Study(space, method="evolution", direction="maximize", seed=0)
    networks = []
    for _ in range(t):
        trial: Any = drawn.ask()
        drawn.tell(trial, value(trial["net"]))
        networks.append(trial["net"])
    spent = []
    for seed in range(repeats):
        study = xs.Study(space, method="nasbot", direction="maximize", seed=seed)
        for network in networks:
            study.add({"net": network}, value(network))
        one_suggestion(study)  # in a search each distance is computed when its network is new, not all at once
        spent.append(statistics.mean(one_suggestion(study) for _ in range(t // 10 + 1)))
    layers = round(statistics.mean(len(network.layers) for network in networks))
    return dict(significant({"seconds": statistics.median(spent), "layers": layers}))


def one_suggestion(study: Any) -> float:
    begun = time.process_time()
    study.ask()
    return time.process_time() - begun
