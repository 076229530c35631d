"""Which trials a table shows, and in which order: words of a search box become conditions.

lr<0.01 optimizer=sgd value<=0.3     all of these
state=failed,infeasible              one of these
out of memory                        words found in the reason, the origin or the configuration
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

from xstar.core.words import short_config
from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.journal.trial import State, Trial
from xstar.look.plots.source import ABSENT, value_in

CONDITION = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)(<=|>=|!=|=|<|>)(\S+)")
MOST_CONDITIONS = 20
ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

Read = Callable[[Trial], Any]

FIELDS: dict[str, Read] = {
    "number": lambda trial: trial.number,
    "state": lambda trial: trial.state.value,
    "value": lambda trial: ABSENT if trial.losses is None or len(trial.losses) > 1 else trial.value,
    "budget": lambda trial: trial.budget,
    "seconds": lambda trial: ABSENT if trial.seconds is None else trial.seconds,
    "bracket": lambda trial: trial.bracket,
    "began": lambda trial: trial.runs.asked_at,
}


def reader(history: History, name: str) -> Read:
    """What a column shows of a trial; ``ABSENT`` where it has nothing."""
    if name in history.space.parameters:
        return lambda trial: value_in(trial, name)
    if name.startswith("metric."):
        return lambda trial: trial.metrics.get(name.removeprefix("metric."), ABSENT)
    if name not in FIELDS:
        known = ", ".join([*FIELDS, *history.space.parameters])
        raise InvalidArgument("column", f"must be one of {known}, or metric.NAME", name)
    return FIELDS[name]


def select(history: History, words: str, states: Sequence[str] = ()) -> list[Trial]:
    """The trials that meet all conditions of a search box, and are in one of ``states`` if any are given."""
    matches = [(word, CONDITION.fullmatch(word)) for word in words.split()]
    if sum(match is not None for _, match in matches) > MOST_CONDITIONS:
        raise InvalidArgument("filter", f"must have at most {MOST_CONDITIONS} conditions", len(matches))
    tests = [_condition(reader(history, match[1]), match[2], match[3]) for _, match in matches if match]
    if text := " ".join(word for word, match in matches if match is None).lower():
        tests.append(lambda trial: text in _words(trial))
    if wanted := {_state(name) for name in states}:
        tests.insert(0, lambda trial: trial.state in wanted)
    return [trial for trial in history.trials if all(test(trial) for test in tests)]


def order(history: History, trials: list[Trial], column: str, descending: bool) -> list[Trial]:
    """The trials by a column; those that have nothing there come last, ties by number."""
    read = reader(history, column)
    pairs = [(read(trial), trial) for trial in trials]
    missing = [value is ABSENT or (isinstance(value, float) and math.isnan(value)) for value, _ in pairs]
    known = [pair for pair, absent in zip(pairs, missing, strict=True) if not absent]
    words = not all(_is_number(value) for value, _ in known)
    known.sort(key=lambda pair: str(pair[0]) if words else pair[0], reverse=descending)
    return [trial for _, trial in known] + [trial for (_, trial), absent in zip(pairs, missing, strict=True) if absent]


def _condition(read: Read, sign: str, wanted: str) -> Callable[[Trial], bool]:
    if sign in ORDERS:
        limit, holds = _number(wanted), ORDERS[sign]
        if limit is None:
            raise InvalidArgument("filter", f"{sign} compares with a number", wanted, "e.g. lr<0.01")
        return lambda trial: _is_number(value := read(trial)) and holds(float(value), limit)
    options = set(wanted.lower().split(","))
    numbers = {_number(option) for option in options} - {None}

    def meets(trial: Trial) -> bool:
        value = read(trial)
        equal = (_is_number(value) and value in numbers) or str(value).lower() in options
        return value is not ABSENT and equal is (sign == "=")

    return meets


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _words(trial: Trial) -> str:
    told = (trial.number, trial.state.value, trial.origin, short_config(trial.config), trial.reason or "")
    return " ".join(map(str, told)).lower()


def _state(name: str) -> State:
    try:
        return State(name)
    except ValueError:
        raise InvalidArgument("state", f"must be one of {', '.join(state.value for state in State)}", name) from None
