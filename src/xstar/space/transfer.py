"""Spaces made wider or narrower, and configurations in another space.

A wider space may have a larger range of a parameter or more options, and new parameters. A constant may become a parameter that
can take its value. Priors, scales (``log``) and steps may change. Nothing may be taken away: what was tried stays there.

A narrower space has shorter ranges, fewer options, parameters frozen at a value; ``changes`` gives the new range of each:

    [low, high], or at_least, at_most, between    a range; of an Ordinal, the options from one to another
    [option, …]                                   some of the options
    a value                                       this one, always

A condition on a parameter holds for the values that are left. Where none of them is left, what depends on it goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from xstar.errors import InvalidArgument, InvalidConfig, InvalidSpace
from xstar.space.conditions import Condition, OneOf, Threshold, When
from xstar.space.numeric import Float, Int
from xstar.space.options import Choice, Constant, Ordinal
from xstar.space.parameter import Parameter
from xstar.space.parameters import Domain
from xstar.space.parsing import value_of
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
    for name in config:
        if name not in space:
            raise InvalidConfig(name, "is not in the space any more", config[name])
    given: dict[str, Any] = {}
    for name in space.structure.order:
        active = space.structure.activity.get(name)
        if active is not None and not active(given):
            if name in config:
                why = space.structure.why_inactive(name, given)
                raise InvalidConfig(name, f"is active in trials, and would be inactive, as {why}", config[name])
            continue
        if name in config or name in fill:
            given[name] = config.get(name, fill.get(name))
        elif isinstance(constant := space[name], Constant):
            given[name] = constant.value
        else:
            remedy = f"give the value that the trials so far had, as in fill={{{name!r}: …}}"
            raise InvalidConfig(name, "is new and active in trials", "nothing", remedy)
    return space.parse(given)


def check_fill(fill: Mapping[str, Any], old: Space, new: Space) -> dict[str, Value]:
    """The values of new parameters in canonical form."""
    made: dict[str, Value] = {}
    for name, value in fill.items():
        if name in old or name not in new:
            remedy = f"the new ones are {', '.join(each for each in new if each not in old) or 'none'}"
            raise InvalidConfig(name, "must be a new parameter of the space", value, remedy)
        made[name] = value_of(name, fill, new[name])
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

    def value(name: str) -> Value:
        given = space[name]
        return value_of(name, config, given) if name in config else middle(given, rng)

    try:
        return space.structure.filled(value)
    except InvalidConfig:
        return None


def middle(given: Parameter | Domain, rng: np.random.Generator) -> Value:
    """The median of a parameter's prior; the first network of a domain's pool, or one at random if it has none."""
    if isinstance(given, Parameter):
        return given.quantile([0.5] * given.draws)
    pool: Sequence[Value] = getattr(given, "pool", ())
    return pool[0] if len(pool) else given.sample(rng)


# ---------------------------------------------------------------- narrower spaces


def narrowed(space: Space, changes: Mapping[str, Any]) -> Space:
    """The space with what ``changes`` leaves of it."""
    if not isinstance(changes, Mapping) or not all(isinstance(name, str) for name in changes):
        remedy = 'e.g. {"lr": [1e-4, 1e-2], "optimizer": ["adam"], "layers": 3}'
        raise InvalidArgument("changes", "must map names of parameters to new ranges", changes, remedy)
    made: dict[str, Parameter | Domain] = {}
    for name, given in space.parameters.items():
        made[name] = _left(name, given, changes[name]) if name in changes else given
    for name in changes:
        if name not in space:
            raise InvalidArgument(name, "must be a parameter of the space", changes[name], f"it has {', '.join(space)}")
    for name in space.structure.order:
        when = space.structure.when.get(name)
        if when is None:
            continue
        kept = {parent: _condition(when[parent], space[parent], made.get(parent)) for parent in when}
        if None in kept.values():
            del made[name]
        else:
            made[name] = replace(made[name], when=When({parent: each for parent, each in kept.items() if each}))  # type: ignore[type-var]
    return Space({name: made[name] for name in space.parameters if name in made})


def nearest(config: Config, space: Space) -> Config:
    """The configuration of the space that is closest to one outside of it."""

    def value(name: str) -> Value:
        given, own = space[name], config.get(name)
        if isinstance(given, Float | Int) and own is not None:
            own = min(max(own, given.low), given.high)
        fits = given.contains(own) if isinstance(given, Parameter) else name in config
        return own if fits or not isinstance(given, Parameter) else given.quantile([0.5] * given.draws)

    return space.structure.filled(value)


def _left(name: str, given: Parameter | Domain, change: Any) -> Parameter:
    if not isinstance(given, Parameter):
        raise InvalidArgument(name, f"a {given.kind} cannot be narrowed or frozen", change)
    try:
        if isinstance(given, Float | Int) and isinstance(change, Threshold | list | tuple):
            return _range(name, given, change)
        if isinstance(given, Ordinal) and isinstance(change, Threshold):
            change = _between(given, change)
        if isinstance(given, Choice | Ordinal) and isinstance(change, list):
            return _options(name, given, change)
        return Constant(given.parse(change, name), when=given.when)
    except (InvalidConfig, InvalidSpace) as error:
        raise InvalidArgument(name, f"must be narrowed within {given!r}", change, str(error)) from None


def _range(name: str, given: Any, change: Threshold | list[Any] | tuple[Any, ...]) -> Parameter:
    if not isinstance(change, Threshold):
        if len(change) != 2:
            raise InvalidArgument(name, "the range of a number has two ends", change, "e.g. [1e-4, 1e-2]")
        change = Threshold(change[0], change[1])
    ends = [given.low if change.low is None else change.low, given.high if change.high is None else change.high]
    low, high = (given.parse(end, name) for end in ends)
    if low == high:
        return Constant(low, when=given.when)
    kept: Parameter = replace(given, low=low, high=high, prior=None)  # its width was a part of the longer range
    return kept


def _between(given: Ordinal, change: Threshold) -> list[Value]:
    first = 0 if change.low is None else given.index[given.parse(change.low, "at_least")]
    last = given.size - 1 if change.high is None else given.index[given.parse(change.high, "at_most")]
    return list(given.options[first : last + 1])


def _options(name: str, given: Choice | Ordinal, change: list[Any]) -> Parameter:
    wanted = {given.parse(option, name) for option in change}
    kept = [place for place, option in enumerate(given.options) if option in wanted]
    if len(kept) == 1:
        return Constant(given.options[kept[0]], when=given.when)
    prior = None if given.prior is None else [given.prior[place] for place in kept]
    return replace(given, options=[given.options[place] for place in kept], prior=prior)


def _condition(condition: Condition, old: Parameter | Domain, new: Parameter | Domain | None) -> Condition | None:
    """What is left of a condition; ``None``: it can hold no more."""
    if not isinstance(new, Parameter):
        return None
    if isinstance(condition, Threshold) and not isinstance(old, Ordinal):
        low, high = (new.value, new.value) if isinstance(new, Constant) else (new.low, new.high)  # type: ignore[attr-defined]
        below = condition.high is not None and condition.high < low
        return None if below or (condition.low is not None and condition.low > high) else condition
    values = _between(old, condition) if isinstance(condition, Threshold) else condition.values  # type: ignore[arg-type]
    kept = tuple(value for value in values if new.contains(value))
    return OneOf(kept) if kept else None
