"""Conditions of a space that nobody declared, learned from which parameters came with which values of others.

A parameter that only some runs of a define-by-run objective ask for depends on values that were asked for before it:
``units_2`` of ``for i in range(n_layers)`` comes where ``n_layers`` is 3 or more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from xstar.space import Bool, Choice, Int, Ordinal, Parameter, at_least, at_most, between
from xstar.space.conditions import Threshold

FEW_VALUES = 20
"""Options, or values of an integer, on which others may depend: with more of them, chance explains what a few runs did."""

Row = Mapping[str, Any]
"""What one run asked for, and the values that it got, in the order of asking."""


def when_asked(name: str, rows: Sequence[Row], parameters: Mapping[str, Parameter]) -> dict[str, Any] | None:
    """The conditions (``when=``) under which runs have a parameter, empty if all have it; ``None``: none explains it."""
    when: dict[str, Any] = {}
    left = list(rows)
    while any(name not in row for row in left):
        found: list[tuple[int, str, Any, list[Row]]] = []
        for parent in _before(name, left):
            if parent in when or not has_few_values(parameters[parent]):
                continue
            condition = _condition(name, parent, left, parameters[parent])
            kept = [row for row in left if parent in row and _holds(condition, row[parent])]
            if len(kept) < len(left):
                found.append((sum(name not in row for row in kept), parent, condition, kept))
        if not found:
            return None
        _, parent, when[parent], left = min(found, key=lambda each: each[0])  # ties: the one that was asked for first
    return when


def conditional(parameters: Mapping[str, Parameter], rows: Sequence[Row]) -> tuple[dict[str, Parameter], list[str]]:
    """The parameters with the conditions that explain which rows have them, and the names of those that none explains."""
    made, unexplained = dict(parameters), []
    for name, given in parameters.items():
        when = when_asked(name, rows, parameters)
        if when is None:
            unexplained.append(name)
        elif when:
            made[name] = replace(given, when=when)  # type: ignore[type-var]  # every kind is a dataclass
    return made, unexplained


def has_few_values(given: Parameter) -> bool:
    """Whether others may depend on a parameter."""
    return isinstance(given, Choice | Ordinal | Bool | Int) and given.size <= FEW_VALUES


def _before(name: str, rows: Sequence[Row]) -> list[str]:
    """The parameters that every run with this one had asked for before it."""
    found: list[str] | None = None
    for row in rows:
        if name in row:
            earlier = list(row)[: list(row).index(name)]
            found = earlier if found is None else [each for each in found if each in earlier]
    return found or []


def _condition(name: str, parent: str, rows: Sequence[Row], given: Parameter) -> Any:
    """The values of the parent with which the parameter comes: a list of options, or a range."""
    on = [row[parent] for row in rows if name in row]
    if not isinstance(given, Int):
        every = [given.value_at(place) for place in range(int(given.size))]
        return [option for option in every if option in on]
    off = [row[parent] for row in rows if name not in row and parent in row]
    low, high = min(on), max(on)
    if not any(value > high for value in off):
        return at_least(low)
    return between(low, high) if any(value < low for value in off) else at_most(high)


def _holds(condition: Any, value: Any) -> bool:
    if isinstance(condition, Threshold):
        low, high = condition.low, condition.high
        return (low is None or value >= low) and (high is None or value <= high)
    return value in condition


def in_words(name: str, when: Mapping[str, Any]) -> str:
    """``units_2 where n_layers is at_least(3)``."""
    parts = [f"{parent} is {' or '.join(map(repr, c)) if isinstance(c, list) else c}" for parent, c in when.items()]
    return f"{name} where {' and '.join(parts)}"
