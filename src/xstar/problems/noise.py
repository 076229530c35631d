"""Noise with an address: (problem, configuration, seed) → generator, the same in any process and in any order of calls.

The configuration is part of the address. With the seed alone all configurations of one comparison would share their noise,
which then shifts all of them alike and never changes their order: the one thing noise is there to do.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np

from xstar.core.randomness import Streams
from xstar.space import Space


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
