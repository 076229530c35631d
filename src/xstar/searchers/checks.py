"""Checks of the settings that searchers have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xstar.errors import InvalidArgument


def check_names(settings: object, allowed: Mapping[str, Sequence[str]]) -> None:
    """Each of these settings is one of some names."""
    for name, names in allowed.items():
        value = getattr(settings, name)
        if not isinstance(value, str) or value not in names:
            raise InvalidArgument(name, f"must be one of {', '.join(names)}", value, f"e.g. {name}={names[0]!r}")


def check_counts(settings: object, least: Mapping[str, int], optional: Sequence[str] = ()) -> None:
    """Each of these settings is a whole number; those that are ``optional`` may be ``None``."""
    for name, low in least.items():
        value = getattr(settings, name)
        if value is None and name in optional:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            raise InvalidArgument(name, f"must be a whole number of at least {low}", value, "leave it out if in doubt")


def check_switches(settings: object, *names: str) -> None:
    """Each of these settings is on or off."""
    for name in names:
        if not isinstance(value := getattr(settings, name), bool):
            raise InvalidArgument(name, "must be True or False", value, "leave it out if in doubt")
