"""A configuration of one space as one of another: what two searches of related problems have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from xstar.errors import InvalidConfig
from xstar.space.domain import Domain
from xstar.space.parameter import Parameter
from xstar.space.space import Config, Space
from xstar.space.values import Value


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
