"""What the fields of events must be: the same rules for a user's arguments and for a journal that came from elsewhere.

Each raises :class:`~xstar.errors.InvalidArgument`, which names the field, the rule and the value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xstar.core.checks import as_float, whole_number
from xstar.core.goals import Goals, read_goals
from xstar.core.words import is_readable
from xstar.errors import InvalidArgument
from xstar.space.conditions import Threshold

DIRECTIONS = ("minimize", "maximize")
TRIAL_VALUES = ("last", "best")
"""Which report of a trial is its value where the best is chosen. The last by default: it is the model that the trial has."""
MOST_TIMES_LOST = 5
"""How often a trial whose *program* died is run again before it counts as failed.

A program's death is rarely the trial's fault, so this is generous; without a limit a trial that takes its machine down
(memory, driver) would do so at every restart. Deaths of a *worker* are counted by ``retries`` instead.
"""
HOLDS = ("go", "pause", "stop")


def check_word(name: str, value: object, allowed: tuple[str, ...], remedy: str = "") -> None:
    """One of some words."""
    if not isinstance(value, str) or value not in allowed:
        raise InvalidArgument(name, f"must be one of {', '.join(allowed)}", value, remedy)


def check_state(value: object) -> None:
    """How a study is held."""
    check_word("state", value, HOLDS, "pause: nothing is started until go; stop: programs end once their trials have")


def checked_seed(value: object) -> int:
    """The seed of a study."""
    return whole_number("seed", value, least=0, remedy="e.g. seed=1, or leave it out")


def checked_retries(value: object) -> int:
    """How often a trial whose worker died is run again."""
    return whole_number("retries", value, least=0, remedy="it is how often a lost trial is run again")


def checked_budget(value: object) -> int:
    """Where a report stands."""
    return whole_number("budget", value, least=1, remedy="count the epochs from 1")


def check_objectives(objectives: object) -> None:
    """What is minimised or maximised, as the journal has it."""
    if not isinstance(objectives, list) or not all(isinstance(each, dict) for each in objectives):
        raise InvalidArgument("objectives", "must be a list of objectives", objectives)
    for each in objectives:
        if not {"metric", "direction"} <= set(each) <= {"metric", "direction", "threshold", "known"}:
            raise InvalidArgument("objectives", "must have a metric and a direction", objectives)
        check_word("direction", each["direction"], DIRECTIONS)
        if not isinstance(each.get("known", False), bool):
            raise InvalidArgument("objectives", "known must be true or false", each["known"])
    read_goals({each["metric"]: [each["direction"], *_threshold(each)] for each in objectives}, None)


def check_known(known: Mapping[Any, Any]) -> None:
    """The values of objectives that are functions of the configuration."""
    if not all(isinstance(name, str) and as_float(value) is not None for name, value in known.items()):
        raise InvalidArgument("known", "must map names of objectives to finite numbers", known)


def check_trial_value(which: object, goals: Goals) -> None:
    """Which report of a trial is its value."""
    check_word("trial_value", which, TRIAL_VALUES)
    if goals.several and which != TRIAL_VALUES[0]:
        rule = "must be last with several objectives: reports differ in what they are best at"
        raise InvalidArgument("trial_value", rule, which)


def _threshold(each: Mapping[str, Any]) -> list[Any]:
    return [each["threshold"]] if "threshold" in each else []


def check_environment(environment: Mapping[Any, Any]) -> None:
    """Versions and kernels by name (``core/environment.py``)."""
    if not all(isinstance(name, str) and isinstance(value, str) for name, value in environment.items()):
        raise InvalidArgument("environment", "must map names to words", environment)


def check_constraints(constraints: object, metrics: Sequence[str]) -> None:
    """Bounds by the name of a metric: the largest allowed value, or its sides (``journal/constraints.py``)."""
    remedy = 'e.g. constraints={"latency": 50.0, "accuracy": xs.at_least(0.9)}: trials that end beyond are infeasible'
    if not isinstance(constraints, Mapping):
        rule = "must map names of metrics to their largest allowed value, or to at_least, at_most or between"
        raise InvalidArgument("constraints", rule, constraints, remedy)
    for name, bound in constraints.items():
        if not isinstance(name, str) or not is_readable(name) or name in metrics:
            rule = f"must name metrics other than {' and '.join(map(repr, metrics))}"
            raise InvalidArgument("constraints", rule, name, remedy)
        limits = [as_float(side) for side in _sides(bound)]
        if not limits or None in limits:
            raise InvalidArgument("constraints", f"the bound of {name!r} must be a finite number", bound, remedy)
        if limits != sorted(limits):  # type: ignore[type-var]
            raise InvalidArgument("constraints", f"the bounds of {name!r} must leave something", bound, "swap the two")


def _sides(bound: Any) -> list[Any]:
    """The limits of a bound, the lower one first, as a user or the journal writes it."""
    if isinstance(bound, Threshold):
        return [side for side in (bound.low, bound.high) if side is not None]
    if isinstance(bound, Mapping):
        known = set(bound) <= {"at_least", "at_most"}
        return [bound[side] for side in ("at_least", "at_most") if side in bound] if known else []
    return [bound]
