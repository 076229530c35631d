"""Maximise an acquisition function by evolution, for items that can be mutated but have no coordinates (NASBOT, B.2).

Notation

============  ======================================================================================  =========
symbol        meaning                                                                                 shape
============  ======================================================================================  =========
``z``         the population: every item scored so far, none is ever removed                          (n,)
``g``         the objective of the evolution, for each item                                           (n,)
``π``         the probability of being a parent: π(zᵢ) ∝ exp(g(zᵢ)/σ), σ = std(g)                     (n,)
``n_EA``      the number of items scored in total, O(√t) after t trials                               int
``N_mut``     the number in one generation, O(√n_EA)                                                  int
============  ======================================================================================  =========
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import TypeVar

import numpy as np

from xstar.models.kernels import Array

T = TypeVar("T")

PER_ROOT, LEAST_EVALUATIONS, MOST_EVALUATIONS = 25, 50, 500
"""n_EA = 25 √t, between 50 and 500: the values of the authors' published code; the paper states only the rate."""
PER_GENERATION, SMALLEST, LARGEST = 3, 5, 100
"""N_mut = 3 √n_EA, between 5 and 100: from the same source."""


def evaluations(t: int) -> int:
    """Return n_EA after ``t`` trials."""
    return min(max(round(PER_ROOT * sqrt(t)), LEAST_EVALUATIONS), MOST_EVALUATIONS)


def generation(count: int) -> int:
    """Return N_mut for n_EA = ``count``."""
    return min(max(round(PER_GENERATION * sqrt(count)), SMALLEST), LARGEST)


def chances(g: Array) -> Array:
    """Return π; uniform if all values of g are equal."""
    spread = float(g.std())
    weights = np.exp((g - g.max()) / spread) if spread > 0.0 else np.ones(len(g))
    made: Array = weights / weights.sum()
    return made


def evolve(
    population: Sequence[T],
    g: Array,
    children: Callable[[list[T]], list[T]],
    score: Callable[[list[T]], Array],
    count: int,
    rng: np.random.Generator,
) -> tuple[list[T], Array]:
    """Return the population extended by ``count`` items, and g of all. ``children`` mutates each of some parents."""
    members, values = list(population), np.asarray(g, dtype=np.float64)
    size = generation(count)
    while count > 0:
        few = min(size, count)
        chosen = rng.choice(len(members), size=few, p=chances(values))
        born = children([members[index] for index in chosen.tolist()])
        members += born
        values = np.concatenate([values, score(born)])
        count -= few
    return members, values
