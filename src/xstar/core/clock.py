"""The one place that asks for the time."""

from __future__ import annotations

import time
from collections.abc import Callable


def wall_clock() -> float:
    """Seconds since the epoch, shared by all machines: what events carry."""
    return time.time()


def monotonic_clock() -> float:
    """Seconds since some moment; never set back or forward: what time limits are measured with."""
    return time.monotonic()


def processor_clock() -> float:
    """Seconds of processor time that this process has used: what a decision costs, however busy the machine is."""
    return time.process_time()


def stopwatch(clock: Callable[[], float]) -> Callable[[], float]:
    """What measures durations for someone whose events carry ``clock``: the wall clock may jump, a virtual clock does not."""
    return monotonic_clock if clock is wall_clock else clock
