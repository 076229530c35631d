"""All kinds of parameters on one shelf, their table by name, and the ways in: from JSON and from raw values."""

from __future__ import annotations

from collections.abc import Mapping

from xstar.core.values import unwrap
from xstar.errors import InvalidSpace
from xstar.space.binary import Bits as Bits
from xstar.space.binary import Bool as Bool
from xstar.space.conditions import when_from_json
from xstar.space.domain import Domain, domain_from_json
from xstar.space.numeric import Float as Float
from xstar.space.numeric import Int as Int
from xstar.space.options import Choice as Choice
from xstar.space.options import Constant as Constant
from xstar.space.options import Ordinal as Ordinal
from xstar.space.parameter import Parameter as Parameter
from xstar.space.priors import normal_from_json
from xstar.space.values import Json

KINDS: dict[str, type[Parameter]] = {kind.kind: kind for kind in (Float, Int, Choice, Ordinal, Bool, Bits, Constant)}


def as_parameter(name: str, given: object) -> Parameter | Domain:
    """What stands after ``name=`` in a Space: a parameter, a domain, or a raw scalar that becomes a Constant."""
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
