"""The maximum of an acquisition over things that can be mutated but not moved: evolution (NASBOT, B.2).

Notation

============  ======================================================================================  =========
symbol        meaning                                                                                 shape
============  ======================================================================================  =========
``z``         the population: all that was scored so far, nothing is ever dropped                     (n,)
``g``         what is maximised, at each                                                              (n,)
``π``         the chance to become a parent: π(zᵢ) ∝ exp(g(zᵢ)/σ), σ the standard deviation of g      (n,)
``n_EA``      how many are scored in all, O(√t) after t trials                                        int
``N_mut``     how many in one generation, O(√n_EA)                                                    int
============  ======================================================================================  =========
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import TypeVar

import numpy as np

from xstar.models.kernels import Array

T = TypeVar("T")

PER_ROOT, FEWEST, MOST = 25, 50, 500
"""n_EA = 25 √t, between 50 and 500: the numbers of the authors' published code; the paper gives only the rate."""
PER_GENERATION, SMALLEST, LARGEST = 3, 5, 100
"""N_mut = 3 √n_EA, between 5 and 100: likewise."""


def evaluations(t: int) -> int:
    """n_EA after ``t`` trials."""
    return min(max(round(PER_ROOT * sqrt(t)), FEWEST), MOST)


def generation(count: int) -> int:
    """N_mut of n_EA = ``count``."""
    return min(max(round(PER_GENERATION * sqrt(count)), SMALLEST), LARGEST)


def chances(g: Array) -> Array:
    """π: all the same where g is."""
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
    """The population with ``count`` more, and g of all. ``children`` mutates each of some parents."""
    members, values = list(population), np.asarray(g, dtype=np.float64)
    size = generation(count)
    while count > 0:
        few = min(size, count)
        chosen = rng.choice(len(members), size=few, p=chances(values))
        born = children([members[place] for place in chosen.tolist()])
        members += born
        values = np.concatenate([values, score(born)])
        count -= few
    return members, values
