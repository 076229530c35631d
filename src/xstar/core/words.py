"""How things are put into words: numbers, durations, configurations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def numbers(values: Iterable[float], digits: int = 5) -> str:
    """The objectives of a trial for people: ``0.031`` or ``0.031, 1200``; a dash where there are none."""
    return ", ".join(number(value, digits) for value in values) or number(None)


def number(value: float | None, digits: int = 5) -> str:
    """A metric's value for reading, not for computing."""
    return "-" if value is None else f"{value:.{digits}g}"


def seconds(value: float | None) -> str:
    """A duration: ``0.31 s``, ``12.3 s``, ``4 min 05 s``, ``3 h 12 min``."""
    if value is None:
        return "-"
    if value < 60:
        return f"{value:.2f} s" if value < 1 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def plural(count: int, noun: str) -> str:
    """``1 trial``, ``2 trials``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def short(value: Any) -> str:
    """A parameter's value in a few characters."""
    if isinstance(value, float):
        return f"{value:.3g}"
    return value if isinstance(value, str) else str(value)


def short_config(config: Mapping[str, Any]) -> str:
    """A configuration on one line."""
    return " ".join(f"{name}={short(value)}" for name, value in config.items())


def is_readable(text: str) -> bool:
    """Whether the text can be written as UTF-8: it has no half of a surrogate pair."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def readable(text: str) -> str:
    """The text with halves of surrogate pairs as ``\\udcff``."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


MOST_LEVELS = 20
"""Levels of nested lists and dictionaries that are shown of a value."""


def outline(value: Any, levels: int = MOST_LEVELS) -> Any:
    """JSON whose innermost lists and dictionaries are left out where they are too deep to be shown."""
    if isinstance(value, dict):
        return {key: outline(each, levels - 1) for key, each in value.items()} if levels else "…"
    if isinstance(value, list | tuple):
        return [outline(each, levels - 1) for each in value] if levels else "…"
    return value


_DIRECTIONS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

TERMINAL_COMMANDS = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0), *map(ord, _DIRECTIONS)} - {*map(ord, "\n\t")})
"""Characters that command a terminal instead of being shown: the controls, and those that turn the direction of text."""


def harmless(text: str) -> str:
    """The text without what a terminal would take for a command."""
    return text.translate(TERMINAL_COMMANDS)


LONGEST_REASON = 20_000
"""Characters of a reason that are kept: a traceback has a few thousand, an exception that prints an array has no end."""

LONGEST_LINE = 1_000
"""Characters of a reason's last line that are shown."""

BY_WHOM = " (by the system when memory ran out, which its log then says, or by a user or a program)"
"""SIGKILL does not tell who sent it."""


def shortened(reason: str) -> str:
    """The reason with its middle left out if it is too long to keep: it begins and ends as before.

    Half of a surrogate pair (Python reads the name of a file that is no UTF-8 so) becomes ``\\udcff``: no page could show it.
    """
    reason = readable(reason)
    cut = len(reason) - LONGEST_REASON
    if cut <= 0:
        return reason
    head = LONGEST_REASON // 4  # the end names the error, so it gets more
    return f"{reason[:head]}\n[… {cut:,} characters left out …]\n{reason[head + cut :]}"


def last_line(reason: str) -> str:
    """The line of a traceback that names the error, without what a terminal would take for a command."""
    lines = readable(reason).strip().splitlines()
    line = "".join(character for character in lines[-1] if character.isprintable()) if lines else ""
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"
