"""How stored settings of asynchronous halving are read that were written before there was a choice.

Each function returns the readings of what is stored, the rules of its day first. Asking for the method of today is not asking
for another, if what is stored was usual in its day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Stored = Mapping[str, Any]

TODAY: Stored = {"min_budget": None, "last_rung": "best", "ladder": "top"}
"""What stopping has by default."""
ADDED: Mapping[str, tuple[str, str]] = {
    "ties": ("earliest", "latest"),
    "diverged": ("keep", "drop"),
    "silent": ("compare", "pass"),
}
"""Settings that were added later: what was done before, and what is done today."""


def stopping_of_earlier_releases(data: Stored) -> list[Stored]:
    return _with_added(data, _of_earlier_releases(data))


def promoting_of_earlier_releases(data: Stored) -> list[Stored]:
    return _with_added(data, _with_rules_for_steps(data))


def _with_added(data: Stored, readings: Sequence[Stored]) -> list[Stored]:
    for name, rules in ADDED.items():
        if name not in data:
            readings = [{**each, name: rule} for rule in rules for each in readings]
    return [*readings]


def _of_earlier_releases(data: Stored) -> list[Stored]:
    """Before there was a choice, 1/η went on from every rung, and ladders began at the bottom, with one epoch."""
    if "ladder" in data:
        return [data]
    readings: list[Stored] = [{**data, "ladder": "bottom"}]
    if "last_rung" not in data:
        readings = [{**readings[0], "last_rung": rule} for rule in ("eta", "ratio")]
    usual = data.get("last_rung", "ratio") == "ratio" and data.get("min_budget", 1) == 1
    return [*readings, {**data, **TODAY}] if usual else readings


def _with_rules_for_steps(data: Stored) -> list[Stored]:
    """Before there was a choice, 1/η went on, however long the step, and the best of the last rung but one, but no quick one
    before."""
    readings = _with_rules_for_equal_trials(data)
    if "long_steps" in data:
        return readings
    asked = [{**each, "long_steps": "ratio"} for each in readings]
    asked += [{**each, "last_rung": "quick"} for each in asked if each.get("last_rung") == "best"]
    return [*({**each, "long_steps": "eta"} for each in readings), *asked]


def _with_rules_for_equal_trials(data: Stored) -> list[Stored]:
    """Before there was a choice, each of several equal trials went on, then one of them."""
    if "repeats" in data:
        readings = _of_earlier_releases(data)
        later = ("distinct",) if data["repeats"] == "once" else ()
        return [*readings, *({**reading, "repeats": rule} for rule in later for reading in readings)]
    if "ladder" in data:
        return [{**data, "repeats": rule} for rule in ("each", "once", "distinct")]
    readings = _of_earlier_releases(data)
    return [{**reading, "repeats": "distinct" if TODAY.items() <= reading.items() else "each"} for reading in readings]
