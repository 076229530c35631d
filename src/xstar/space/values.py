"""Plain Python values out of whatever users hand over: the only place that knows about numpy scalars.

Everything a configuration holds (but for a Domain's values) is a JSON scalar or a tuple of such, so that it can be
hashed, compared, stored and read by anyone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: A value of a parameter: a JSON scalar, a (nested) tuple of them, or whatever a Domain makes.
Value = Any
#: What ``json.dumps`` accepts.
Json = Any


def unwrap(value: object) -> object:
    """Numpy scalars and arrays as Python scalars and lists; everything else as it came."""
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
    """An int (8.0 counts as 8, as JSON and numpy blur the two), or None where there is none."""
    value = unwrap(value)
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and value.is_integer():  # False for NaN and inf
        return int(value)
    return None


def freeze(value: object) -> Value:
    """A JSON scalar, or nested tuples of them where lists came. Raises ValueError with the reason otherwise."""
    value = unwrap(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # a member of a str-Enum becomes the str it stands for
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("NaN and infinity have no JSON form and NaN does not equal itself")
        return float(value)
    if isinstance(value, (list, tuple)):
        try:
            return tuple(freeze(item) for item in value)
        except RecursionError:
            raise ValueError("a list that contains itself has no end") from None
    raise ValueError(f"a {type(value).__name__} cannot be stored as JSON")


def thaw(value: Value) -> Json:
    """The JSON form of a frozen value: tuples as lists."""
    if isinstance(value, tuple):
        return [thaw(item) for item in value]
    return value
