"""A space as a TOML file writes it.

lr = {float = [1e-4, 0.1], log = true}                       both ends, and the options of xs.Float
layers = {int = [1, 4]}
optimizer = ["sgd", "adam"]                                  a list: one of them; {choice = […], prior = […]} has options
batch = {ordinal = [16, 32, 64]}
nesterov = {bool = true}
mask = {bits = 8}
momentum = {float = [0.0, 0.99], when = {optimizer = "sgd"}}
width = {int = [8, 64], when = {layers = {at_least = 2}}}
net = {mlp = {inputs = 64, outputs = 10}}                    an architecture: the domain and its arguments
classes = 10                                                 a constant
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from xstar.core.checks import nearest
from xstar.errors import InvalidSpace
from xstar.space import Choice, Constant, Domain, Normal, Parameter, at_least, at_most, between, read_when
from xstar.space.conditions import Threshold
from xstar.space.parameters import KINDS, domain_from_json, domain_kinds

EXAMPLE = "e.g. lr = {float = [1e-4, 0.1], log = true}, layers = {int = [1, 4]} or optimizer = ['sgd', 'adam']"


def read_parameter(name: str, given: Any) -> Parameter | Domain:
    """The parameter that stands after ``name =``."""
    if isinstance(given, list):
        return Choice(given)
    if not isinstance(given, Mapping):
        return Constant(given)
    domains = domain_kinds()
    kinds = [key for key in given if key in KINDS or key in domains]
    if len(kinds) != 1:
        rule = f"must name one kind of parameter ({', '.join([*KINDS, *domains])})"
        unknown = [key for key in given if key not in ("when", "log", "step", "prior")]
        remedy = nearest(unknown[0], [*KINDS, *domains]) if unknown and not kinds else EXAMPLE
        raise InvalidSpace(name, rule, dict(given), remedy if "did you mean" in remedy else EXAMPLE)
    kind, options = kinds[0], {key: value for key, value in given.items() if key != kinds[0]}
    if "when" in options:
        options["when"] = _when(options["when"])
    return _domain(kind, given[kind], options) if kind in domains else _parameter(name, kind, given[kind], options)


def _parameter(name: str, kind: str, what: Any, options: dict[str, Any]) -> Parameter:
    cls: Any = KINDS[kind]
    allowed = [each.name for each in fields(cls) if each.init and each.kw_only]
    for key in options:
        if key not in allowed:
            raise InvalidSpace(name, f"a {kind} may have {', '.join(allowed)}", f"{key} = …", nearest(key, allowed))
    if kind in ("float", "int") and isinstance(options.get("prior"), Mapping):
        options["prior"] = _normal(name, options["prior"])
    arguments = [what]
    if kind in ("float", "int"):
        if not isinstance(what, list) or len(what) != 2:
            raise InvalidSpace(f"{name}.{kind}", "must be [low, high]", what, f"e.g. {name} = {{{kind} = [1, 10]}}")
        arguments = what
    elif kind == "bool":
        if what is not True:
            raise InvalidSpace(f"{name}.bool", "must be true", what, f"write {name} = {{bool = true}}")
        arguments = []
    made: Parameter = cls(*arguments, **options)
    return made


def _normal(name: str, given: Mapping[str, Any]) -> Normal:
    if set(given) != {"mean", "std"}:
        raise InvalidSpace(f"{name}.prior", "must have mean and std", dict(given), "e.g. {mean = 0.001, std = 0.2}")
    return Normal(given["mean"], given["std"])


def _domain(kind: str, arguments: Any, options: dict[str, Any]) -> Domain:
    if not isinstance(arguments, Mapping):
        raise InvalidSpace(kind, "must be a table of its arguments", arguments, f"e.g. {{{kind} = {{…}}}}")
    if extra := sorted(set(options) - {"when"}):
        raise InvalidSpace(kind, "may have when beside it; its arguments go inside", extra)
    when = options.get("when")
    data = {"kind": kind, **arguments, **({} if when is None else {"when": when.to_json()})}
    try:
        return domain_from_json(kind, data)
    except TypeError as error:  # an argument that is missing
        raise InvalidSpace(kind, f"must have its arguments ({error})", dict(arguments)) from None


def _when(given: Any) -> Any:
    """The conditions; a table with ``at_least`` or ``at_most`` is a threshold."""
    if not isinstance(given, Mapping):
        return read_when(given)  # which says what is wrong with it
    return read_when({parent: _condition(parent, wanted) for parent, wanted in given.items()})


def _condition(parent: str, wanted: Any) -> Any:
    if not isinstance(wanted, Mapping):
        return wanted
    if (threshold := read_threshold(wanted)) is not None:
        return threshold
    raise InvalidSpace(
        f"when.{parent}",
        "must be a value, a list of values, or have at_least and at_most",
        dict(wanted),
        "e.g. {at_least = 2}",
    )


def read_threshold(given: Mapping[str, Any]) -> Threshold | None:
    """``{at_least = 2, at_most = 4}``; ``None``: it is none."""
    if not given or set(given) - {"at_least", "at_most"}:
        return None
    low, high = given.get("at_least"), given.get("at_most")
    return at_most(high) if low is None else at_least(low) if high is None else between(low, high)
