"""A space of which parts are taken away: shorter ranges, fewer options, parameters that are frozen at a value.

``changes`` says for each parameter what is left of it:

    [low, high], or at_least, at_most, between    a range; of an Ordinal, the options from one to another
    [option, …]                                   some of the options
    a value                                       this one, always

A condition on a parameter holds for the values that are left. Where none of them is left, what depends on it goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from xstar.errors import InvalidArgument, InvalidConfig, InvalidSpace
from xstar.space.conditions import Condition, OneOf, Threshold, When
from xstar.space.numeric import Float, Int
from xstar.space.options import Choice, Constant, Ordinal
from xstar.space.parameter import Parameter
from xstar.space.parameters import Domain
from xstar.space.space import Config, Space
from xstar.space.values import Value


def narrowed(space: Space, changes: Mapping[str, Any]) -> Space:
    """The space with what ``changes`` leaves of it."""
    if not isinstance(changes, Mapping) or not all(isinstance(name, str) for name in changes):
        remedy = 'e.g. {"lr": [1e-4, 1e-2], "optimizer": ["adam"], "layers": 3}'
        raise InvalidArgument("changes", "must map names of parameters to what is left of them", changes, remedy)
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
    made: Config = {}
    for name in space.structure.order:
        active = space.structure.activity.get(name)
        if active is not None and not active(made):
            continue
        given, value = space[name], config.get(name)
        if isinstance(given, Float | Int) and value is not None:
            value = min(max(value, given.low), given.high)
        fits = given.contains(value) if isinstance(given, Parameter) else name in config
        made[name] = value if fits or not isinstance(given, Parameter) else given.quantile([0.5] * given.draws)
    return {name: made[name] for name in space.structure.names if name in made}


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
