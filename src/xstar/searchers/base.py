"""What? The contract of searchers, and what all of them owe to finite spaces."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol, runtime_checkable

import numpy as np

from xstar.core.registry import Registry
from xstar.journal import History
from xstar.space import Parameter, Space
from xstar.trial import Config, Done, New, Origin, Suggestion

REJECTIONS = 64
"""Draws before looking systematically for an untried configuration.

While a tenth of the space is still untried, 64 draws miss it with probability 0.9⁶⁴ ≈ 0.001; below that the walk of
:func:`untried` finds one in about ten steps.
"""

LARGEST_LIST = 100_000
"""Conditional spaces up to this size are walked through as a list of distinct configurations. By number, a space of 2,000
configurations may have a million numbers, most of them for parameters that are inactive."""

LONGEST_WALK = 1_000_000
"""Steps of the systematic walk before a repetition is accepted (only conditional spaces with huge dead regions get here)."""


MOST_DRAWS = 100_000
"""Draws from a finite space with a domain before it counts as used up: one value of 10,000 is missed once in 20,000 times."""


class Searcher(Protocol):
    """Suggests configurations. A pure function of the history, the task and the random stream it is handed."""

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        """A configuration for a new trial, or ``Done`` when there is nothing left to suggest."""
        ...


@runtime_checkable
class Finite(Protocol):
    """A searcher (optionally) that comes to an end also where the space is infinite."""

    def size(self, space: Space) -> int:
        """How many configurations it suggests in all."""
        ...


SEARCHERS: Registry[Searcher] = Registry("searcher")


def at_random(history: History, rng: np.random.Generator, why: str) -> Suggestion | Done:
    """A random configuration in place of a method's own, and why."""
    config = untried(history, rng)
    return config if isinstance(config, Done) else Suggestion(config, Origin("random", why))


def exhausted(history: History) -> Done | None:
    """``Done`` if every configuration of a finite space has been tried (or is being tried)."""
    size = history.space.size
    if history.distinct >= size and history.space.size_is_exact:
        return Done(f"all {size:,} configurations of the space have been tried")
    return None


def untried(history: History, rng: np.random.Generator) -> Config | Done:
    """A random configuration that was not tried before, running and failed ones included.

    Draws from the prior; when that keeps hitting known ones, walks through the space from a random place. A walk takes
    (size / untried) steps on average, so filling a whole space of n configurations costs O(n log n) in all.
    """
    space = history.space
    config = space.sample(rng)
    if history.tried(config) is None:
        return config
    if (done := exhausted(history)) is not None:
        return done
    for _ in range(REJECTIONS):
        config = space.sample(rng)
        if history.tried(config) is None:
            return config
    if space.size == float("inf"):
        return config  # the prior sits on a finite branch of an infinite space: nothing to walk through
    if len(space.structure.plain) < len(space):  # the values of a domain have no numbers to walk along
        for _ in range(MOST_DRAWS):
            config = space.sample(rng)
            if history.tried(config) is None:
                return config
        return Done(f"no untried configuration found in {MOST_DRAWS:,} draws")
    if space.structure.when and space.size <= LARGEST_LIST:
        every = _every(space)
        start = int(rng.random() * len(every))
        for step in range(len(every)):
            candidate = every[(start + step) % len(every)]
            if history.tried(candidate) is None:
                return dict(candidate)
    product = int(space.product)
    start = int(rng.random() * product)
    for step in range(min(product, LONGEST_WALK)):
        candidate = space.at((start + step) % product)
        if history.tried(candidate) is None:
            return candidate
    return Done(f"no untried configuration found among {min(product, LONGEST_WALK):,} neighbours in the space")


@lru_cache(maxsize=4)
def _every(space: Space) -> list[Config]:
    """All configurations of a finite space, each once."""
    sizes = [parameter.size for parameter in space.parameters.values() if isinstance(parameter, Parameter)]
    return list(space.grid(max(2, int(max(sizes)))))
