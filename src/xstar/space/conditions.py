"""Conditions: when a parameter takes part at all.

``when={"optimizer": "sgd"}`` (one value), ``when={"optimizer": ["sgd", "rmsprop"]}`` (a *list* is several values, a
tuple is one value), ``when={"layers": at_least(3)}``. Several parents must all agree. ``structure.py`` checks a
condition against its parent, once the whole space is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xstar.errors import InvalidSpace
from xstar.space.values import Json, Value, freeze, thaw


@dataclass(frozen=True)
class OneOf:
    """The parent's value is one of these."""

    values: tuple[Value, ...]

    def __repr__(self) -> str:
        return repr(self.values[0]) if len(self.values) == 1 else repr(list(self.values))

    def to_json(self) -> Json:
        return {"in": [thaw(value) for value in self.values]}


@dataclass(frozen=True)
class Threshold:
    """The parent's value is at least ``low`` and at most ``high``; None on a side that is open."""

    low: Value
    high: Value

    def __repr__(self) -> str:
        if self.high is None:
            return f"at_least({self.low!r})"
        if self.low is None:
            return f"at_most({self.high!r})"
        return f"between({self.low!r}, {self.high!r})"

    def to_json(self) -> Json:
        sides = {"at_least": self.low, "at_most": self.high}
        return {side: thaw(value) for side, value in sides.items() if value is not None}


Condition = OneOf | Threshold


def at_least(low: Value) -> Threshold:
    """The metric of a constraint, or in ``when=`` the parent's value, is ``low`` or more (an Ordinal: or a later one)."""
    return Threshold(_bound("at_least", low), None)


def at_most(high: Value) -> Threshold:
    """The metric of a constraint, or in ``when=`` the parent's value, is ``high`` or less (an Ordinal: or an earlier one)."""
    return Threshold(None, _bound("at_most", high))


def between(low: Value, high: Value) -> Threshold:
    """The metric of a constraint, or in ``when=`` the parent's value, lies between the two, both included."""
    return Threshold(_bound("between", low), _bound("between", high))


def _bound(function: str, value: object) -> Value:
    remedy = "give a number, or an option of the Ordinal it is compared with"
    if value is None:
        raise InvalidSpace(function, "a threshold must be a value, not None", value, remedy)
    try:
        return freeze(value)
    except ValueError as error:
        raise InvalidSpace(function, f"a threshold must be a plain value ({error})", value, remedy) from None


class When(Mapping[str, Condition]):
    """The conditions of one parameter, by parent: immutable, hashable, in order of the parents' names."""

    __slots__ = ("_by_parent",)

    def __init__(self, by_parent: Mapping[str, Condition]) -> None:
        self._by_parent = {parent: by_parent[parent] for parent in sorted(by_parent)}

    def __getitem__(self, parent: str) -> Condition:
        return self._by_parent[parent]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_parent)

    def __len__(self) -> int:
        return len(self._by_parent)

    def __hash__(self) -> int:
        return hash(tuple(self._by_parent.items()))

    def __repr__(self) -> str:
        return repr(self._by_parent)

    def to_json(self) -> Json:
        return {parent: condition.to_json() for parent, condition in self._by_parent.items()}


def read_when(when: object) -> When | None:
    """What a user wrote after ``when=`` as a When; None stays None."""
    if when is None or isinstance(when, When):
        return when
    remedy = 'write when={"parent": value}, a list for several values, or at_least / at_most / between'
    if not isinstance(when, Mapping) or not all(isinstance(parent, str) for parent in when):
        raise InvalidSpace("when", "must map names of parameters to values", when, remedy)
    if not when:
        raise InvalidSpace("when", "must name at least one parameter", when, "leave when= out for no condition")
    return When({parent: _read_condition(parent, wanted, remedy) for parent, wanted in when.items()})


def _read_condition(parent: str, wanted: object, remedy: str) -> Condition:
    if isinstance(wanted, (OneOf, Threshold)):
        return wanted
    values = wanted if isinstance(wanted, list) else [wanted]
    if not values:
        raise InvalidSpace(f"when[{parent!r}]", "must allow at least one value", wanted, remedy)
    try:
        return OneOf(tuple(freeze(value) for value in values))
    except ValueError as error:
        remedy = f'{remedy}; for a class or an object its name, when={{"clf": "SVC"}}'
        raise InvalidSpace(f"when[{parent!r}]", f"must hold plain values ({error})", wanted, remedy) from None


def when_from_json(data: Json) -> When | None:
    """The inverse of ``When.to_json``."""
    if data is None:
        return None
    remedy = 'write {"parent": {"in": [values]}} or {"parent": {"at_least": low, "at_most": high}}'
    if not isinstance(data, Mapping) or not data:
        raise InvalidSpace("when", "must be an object of conditions by parent", data, remedy)
    try:
        return When({parent: _condition_from_json(condition) for parent, condition in data.items()})
    except ValueError as error:
        raise InvalidSpace("when", f"must hold conditions ({error})", data, remedy) from None


def _condition_from_json(data: Json) -> Condition:
    keys = set(data) if isinstance(data, Mapping) else set()
    if keys == {"in"} and isinstance(data["in"], list) and data["in"]:
        return OneOf(tuple(freeze(value) for value in data["in"]))
    if keys and keys <= {"at_least", "at_most"}:
        return Threshold(freeze(data.get("at_least")), freeze(data.get("at_most")))
    raise ValueError(f"{data!r} is none")
