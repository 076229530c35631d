"""A clock for tests of time limits: it stands still until it is moved, so that no limit passes because the machine is busy."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xstar as xs
from xstar.study.settings import Settings


@dataclass
class Time:
    """What ``xstar.core.clock`` takes for the module ``time``."""

    wall: float = 1000.0
    passed: Callable[[], float] = lambda: 0.0

    def time(self) -> float:
        return self.wall

    def monotonic(self) -> float:
        return self.passed()

    def process_time(self) -> float:
        return time.process_time()


class Overrun:
    """Watches a search and moves its clock as long as a trial runs that has made a file: until its time is over.

    Again and again, since the time of a trial counts from when its worker is heard to be ready.
    """

    def __init__(self, clock: Time, begun: Path, trial: int = 0) -> None:
        self._clock, self._begun, self._trial = clock, begun, trial

    def __call__(self, study: xs.Study) -> None:
        if self._begun.exists() and study.trials[self._trial].state is xs.State.RUNNING:
            before = self._clock.passed
            self._clock.passed = lambda: before() + 1000.0


def study_at(clock: Callable[[], float], *space: xs.Space, **settings: Any) -> xs.Study:
    """A study with a clock of its own."""
    return xs.Study._of(Settings(*space, **settings), clock=clock)
