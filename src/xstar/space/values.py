"""The values of a configuration, frozen and as JSON.

Everything a configuration holds (but for a Domain's values) is a JSON scalar or a tuple of such, so that it can be
hashed, compared, stored and read by anyone.
"""

from __future__ import annotations

import math
from typing import Any

from xstar.core.checks import unwrap

#: A value of a parameter: a JSON scalar, a (nested) tuple of them, or whatever a Domain makes.
Value = Any
#: What ``json.dumps`` accepts.
Json = Any


DEEPEST = 50
"""Lists within lists of a value: far below where Python's own recursion, in ``json`` or ``repr``, ends."""


def freeze(value: object, deepest: int = DEEPEST) -> Value:
    """A JSON scalar, or nested tuples of them for lists. Raises ValueError with the reason otherwise."""
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
        if not deepest:
            raise ValueError(f"lists may be nested {DEEPEST} deep")
        return tuple([freeze(item, deepest - 1) for item in value])
    raise ValueError(f"a {type(value).__name__} cannot be stored as JSON")


def thaw(value: Value) -> Json:
    """The JSON form of a frozen value: tuples as lists."""
    if isinstance(value, tuple):
        return [thaw(item) for item in value]
    return value
