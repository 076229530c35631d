"""What can happen to a study. The journal is a list of these; everything else is computed from it.

An event is a frozen dataclass of plain JSON data: no space, no class of ours is needed to read it. Fields at their
default are left out of the JSON form, so journals stay small and old events stay readable when a field is added.

    kind        appended when
    created     the study begins (always sequence number 0)
    enqueued    a user wants a configuration tried first
    asked       a new trial begins to run
    started     a known trial runs again: promoted by the scheduler, or after its worker or program died
    reported    metrics arrived; carries the verdict, so that report and decision are one atomic fact
    completed   the objective returned without a further value
    failed      the run ended without a result
    lost        the program that ran the trial died (its lease expired) or gave it up
    added       an observation made elsewhere
    annotated   a user noted something about a trial, which no decision looks at
    brought     a new study begins with what another one observed: no trials of its own, but searchers may learn from it
    widened     the space has become larger: the trials so far stay, decisions from here on are made in the new one
    held        a user wants no more trials to be started, for a while or for good; or wants it to go on
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import lru_cache
from typing import Any, get_args, get_origin, get_type_hints

from xstar.errors import CorruptJournal, StorageTooNew
from xstar.trial import Metrics, Origin, Verdict

SCHEMA = 4
"""Number of the JSON form of events. A reader refuses higher numbers and upgrades lower ones.

1   an origin is a sentence
2   an origin with numbers is an object of ``method``, ``detail`` and ``numbers``; one without is a sentence still;
    a study knows the name of its method and why it was chosen; a constraint may be a lower bound;
    what is enqueued may be a part of a configuration; there are annotations
3   a report says how many events its verdict had ``seen``; before, it had seen all that came before it;
    a study may say which report of a trial counts
4   a study may begin with the observations of others; its space may become wider; it may be held
"""


@dataclass(frozen=True, slots=True)
class Created:
    space: dict[str, Any]
    metric: str
    direction: str
    seed: int
    searcher: dict[str, Any]
    scheduler: dict[str, Any]
    retries: int
    files: str
    """Name of the folder that holds the trials' checkpoints and output; stays when the study is renamed."""
    at: float
    version: str = ""
    """The release of xstar that created the study."""
    constraints: dict[str, Any] | None = None
    """Bounds of some metrics, as in ``journal/bounds.py``: a trial that ends beyond one is infeasible."""
    method: str = ""
    """The name of the method; empty where it has none, and in journals of schema 1."""
    why: str = ""
    """Why this method, in a sentence; empty if the user chose it."""
    best: str = "last"
    """Which report of a trial is its value where the best is chosen: its ``last``, or the one with the ``lowest`` loss."""
    program: dict[str, Any] | None = None
    """Of a study that ``xstar run`` made: its file and how it was called, for those who join (``xstar work``)."""


@dataclass(frozen=True, slots=True)
class Enqueued:
    config: dict[str, Any]
    """Some values, or all of them."""
    at: float


@dataclass(frozen=True, slots=True)
class Asked:
    trial: int
    config: dict[str, Any]
    origin: str
    """An :class:`~xstar.trial.Origin`, or only a sentence."""
    seen: int
    """The decision is a function of the first ``seen`` events."""
    at: float
    budget: int | None = None
    bracket: int = 0
    queued: int | None = None
    """Which of the enqueued configurations this is."""


@dataclass(frozen=True, slots=True)
class Started:
    trial: int
    attempt: int
    seen: int
    at: float
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class Reported:
    trial: int
    budget: int
    metrics: Metrics
    at: float
    attempt: int = 0
    verdict: Verdict = Verdict.CONTINUE
    final: bool = False
    """The trial is complete with this report."""
    seen: int | None = None
    """The verdict is a function of the first ``seen`` events; ``None`` (schema 1 and 2): of all before this one."""


