"""Configurations in another space: in one that holds all of the old one, or in any other, as far as it has a place for them.

A wider space may have a larger range of a parameter or more options, and new parameters. A constant may become a parameter that
can take its value. Priors, scales (``log``) and steps may change. Nothing may be taken away: what was tried stays there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from xstar.errors import InvalidConfig
from xstar.space.numeric import Float, Int
from xstar.space.options import Choice, Constant, Ordinal
from xstar.space.parameter import Parameter
from xstar.space.parameters import Domain
from xstar.space.space import Config, Space
from xstar.space.values import Value


def narrower(old: Space, new: Space) -> list[str]:
    """What ``new`` takes away from ``old``, in sentences; empty if nothing."""
    found: list[str] = []
    for name, given in old.parameters.items():
        if name not in new:
            found.append(f"{name} is missing")
        elif lost := _lost(given, new[name]):
            found.append(f"{name}: {lost}")
    return found


def _lost(old: Parameter | Domain, new: Parameter | Domain) -> str:
    """What a parameter could be and can no longer; empty if nothing. Of domains only their values are known, one by one."""
    if isinstance(old, Constant):
        fits = not isinstance(new, Parameter) or new.contains(old.value)
        return "" if fits else f"cannot be {old.value!r}"
    if old.kind != new.kind:
        return f"was a {old.kind}, and is a {new.kind}"
    if isinstance(old, Float | Int) and isinstance(new, Float | Int):
        inside = new.low <= old.low and old.high <= new.high
        return "" if inside else f"was between {old.low} and {old.high}, and is between {new.low} and {new.high}"
    if isinstance(old, Choice | Ordinal) and isinstance(new, Choice | Ordinal):
        kept = [option for option in new.options if option in old.index]
        wanted = sorted(old.options, key=new.index.__getitem__) if set(kept) == set(old.options) else None
        if wanted is None:
            return f"can no longer be {', '.join(repr(each) for each in old.options if each not in new.index)}"
        return "has its options in another order" if isinstance(old, Ordinal) and wanted != list(old.options) else ""
    if isinstance(old, Parameter) and isinstance(new, Parameter):
        return "" if old.size == new.size else f"had {old.size} values, and has {new.size}"
    return ""


def in_wider(config: Mapping[str, Value], space: Space, fill: Mapping[str, Value]) -> Config:
    """The configuration in the wider ``space``; new parameters have the values of ``fill``.

    Raises :class:`~xstar.errors.InvalidConfig` if a new one is not among them, or a value is outside.
    """
    given: dict[str, Any] = {}
    for name in space.structure.order:
        active = space.structure.activity.get(name)
        if active is not None and not active(given):
            if name in config:
                why = space.structure.why_inactive(name, given)
                raise InvalidConfig(name, f"takes part in trials, but would not any more, as {why}", config[name])
            continue
        if name in config or name in fill:
            given[name] = config.get(name, fill.get(name))
        elif isinstance(constant := space[name], Constant):
            given[name] = constant.value
        else:
            remedy = f"say what it was in the trials so far, as in fill={{{name!r}: …}}"
            raise InvalidConfig(name, "is new and takes part in trials", "nothing", remedy)
    return space.parse(given)


def check_fill(fill: Mapping[str, Any], old: Space, new: Space) -> dict[str, Value]:
    """The values of new parameters in canonical form."""
    made: dict[str, Value] = {}
    for name, value in fill.items():
        if name in old or name not in new:
            remedy = f"the new ones are {', '.join(each for each in new if each not in old) or 'none'}"
            raise InvalidConfig(name, "must be a new parameter of the space", value, remedy)
        given = new[name]
        if isinstance(given, Parameter):
            made[name] = given.parse(value, name)
        elif given.contains(value):
            made[name] = value
        else:
            raise InvalidConfig(name, f"must be a value of {given!r}", value)
    return made


def first_problem(configs: Iterable[Mapping[str, Value]], space: Space, fill: Mapping[str, Value]) -> str:
    """Why some configuration has no place in the wider ``space``; empty if all have one."""
    for config in configs:
        try:
            in_wider(config, space, fill)
        except InvalidConfig as error:
            return str(error)
    return ""


def carried(config: Mapping[str, Value], space: Space, rng: np.random.Generator) -> Config | None:
    """The configuration of ``space`` that is closest to one of another space; ``None`` if there is none.

    Values of parameters that ``space`` does not have are dropped. A parameter that only ``space`` has takes the median of its
    prior, a domain the first network of its pool, or a value drawn from ``rng``. A value that its parameter cannot take
    leaves nothing to carry over.
    """
    made: Config = {}
    for name in space.structure.order:
        active = space.structure.activity.get(name)
        if active is not None and not active(made):
            continue
        given = space[name]
        if name not in config:
            made[name] = middle(given, rng)
            continue
        value = _taken(given, name, config[name])
        if value is _NOTHING:
            return None
        made[name] = value
    return {name: made[name] for name in space.structure.names if name in made}


def middle(given: Parameter | Domain, rng: np.random.Generator) -> Value:
    """The median of a parameter's prior; the first network of a domain's pool, or one at random if it has none."""
    if isinstance(given, Parameter):
        return given.quantile([0.5] * given.draws)
    pool: Sequence[Value] = getattr(given, "pool", ())
    return pool[0] if len(pool) else given.sample(rng)


_NOTHING = object()


def _taken(given: Parameter | Domain, name: str, value: Value) -> Value | object:
    """The value in canonical form; ``_NOTHING`` if the parameter cannot take it."""
    if isinstance(given, Parameter):
        try:
            return given.parse(value, name)
        except InvalidConfig:
            return _NOTHING
    return value if given.contains(value) else _NOTHING
