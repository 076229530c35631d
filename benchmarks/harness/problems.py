"""Problems by name: the sets that experiments run on, their sizes and optima, and losses at which a search has arrived."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from functools import lru_cache

from benchmarks.harness.experiment import chosen_from
from benchmarks.harness.kinds import named
from xstar import problems
from xstar.core.randomness import Streams
from xstar.problems.lcbench import TABLED
from xstar.problems.synthetic import Function, levy6

FUNCTIONS = ("branin", "hartmann6", "ackley10", "rosenbrock4", "levy6")
HPOLIB = ("hpolib-lda", "hpolib-svm", "hpolib-logreg")
FCNET = ("fcnet-naval", "fcnet-parkinsons", "fcnet-protein", "fcnet-slice")
NB201 = ("nb201-cifar10", "nb201-cifar100", "nb201-imagenet16")
FULL_BUDGET = (*FUNCTIONS, *HPOLIB, *FCNET, *NB201)
"""Where searchers are compared, one evaluation at a time."""
LCBENCH = tuple(f"lcbench-{task}" for task in TABLED)
LCBENCH_FOUR = ("lcbench-126025", "lcbench-167168", "lcbench-168330", "lcbench-189866")
"""Of different sizes and difficulties: 95, 80, 175 and 727 s per training, best errors of 8, 15, 28 and 21 percent."""

TARGETS = {"branin": 0.3984, "hartmann6": -3.317, "hpolib-lda": 1266.25, "hpolib-svm": 0.2411, "hpolib-logreg": 0.0688}
"""Losses at which a search counts as having arrived: 0.0005, 0.005 and 0.08 above the optimum of the first three, the optimum
itself of the SVM's table, 0.0003 above that of logistic regression's."""

SAMPLES = 200


def levy20() -> problems.Problem:
    return Function("levy20", levy6, [(-10, 10)] * 20, 0.0, (1.0,) * 20)


def available(text: str, known: Iterable[str] | None = None) -> list[str]:
    """The problems of an option with commas; refuses unknown ones and those whose data is not here."""
    chosen = chosen_from(text, problems.names() if known is None else known, "--problems")
    return at_hand(chosen)


def at_hand(names: Sequence[str]) -> list[str]:
    if missing := {name: problems.missing(name) for name in names if problems.missing(name)}:
        told = "; ".join(f"{name}: {why}" for name, why in missing.items())
        raise SystemExit(f"not here: {told}. Or leave them out (--problems).")
    return list(names)


@lru_cache(maxsize=64)
def full_training(name: str) -> float:
    """The median time of a full training, over configurations drawn at random."""
    problem, rng = named(name) if ":" in name else problems.get(name), Streams(0).generator(0, "benchmark")
    return statistics.median(problem.curve(problem.space.sample(rng), seed).seconds[-1] for seed in range(SAMPLES))


def facts(name: str) -> tuple[str, ...]:
    """Parameters, configurations, budgets, optimum and unit, in words."""
    if why := problems.missing(name):
        return ("", "", "", f"not here: {why}", "")
    problem = problems.get(name)
    size = "∞" if problem.space.size == float("inf") else f"{problem.space.size:,}"
    budgets = f"{problem.budgets[0]} … {problem.budgets[-1]}" if len(problem.budgets) > 1 else "one"
    return (str(len(problem.space)), size, budgets, f"{problem.optimum:.6g}", problem.unit)