@dataclass(frozen=True, slots=True)
class Completed:
    trial: int
    at: float
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Failed:
    trial: int
    kind: str
    reason: str
    at: float
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Lost:
    trial: int
    reason: str
    at: float
    attempt: int = 0
    released: bool = False
    """Given up on purpose (an interrupt, a closed study): not held against the trial."""


@dataclass(frozen=True, slots=True)
class Added:
    trial: int
    config: dict[str, Any]
    metrics: Metrics
    at: float
    budget: int = 1


@dataclass(frozen=True, slots=True)
class Annotated:
    trial: int
    attrs: dict[str, Any]
    """Names and values of any JSON; a name that is there already gets the new value."""
    at: float


@dataclass(frozen=True, slots=True)
class Brought:
    """A copy of what another study observed, so that this journal says all that its decisions rest on."""

    source: str
    """The name of the other study; empty if it was in memory."""
    configs: list[dict[str, Any]]
    """Its configurations, as those of this study's space."""
    observed: list[list[Any]]
    """[place among ``configs``, budget, loss] of each observation; lower is better, whatever the direction was."""
    at: float
    left_out: int = 0
    """How many of its trials with a value are not among them: some value lies outside of this study's space, or there were
    too many of them."""


@dataclass(frozen=True, slots=True)
class Widened:
    space: dict[str, Any]
    """The space from here on: all that it was, and more."""
    fill: dict[str, Any]
    """What new parameters were in the trials so far, which did not know them."""
    at: float


@dataclass(frozen=True, slots=True)
class Held:
    state: str
    """``pause``: programs start nothing until ``go``; ``stop``: they end once what runs has ended."""
    at: float


Event = (
    Created
    | Enqueued
    | Asked
    | Started
    | Reported
    | Completed
    | Failed
    | Lost
    | Added
    | Annotated
    | Brought
    | Widened
    | Held
)

CLAIMS = (Asked, Started, Added, Widened)
"""Events that two programs must not both append: they take a trial's number, start a run of a trial, or change the space, in
which a trial that is asked for at the same time would have to be decided again."""

QUIET = ("asked", "reported", "completed", "annotated")
"""Kinds of events that change no decision of a search whose suggestions are independent of each other, apart from the next
number: while no configuration is enqueued and no trial waits, they open new trials and end them. See ``study/ledger.py``."""

KINDS: dict[str, type[Any]] = {cls.__name__.lower(): cls for cls in get_args(Event)}
_NAMES: dict[type[Any], str] = {cls: name for name, cls in KINDS.items()}
_FIELDS: dict[type[Any], tuple[tuple[str, Any], ...]] = {
    cls: tuple((f.name, f.default) for f in fields(cls)) for cls in KINDS.values()
}


# ---------------------------------------------------------------- JSON


def kind_of(event: Event) -> str:
    """The event's name in the table above."""
    return _NAMES[type(event)]


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
        if type(data.get("at")) is int:
            float(data["at"])  # an integer of hundreds of digits is no time
        if "metrics" in data:
            data["metrics"] = {key: float(number) for key, number in data["metrics"].items()}
        if "verdict" in data:
            data["verdict"] = Verdict(data["verdict"])
        if "origin" in data:
            data["origin"] = _origin(data["origin"])
        event: Event = cls(**data)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if any(default is MISSING and name not in data for name, default in _FIELDS[cls]):
            raise _fault(cls, kind, data, where) from None
        raise CorruptJournal(f"{where} ({kind}): {error}: {body[:200]!r}") from None
    return event


_SCAN: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
"""What ``json.loads`` calls, without its allowance for white space at both ends: a third of its time."""


def _not_json(kind: str, error: Exception, where: str) -> CorruptJournal:
    why = "nothing there" if isinstance(error, StopIteration) else error
    return CorruptJournal(f"{where} ({kind}) is not JSON: {why}; restore the study from an export or a backup")


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
    return _sentence(data) if isinstance(data, str) else Origin(data["method"], data["detail"], **data["numbers"])


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
