"""Which trials a table shows, and in which order: words of a search box become conditions.

lr<0.01 optimizer=sgd value<=0.3     all of these
state=failed,infeasible              one of these
out of memory                        words found in the reason, the origin or the configuration
"""

from __future__ import annotations

import math
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
FIELDS = ("number", "state", "value", "budget", "seconds", "bracket", "began")

Read = Callable[[Trial], Any]


def reader(history: History, name: str) -> Read:
    """What a column shows of a trial; ``ABSENT`` where it has nothing."""
    plain: dict[str, Read] = {
        "number": lambda trial: trial.number,
        "state": lambda trial: trial.state.value,
        "value": lambda trial: ABSENT if trial.losses is None or len(trial.losses) > 1 else trial.value,
        "budget": lambda trial: trial.budget,
        "seconds": lambda trial: ABSENT if trial.seconds is None else trial.seconds,
        "bracket": lambda trial: trial.bracket,
        "began": lambda trial: trial.runs.asked_at,
    }
    if name in history.space.parameters:
        return lambda trial: value_in(trial, name)
    if name in plain:
        return plain[name]
    metric = name.removeprefix("metric.")
    if name.startswith("metric."):
        return lambda trial: trial.metrics.get(metric, ABSENT)
    known = ", ".join([*FIELDS, *history.space.parameters])
    raise InvalidArgument("column", f"must be one of {known}, or metric.NAME", name)


def select(history: History, words: str, states: Sequence[str] = ()) -> list[Trial]:
    """The trials that meet all conditions of a search box, and are in one of ``states`` if any are given."""
    tests, text = _conditions(history, words)
    wanted = {_state(name) for name in states}
    found: Sequence[Trial] = history.trials
    if wanted:
        found = [trial for trial in found if trial.state in wanted]
    for test in tests:
        found = [trial for trial in found if test(trial)]
    if text:
        found = [trial for trial in found if text in _words(trial)]
    return list(found)


def order(history: History, trials: list[Trial], column: str, descending: bool) -> list[Trial]:
    """The trials by a column; those that have nothing there come last, ties by number."""
    read = reader(history, column)
    has: list[tuple[Any, Trial]] = []
    rest: list[Trial] = []
    for trial in trials:
        value = read(trial)
        missing = value is ABSENT or (isinstance(value, float) and math.isnan(value))
        if missing:
            rest.append(trial)
        else:
            has.append((value, trial))
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value, _ in has):
        has = [(str(value), trial) for value, trial in has]
    has.sort(key=lambda pair: pair[0], reverse=descending)
    return [trial for _, trial in has] + rest


def _conditions(history: History, words: str) -> tuple[list[Callable[[Trial], bool]], str]:
    tests: list[Callable[[Trial], bool]] = []
    rest: list[str] = []
    for word in words.split():
        match = CONDITION.fullmatch(word)
        if match is None:
            rest.append(word)
            continue
        if len(tests) == MOST_CONDITIONS:
            raise InvalidArgument("filter", f"must have at most {MOST_CONDITIONS} conditions", len(words.split()))
        tests.append(_condition(reader(history, match[1]), match[2], match[3]))
    return tests, " ".join(rest).lower()


def _condition(read: Read, sign: str, wanted: str) -> Callable[[Trial], bool]:
    if sign in ("=", "!="):
        options = set(wanted.lower().split(","))
        numbers = {value for option in options if (value := _number(option)) is not None}

        def equal(trial: Trial) -> bool:
            value = read(trial)
            if value is ABSENT:
                return False
            if isinstance(value, int | float) and not isinstance(value, bool) and value in numbers:
                return True
            return str(value).lower() in options

        return equal if sign == "=" else lambda trial: read(trial) is not ABSENT and not equal(trial)
    limit = _number(wanted)
    if limit is None:
        raise InvalidArgument("filter", f"{sign} compares with a number", wanted, "e.g. lr<0.01")
    compare: dict[str, Callable[[float], bool]] = {
        "<": lambda value: value < limit,
        "<=": lambda value: value <= limit,
        ">": lambda value: value > limit,
        ">=": lambda value: value >= limit,
    }
    holds = compare[sign]

    def ordered(trial: Trial) -> bool:
        value = read(trial)
        return isinstance(value, int | float) and not isinstance(value, bool) and holds(float(value))

    return ordered


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _words(trial: Trial) -> str:
    return (
        f"{trial.number} {trial.state.value} {trial.origin} {short_config(trial.config)} {trial.reason or ''}".lower()
    )


def _state(name: str) -> State:
    try:
        return State(name)
    except ValueError:
        raise InvalidArgument("state", f"must be one of {', '.join(state.value for state in State)}", name) from None
