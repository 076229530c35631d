"""Checks of arguments, one rule and one wording wherever the argument stands; and plain numbers out of what users hand over."""

from __future__ import annotations

import difflib
import json
import math
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from xstar.core.words import MOST_LEVELS, outline
from xstar.errors import InvalidArgument


def whole_number(
    name: str, value: object, *, least: int, remedy: str = "", error: type[InvalidArgument] = InvalidArgument
) -> int:
    """``value`` as an int of at least ``least``. NumPy's integers count and so does 1e3, but neither True nor 2.5 does.

    >>> import numpy as np
    >>> whole_number("workers", np.int64(4), least=1)
    4
    """
    number = as_int(value)
    if number is None or number < least:
        raise error(name, f"must be a whole number of at least {least}", value, remedy)
    return number


def check_counts(
    settings: object,
    least: Mapping[str, int],
    optional: Sequence[str] = (),
    remedies: Mapping[str, str] | None = None,
) -> None:
    """Each of these settings of a frozen dataclass is a whole number, and kept as an int; ``optional`` ones may be ``None``."""
    for name, low in least.items():
        value = getattr(settings, name)
        if value is None and name in optional:
            continue
        remedy = "leave it out if in doubt" if remedies is None else remedies.get(name, "")
        object.__setattr__(settings, name, whole_number(name, value, least=low, remedy=remedy))


def check_names(settings: object, allowed: Mapping[str, Sequence[str]]) -> None:
    """Each of these settings is one of some names."""
    for name, names in allowed.items():
        value = getattr(settings, name)
        if not isinstance(value, str) or value not in names:
            raise InvalidArgument(name, f"must be one of {', '.join(names)}", value, f"e.g. {name}={names[0]!r}")


def check_switches(settings: object, *names: str) -> None:
    """Each of these settings is on or off."""
    for name in names:
        if not isinstance(value := getattr(settings, name), bool):
            raise InvalidArgument(name, "must be True or False", value, "leave it out if in doubt")


def check_shares(settings: object, *names: str) -> None:
    """Each of these settings is a number from 0 to 1, and kept as a float."""
    for name in names:
        share = as_float(getattr(settings, name))
        if share is None or not 0.0 <= share <= 1.0:
            raise InvalidArgument(name, "must be a number from 0 to 1", getattr(settings, name), "e.g. 0.1 for a tenth")
        object.__setattr__(settings, name, share)


def check_attrs(attrs: object) -> dict[str, Any]:
    """Attributes of a trial as JSON will have them: names, and values that JSON can say and a page can show."""
    remedy = 'e.g. {"commit": "4f2a1c", "parameters": 120_000, "tags": ["small"]}'
    if not isinstance(attrs, Mapping) or not all(isinstance(name, str) for name in attrs):
        raise InvalidArgument("attrs", "must map names to values", attrs, remedy)
    try:
        text = json.dumps({name: unwrap(value) for name, value in attrs.items()}, allow_nan=False, ensure_ascii=False)
        text.encode()  # half of a surrogate pair is no text
        noted: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument("attrs", f"must hold what JSON can say ({error})", f"attrs={attrs!r}", remedy) from None
    if outline(noted) != noted:
        rule = f"must not have more than {MOST_LEVELS} levels of lists and dictionaries within each other"
        raise InvalidArgument(
            "attrs", rule, f"attrs of {', '.join(noted)}", "keep it in a file of the trial's directory"
        )
    return noted


def check_path(name: str, value: object, remedy: str) -> None:
    """A path is a string or a ``pathlib.Path``; ``None`` leaves the choice to us."""
    if value is not None and not isinstance(value, str | os.PathLike):
        raise InvalidArgument(name, "must be a path", value, remedy)


def nearest(name: str, names: Collection[str]) -> str:
    """The remedy for a name that is none of ``names``: the most similar ones, or all where none is similar.

    >>> nearest("trails", ["seed", "trials"])
    "did you mean 'trials'?"
    """
    similar = difflib.get_close_matches(name, names)
    if similar:
        return f"did you mean {' or '.join(map(repr, similar))}?"
    return f"there are {', '.join(names)}"


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
