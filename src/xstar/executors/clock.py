"""The one place that asks for the time."""

from __future__ import annotations

import time


def wall_clock() -> float:
    """Seconds since the epoch, shared by all machines."""
    return time.time()
