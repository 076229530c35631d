"""A case: a problem whose losses may be noisy or missing, and the class of problems that it stands for.

A search is judged by its incumbent: the configuration with the lowest loss *as observed*, and of that the *true* one, without
noise.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.harness.methods import Optimiser, made
from benchmarks.harness.records import Found, Trajectory, significant
from xstar.space import Float, Space

Loss = Callable[[Mapping[str, Any]], float]


@dataclass(frozen=True)
class Case:
    """A problem of a set."""

    kind: str
    """The class of problems."""
    space: Space
    true: Loss
    noise: float = 0.0
    """The standard deviation of what is observed."""
    observed: Loss | None = None
    """What is observed, where it is not the true loss and normal noise."""
    fails: Callable[[Mapping[str, Any]], bool] | None = None
    """Where a trial raises."""
    spoilt: tuple[float, float] | None = None
    """The share of evaluations that are spoilt by chance, and what is then observed."""

    def observe(self, config: Mapping[str, Any], seed: int, number: int) -> float | None:
        """The loss of an evaluation; ``None`` if it fails."""
        if self.fails is not None and self.fails(config):
            return None
        if self.spoilt is not None and np.random.default_rng([seed, number, 1]).random() < self.spoilt[0]:
            return self.spoilt[1]
        loss = (self.observed or self.true)(config)
        if not self.noise:
            return loss
        return loss + self.noise * float(np.random.default_rng([seed, number]).standard_normal())


def of_vector(kind: str, function: Callable[[Any], float], low: float, high: float, d: int, **rest: Any) -> Case:
    """A function of ``d`` numbers between ``low`` and ``high``, given as an array."""
    space = Space({f"x{place}": Float(low, high) for place in range(d)})

    def true(config: Mapping[str, Any]) -> float:
        return float(function(np.fromiter(config.values(), float)))

    return Case(kind, space, true, **rest)


def search(case: Case, method: str, seed: int, evaluations: int) -> Found:
    with made(method, case.space, seed, evaluations) as optimiser:
        return searched(case, optimiser, seed, evaluations)


def searched(case: Case, optimiser: Optimiser, seed: int, evaluations: int) -> Found:
    """The true losses of the incumbents, the number of failed trials, and milliseconds per decision."""
    best, trajectory, failed, spent = float("inf"), [], 0, []
    for number in range(1, evaluations + 1):
        begun = time.process_time()
        config = optimiser.ask()
        middle = time.process_time()
        loss = case.observe(config, seed, number)
        again = time.process_time()
        _tell(optimiser, config, loss)
        spent.append(1e3 * (middle - begun + time.process_time() - again))
        failed += loss is None
        if loss is not None and loss < best:
            best = loss
            trajectory.append((number, case.true(config)))
    return {
        "incumbents": trajectory,
        "failed": failed,
        "processor": significant(statistics.mean(spent)),
        "median": significant(statistics.median(spent)),
    }


def _tell(optimiser: Optimiser, config: Any, loss: float | None) -> None:
    if loss is None:
        optimiser.fail(config)
    else:
        optimiser.tell(config, loss)


def true_after(trajectory: Trajectory, end: float) -> float:
    """The true loss of the incumbent by then; ∞ if there was none. Under noise it may rise.

    >>> true_after([(1, 3.0), (4, 2.0), (6, 2.5)], 7)
    2.5
    """
    return next((loss for at, loss in reversed(trajectory) if at <= end), float("inf"))
