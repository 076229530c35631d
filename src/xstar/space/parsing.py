"""A user's configuration, checked against its space; and two spaces, compared in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import get_close_matches

import numpy as np

from xstar.errors import InvalidConfig
from xstar.space.options import Constant
from xstar.space.parameter import Parameter
from xstar.space.parameters import Domain
from xstar.space.structure import Structure
from xstar.space.values import Json, Value


def parse(config: object, structure: Structure, partial: bool = False) -> dict[str, Value]:
    """The configuration in canonical form, or one InvalidConfig that names everything wrong with it.

    ``partial``: some values are enough; a parameter with conditions needs its parents beside it.
    """
    if not isinstance(config, Mapping):
        raise InvalidConfig("config", "must be a mapping of names to values", config, 'write {"lr": 0.1, ...}')
    parameters = structure.parameters
    problems = [_unknown(name, config, structure) for name in config if name not in parameters]
    parsed: dict[str, Value] = {}
    doubtful: set[str] = set()  # invalid: whether their children are active is unknown, so these are not checked
    for name in structure.order:
        if partial and name not in config:
            continue
        if not doubtful.isdisjoint(structure.when.get(name, ())):
            doubtful.add(name)
            continue
        active = structure.activity.get(name)
        try:
            if partial and (missing := [parent for parent in structure.when.get(name, ()) if parent not in parsed]):
                rule, remedy = (
                    "takes part under a condition, so its parents must be given",
                    f"give {', '.join(missing)}, too",
                )
                raise InvalidConfig(name, rule, ", ".join(f"{key}={value!r}" for key, value in config.items()), remedy)
            if active is None or active(parsed):
                parsed[name] = value_of(name, config, parameters[name])
            elif name in config:
                why = structure.why_inactive(name, parsed)
                raise InvalidConfig(name, f"must be left out, as {why}", config[name], "leave it out")
        except InvalidConfig as problem:
            problems.append(problem)
            doubtful.add(name)
    if not problems:
        return structure.declared(parsed)
    if len(problems) == 1:
        raise problems[0]
    found = ", ".join(f"{problem.argument}={problem.found!r}" for problem in problems)
    listed = " ".join(f"({number}) {problem}." for number, problem in enumerate(problems, start=1))
    raise InvalidConfig("config", "every value must fit its parameter", found, listed)


def complete(
    given: Mapping[str, Value], rest: Mapping[str, Value], structure: Structure, rng: np.random.Generator
) -> dict[str, Value]:
    """The configuration with the values of ``given``, otherwise those of ``rest``.

    What neither has, because a value of ``given`` switches it on, is drawn from its prior.
    """

    def chosen(name: str) -> Value:
        parameter = structure.parameters[name]
        if name in given or name in rest:
            return given[name] if name in given else rest[name]
        if isinstance(parameter, Parameter):
            return parameter.quantile(rng.random(parameter.draws).tolist())
        return parameter.sample(rng)

    return structure.filled(chosen)


def value_of(name: str, config: Mapping[str, object], given: Parameter | Domain) -> Value:
    """The value of a parameter in canonical form; InvalidConfig if it cannot take it."""
    if name not in config:
        if isinstance(given, Constant):
            return given.value  # there is nothing to say about a constant, so nobody has to
        raise InvalidConfig(name, "must be given", "nothing", f"add a value for {given!r}")
    value = config[name]
    if isinstance(given, Parameter):
        return given.parse(value, name)
    if not given.contains(value):
        raise InvalidConfig(name, f"must be a value of {given!r}", value, "make one with its sample or parse")
    return value


def _unknown(name: object, config: Mapping[str, object], structure: Structure) -> InvalidConfig:
    close = get_close_matches(str(name), structure.names, n=1)
    remedy = f"did you mean {close[0]}?" if close else f"the space has {', '.join(structure.names)}"
    return InvalidConfig(str(name), "must be the name of a parameter of the space", config[name], remedy)  # type: ignore[index]


def differences(here: Json, there: Json, in_order: bool = True) -> list[str]:
    """What distinguishes two spaces, as sentences, from their JSON forms; empty if and only if they are equal, or, unless
    ``in_order``, equal but for the order of their parameters."""
    ours, theirs = dict(here["parameters"]), dict(there["parameters"])
    sentences = [f"{name} is missing there" for name in ours if name not in theirs]
    sentences += [f"{name} is missing here" for name in theirs if name not in ours]
    for name in ours:
        if name in theirs:
            sentences += _differences_of(name, ours[name], theirs[name])
    if in_order and not sentences and list(ours) != list(theirs):
        sentences.append(f"the order is {', '.join(ours)} here, {', '.join(theirs)} there")
    return sentences


def _differences_of(name: str, ours: dict[str, Json], theirs: dict[str, Json]) -> list[str]:
    if ours["kind"] != theirs["kind"]:
        return [f"{name}: kind is {ours['kind']} here, {theirs['kind']} there"]
    return [
        f"{name}: {field} is {_shown(ours, field)} here, {_shown(theirs, field)} there"
        for field in dict.fromkeys((*ours, *theirs))
        if _shown(ours, field) != _shown(theirs, field)  # as text: 1, 1.0 and true are equal in Python
    ]


def _shown(entry: dict[str, Json], field: str) -> str:
    return json.dumps(entry[field], sort_keys=True, ensure_ascii=False) if field in entry else "not given"
