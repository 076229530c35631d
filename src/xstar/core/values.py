"""Plain Python numbers out of whatever users hand over: the only place that knows about NumPy scalars."""

from __future__ import annotations

import math

import numpy as np


def unwrap(value: object) -> object:
    """NumPy scalars and arrays as Python scalars and lists; everything else as it came."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value


def as_float(value: object) -> float | None:
    """A finite float, or None where there is none. Booleans are no numbers here: ``lr=True`` is a mistake."""
    value = unwrap(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:  # an int beyond 1.8e308
        return None
    return number if math.isfinite(number) else None


def as_int(value: object) -> int | None:
    """An int (8.0 counts as 8, as JSON and NumPy blur the two), or None where there is none."""
    value = unwrap(value)
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and value.is_integer():  # False for NaN and inf
        return int(value)
    return None
