"""The one place that asks for the time."""

from __future__ import annotations

import time


def wall_clock() -> float:
    """Seconds since the epoch, shared by all machines: what events carry."""
    return time.time()


def monotonic_clock() -> float:
    """Seconds since some moment; never set back or forward: what time limits are measured with."""
    return time.monotonic()
