"""All kinds of parameters on one shelf, their table by name, and the ways in: from JSON and from raw values.

A ``Domain`` is what any other kind of value has to offer to be a parameter (an architecture, a tree, a permutation). It knows
how to sample, check, change and store its values. It has no bounds and no columns in the unit cube: searchers that know it
(NASBOT, evolution) go through ``mutate`` or through the values themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from xstar.core import entry_points
from xstar.core.checks import unwrap
from xstar.errors import InvalidSpace
from xstar.space.binary import Bits as Bits, Bool as Bool
from xstar.space.conditions import when_from_json
from xstar.space.numeric import Float as Float, Int as Int
from xstar.space.options import Choice as Choice, Constant as Constant, Ordinal as Ordinal
from xstar.space.parameter import Parameter as Parameter
from xstar.space.priors import normal_from_json
from xstar.space.values import Json


@runtime_checkable
class Domain(Protocol):
    """A parameter of a kind of its own. Values are hashable and immutable; equal values are the same point."""

    @property
    def kind(self) -> str:
        """The name under which ``register_domain`` knows how to rebuild it."""

    @property
    def when(self) -> Mapping[str, Any] | None:
        """The conditions under which the parameter takes part; None: always."""

    def sample(self, rng: np.random.Generator) -> Hashable:
        """A value at random."""

    def contains(self, value: object) -> bool:
        """Whether this is one of the domain's values."""

    def mutate(self, value: Any, rng: np.random.Generator) -> Hashable:
        """A value close to ``value``."""

    def dump(self, value: Any) -> Json:
        """The JSON form of a value."""

    def parse(self, data: Json) -> Hashable:
        """The value with this JSON form: ``parse(dump(value)) == value``."""

    def to_json(self) -> Json:
        """The domain itself as a JSON object; the space adds ``kind`` and ``when``."""


KINDS: dict[str, type[Parameter]] = {kind.kind: kind for kind in (Float, Int, Choice, Ordinal, Bool, Bits, Constant)}
"""The built-in kinds, whose names no domain may take."""

_REGISTERED: dict[str, Callable[[Json], Domain]] = {}


def register_domain(kind: str, from_json: Callable[[Json], Domain]) -> None:
    """Let ``Space.from_json`` rebuild domains of this kind from what their ``to_json`` wrote.

    ``from_json`` gets that object with ``"kind"`` and, where the domain has conditions, ``"when"`` added; pass the
    latter through ``when_from_json``. Registering a kind again replaces the function, so modules can be reloaded.
    """
    if not isinstance(kind, str) or not kind or kind in KINDS:
        remedy = "choose another name, for instance with the package in front of it"
        raise InvalidSpace("kind", f"must be a name other than {', '.join(KINDS)}", kind, remedy)
    _REGISTERED[kind] = from_json


def domain_kinds() -> list[str]:
    """The kinds that are registered."""
    return sorted(_REGISTERED)


def domain_from_json(kind: str, data: Json) -> Domain:
    if kind not in _REGISTERED and (found := entry_points.load("xstar.domains", kind)) is not None:
        register_domain(kind, found)
    if kind not in _REGISTERED:
        remedy = "import the package that defines it before the space is read"
        raise InvalidSpace("kind", f"must be a known kind (domains: {sorted(_REGISTERED)})", kind, remedy)
    return _REGISTERED[kind](data)


def as_parameter(name: str, given: object) -> Parameter | Domain:
    """The parameter of ``Space(name=given)``: a parameter, a domain, or a scalar, which becomes a Constant."""
    if isinstance(given, Parameter):
        return given
    plain = unwrap(given)
    if plain is None or isinstance(plain, (str, int, float)):
        return Constant(plain)
    if isinstance(given, type):
        remedy = f"write {given.__name__}(...) with its arguments"
        raise InvalidSpace(name, "must be a parameter, not a class", given, remedy)
    if isinstance(given, Domain):
        return given
    remedy = "use Float, Int, Choice, Ordinal, Bool, Bits, a Domain, or a plain scalar for a constant"
    if isinstance(plain, (list, tuple)):
        remedy = "use Choice([...]) to choose one of the list, Constant([...]) for the list itself"
        if len(plain) == 2 and all(isinstance(end, (int, float)) for end in plain):
            remedy = f"use Float({plain[0]}, {plain[1]}) or Int for a range, {remedy.removeprefix('use ')}"
    raise InvalidSpace(name, "must be a parameter", given, remedy)


def parameter_from_json(data: Json) -> Parameter | Domain:
    """The inverse of ``to_json`` of a parameter or a registered domain."""
    remedy = "pass what Space.to_json() returned"
    if not isinstance(data, Mapping) or not isinstance(data.get("kind"), str):
        raise InvalidSpace("parameter", 'must be a JSON object with a "kind"', data, remedy)
    kind = data["kind"]
    if kind not in KINDS:
        return domain_from_json(kind, data)
    fields = {key: value for key, value in data.items() if key != "kind"}
    if "when" in fields:
        fields["when"] = when_from_json(fields["when"])
    if kind in ("float", "int") and fields.get("prior") is not None:
        fields["prior"] = normal_from_json(fields["prior"])
    try:
        return KINDS[kind](**fields)
    except TypeError:  # a field too many or one missing
        raise InvalidSpace("parameter", f"must have the fields of a {kind}", data, remedy) from None
