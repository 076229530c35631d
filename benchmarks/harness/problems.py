"""Problems by name: the sets that experiments run on, their sizes and optima."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import lru_cache

from benchmarks import tables as problems
from benchmarks.harness import kinds, training_sets
from benchmarks.tables.lcbench import TABLED
from xstar.core.randomness import Streams
from xstar.testing.problems.synthetic import Function, levy6

HPOLIB = ("hpolib-lda", "hpolib-svm", "hpolib-logreg")
FCNET = ("fcnet-naval", "fcnet-parkinsons", "fcnet-protein", "fcnet-slice")
NB201 = ("nb201-cifar10", "nb201-cifar100", "nb201-imagenet16")
LCBENCH = tuple(f"lcbench-{task}" for task in TABLED)
SAMPLES = 200


def levy20() -> problems.Problem:
    return Function("levy20", levy6, [(-10, 10)] * 20, 0.0, (1.0,) * 20)


def named(name: str) -> problems.Problem:
    """A problem of the library, one of a kind of curves (``kinds.py``), or one over shares of a training set."""
    if ":" in name:
        return kinds.named(name)
    family, task = training_sets.FAMILY, name.removeprefix(training_sets.FAMILY)
    return training_sets.TrainingSets(int(task)) if name.startswith(family) else problems.get(name)


def missing(name: str) -> str:
    """What keeps a problem from being made here, in words; empty where nothing does."""
    return training_sets.missing() if name.startswith(training_sets.FAMILY) else problems.missing(name)


def at_hand(names: Sequence[str]) -> list[str]:
    if lacking := {name: why for name in names if (why := missing(name))}:
        told = "; ".join(f"{name}: {why}" for name, why in lacking.items())
        raise SystemExit(f"not here: {told}. Or leave them out (--problems).")
    return list(names)


@lru_cache(maxsize=64)
def full_training(name: str) -> float:
    """The median time of a full training, over configurations drawn at random."""
    problem, rng = named(name), Streams(0).generator(0, "benchmark")
    return statistics.median(problem.curve(problem.space.sample(rng), seed).seconds[-1] for seed in range(SAMPLES))


def facts(name: str) -> tuple[str, ...]:
    """Parameters, configurations, budgets, optimum and unit, in words."""
    if why := problems.missing(name):
        return ("", "", "", f"not here: {why}", "")
    problem = problems.get(name)
    size = "∞" if problem.space.size == float("inf") else f"{problem.space.size:,}"
    budgets = f"{problem.budgets[0]} … {problem.budgets[-1]}" if len(problem.budgets) > 1 else "one"
    return (str(len(problem.space)), size, budgets, f"{problem.optimum:.6g}", problem.unit)
