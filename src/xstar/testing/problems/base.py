"""What a problem is: a space, budgets, and for every configuration the curve a real training run would have drawn.

A problem stands in for an objective. The simulator asks it once per trial for the whole curve and then plays it back on
a clock of its own; a million curves are asked for in one comparison, hence lists of plain floats and no arrays.

Noise has an address: (problem, configuration, seed) → generator, the same in any process and in any order of calls. The
configuration is part of it. With the seed alone all configurations of one comparison would share their noise, which then shifts
all of them alike and never changes their order: the one thing noise is there to do.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np

from xstar.core.randomness import Streams
from xstar.space import Config, Space


@dataclass(frozen=True, slots=True)
class Curve:
    """What one run of one configuration would have reported."""

    losses: list[float]
    """One per budget of the problem; lower is better."""
    seconds: list[float]
    """When each was reported, counted from the start of the run: cumulative and strictly increasing."""
    others: Mapping[str, float] = field(default_factory=dict)
    """Further metrics, the same in every report: a latency, a size."""


class Problem(Protocol):
    """An objective whose answers are known beforehand. Lower is better, always.

    Configurations are canonical ones: those that ``problem.space`` sampled, decoded or parsed.
    """

    @property
    def name(self) -> str:
        """The name that ``problems.get`` knows it under."""

    @property
    def space(self) -> Space:
        """What is searched."""

    @property
    def budgets(self) -> tuple[int, ...]:
        """Ascending. Metrics exist exactly at these; the last is the full budget."""

    @property
    def unit(self) -> str:
        """What a loss is, in words: "validation error in percent"."""

    @property
    def optimum(self) -> float:
        """The lowest expected loss at the full budget that the problem can give: a regret is ``loss(x) - optimum``."""

    @property
    def best(self) -> Config:
        """A configuration whose expected loss is the optimum."""

    def curve(self, config: Mapping[str, Any], seed: int) -> Curve:
        """The run of ``config`` under ``seed``: a pure function of the two, the same in any process."""

    def loss(self, config: Mapping[str, Any]) -> float:
        """The expected loss at the full budget: without noise, or the mean of all the runs a table has."""


class Noise(threading.local):
    """The random streams of one problem; a thread has its own, because ``Streams`` sets one generator anew each time."""

    def __init__(self, name: str, space: Space) -> None:
        # Seed 0, as the user's seed is in the address. One attribute, as each costs a look into the thread's own.
        self._kept = (name, space, Streams(seed=0))

    def generator(self, config: Mapping[str, Any], seed: int) -> np.random.Generator:
        """The stream's start; valid until the next call in this thread."""
        # Not hash(): that of a string differs from process to process. 64 bits, since with 32 a million configurations
        # would meet a hundred times.
        name, space, streams = self._kept
        address = repr((space.key(config), seed)).encode()
        number = int.from_bytes(blake2b(address, digest_size=8).digest(), "little")
        return streams.generator(number, name)

    def __reduce__(self) -> tuple[type[Noise], tuple[str, Space]]:
        return type(self), self._kept[:2]
