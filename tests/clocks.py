"""A clock for tests of time limits: it stands still until it is moved, so that no limit passes because the machine is busy."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Time:
    """What ``xstar.executors.clock`` takes for the module ``time``."""

    wall: float = 1000.0
    passed: Callable[[], float] = lambda: 0.0

    def time(self) -> float:
        return self.wall

    def monotonic(self) -> float:
        return self.passed()

    def process_time(self) -> float:
        return time.process_time()
