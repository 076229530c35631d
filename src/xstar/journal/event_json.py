"""Events as JSON, and back: what is damaged, of another kind or schema, or breaks a rule (``rules.py``) is refused by name.

Fields at their default are left out, so that journals stay small.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import lru_cache
from typing import Any, get_args, get_origin, get_type_hints

from xstar.errors import RESTORE, CorruptJournal, StorageTooNew
from xstar.journal import events as ev, rules
from xstar.journal.events import KINDS, SCHEMA, Asked, Event
from xstar.journal.trial import Metrics, Origin, Verdict

FURTHEST = 6e10
"""Seconds from 1970, back and forward: what lies further cannot be shown as a date everywhere."""

_FIELDS: dict[type[Any], tuple[tuple[str, Any], ...]] = {
    cls: tuple((f.name, f.default) for f in fields(cls)) for cls in KINDS.values()
}


def dump(event: Event) -> str:
    """The JSON form, without kind and schema (storage keeps those in columns of their own)."""
    body: dict[str, Any] = {}
    for name, default in _FIELDS[type(event)]:
        value = getattr(event, name)
        if value is default or value == default:
            continue
        if name == "metrics":
            value = {key: number if math.isfinite(number) else str(number) for key, number in value.items()}
        elif name == "verdict":
            value = value.value
        elif name == "origin" and isinstance(value, Origin) and value.numbers:
            value = {"method": value.method, "detail": value.detail, "numbers": value.numbers}
        body[name] = value
    # ASCII: a reason may hold half a surrogate pair (a file name that is no UTF-8), which no database takes.
    return json.dumps(body, separators=(",", ":"), allow_nan=False)


def load(kind: str, body: str, schema: int = SCHEMA, where: str = "an event") -> Event:
    """The event that was dumped. ``where`` names it in errors."""
    if schema > SCHEMA:
        raise StorageTooNew(
            f"{where} has event schema {schema}, this xstar reads up to {SCHEMA}; upgrade xstar to open this study"
        )
    cls = KINDS.get(kind)
    if cls is None:
        raise CorruptJournal(f"{where} is of the unknown kind {kind!r}; known kinds: {', '.join(KINDS)}")
    try:
        data, end = _SCAN(body, 0)
    except (StopIteration, RecursionError, ValueError) as error:
        raise _not_json(kind, error, where) from None
    if end != len(body) or type(data) is not dict:
        raise _not_an_object(kind, body, where)
    types = _TYPES[cls]
    for name, value in data.items():
        if type(value) not in types.get(name, ()):
            raise _fault(cls, kind, data, where)
    try:
        if not abs(data.get("at", 0)) <= FURTHEST:  # NaN is not, either
            raise ValueError(f"at must be seconds since 1970, at most {FURTHEST:g}")
        if "metrics" in data:
            data["metrics"] = {key: float(number) for key, number in data["metrics"].items()}
        if "verdict" in data:
            data["verdict"] = Verdict(data["verdict"])
        if "origin" in data:
            data["origin"] = _origin(data["origin"])
        event: Event = cls(**data)
        if (check := _CHECKS.get(cls)) is not None:
            check(event)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if any(default is MISSING and name not in data for name, default in _FIELDS[cls]):
            raise _fault(cls, kind, data, where) from None
        raise CorruptJournal(f"{where} ({kind}): {error}: {body[:200]!r}") from None
    return event


_SCAN: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
"""What ``json.loads`` calls, without its allowance for white space at both ends: a third of its time."""


def _check_created(event: ev.Created) -> None:
    rules.check_objectives(event.objectives)
    rules.checked_seed(event.seed)
    rules.checked_retries(event.retries)
    rules.check_trial_value(event.trial_value, event.goals)
    rules.check_environment(event.environment or {})
    rules.check_constraints(event.constraints or {}, event.goals.metrics)


_CHECKS: dict[type[Any], Callable[[Any], object]] = {
    ev.Asked: lambda event: rules.check_known(event.known or {}),
    ev.Created: _check_created,
    ev.Reported: lambda event: event.budget > 0 or rules.checked_budget(event.budget),
    ev.Added: lambda event: rules.checked_budget(event.budget),
    ev.Held: lambda event: rules.check_state(event.state),
    ev.Environment: lambda event: rules.check_environment(event.parts),
}
"""What is asked of an event beyond the types of its fields."""


def _not_json(kind: str, error: Exception, where: str) -> CorruptJournal:
    why = "nothing there" if isinstance(error, StopIteration) else error
    return CorruptJournal(f"{where} ({kind}) is not JSON: {why}; use a backup ({RESTORE}) or an export")


def _not_an_object(kind: str, body: str, where: str) -> CorruptJournal:
    return CorruptJournal(f"{where} ({kind}) must be a JSON object, but is {body[:80]!r}")


def _fault(cls: type[Any], kind: str, data: dict[str, Any], where: str) -> CorruptJournal:
    """What is wrong with the fields of an event."""
    types, body = _TYPES[cls], repr(data)[:200]
    if missing := [name for name, default in _FIELDS[cls] if default is MISSING and name not in data]:
        return CorruptJournal(f"{where} ({kind}) lacks {', '.join(missing)}: {body}")
    if unknown := sorted(set(data) - set(types)):
        return CorruptJournal(f"{where} ({kind}) has unknown fields {unknown}: {body}")
    name = next(name for name, value in data.items() if type(value) not in types[name])
    expected = " or ".join(sorted("null" if each is type(None) else each.__name__ for each in types[name]))
    return CorruptJournal(f"{where} ({kind}): {name} is {data[name]!r}, expected {expected}")


def _origin(data: str | dict[str, Any]) -> Origin:
    if isinstance(data, str):
        return _sentence(data)
    if not isinstance(data["method"], str) or not isinstance(data["detail"], str):
        raise TypeError("method and detail of an origin must be words")
    return Origin(data["method"], data["detail"], **data["numbers"])


@lru_cache(maxsize=256)
def _sentence(text: str) -> Origin:
    return Origin.of(text)


def _json_types(hint: Any) -> tuple[type, ...]:
    """The Python types that ``json.loads`` may give for a field."""
    if hint in (Metrics, Verdict):
        return (dict,) if hint == Metrics else (str,)
    if hint is float:
        return (float, int)
    if (kind := get_origin(hint)) in (dict, list):
        return (kind,)
    return tuple(get_origin(part) or part for part in get_args(hint)) or (hint,)  # `int | None` → (int, NoneType)


_TYPES: dict[type[Any], dict[str, frozenset[type]]] = {
    cls: {name: frozenset(_json_types(hint)) for name, hint in get_type_hints(cls).items()} for cls in KINDS.values()
}
_TYPES[Asked]["origin"] = frozenset((str, dict))
