"""Space: named parameters, and everything that follows from them — sampling, checking, counting, storing.

A configuration is a plain dict of the *active* parameters in declared order. Which parameters are active follows from
the values of their parents alone.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from xstar.core import markup
from xstar.errors import InvalidArgument, InvalidSpace
from xstar.space import counting, parsing
from xstar.space.parameters import Domain, Parameter, as_parameter, parameter_from_json
from xstar.space.structure import Structure
from xstar.space.values import Json, Value

Config = dict[str, Value]


class Space:
    """The set of configurations to search.

    >>> space = Space(lr=Float(1e-4, 1e-1, log=True), optimizer=Choice(["sgd", "adam"]), epochs=10)
    >>> space.parse({"optimizer": "adam", "lr": 0.01})
    {'lr': 0.01, 'optimizer': 'adam', 'epochs': 10}
    """

    parameters: Mapping[str, Parameter | Domain]
    """The parameters by name, in declared order."""
    draws: int
    """How many uniform numbers one sample consumes, active or not: a point of a Sobol sequence has that many."""
    structure: Structure
    """The conditions, checked and compiled."""

    def __init__(self, parameters: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        given = _merge(parameters, named)
        read = {name: as_parameter(name, value) for name, value in given.items()}
        structure = Structure(read)
        drawers, start = {}, 0
        for name, parameter in structure.plain.items():
            drawers[name] = parameter.drawer(start)
            start += parameter.draws
        # Through __dict__, as __setattr__ refuses everything.
        self.__dict__.update(
            parameters=MappingProxyType(read),
            structure=structure,
            draws=start,
            _draw=structure.builder(drawers),
            _domains=_domain_steps(read, structure),
            _key=_key_function(tuple(read), bool(structure.when)),
            _dumps=_converters(read, dumping=True),
            _loads=_converters(read, dumping=False),
        )

    # --- drawing ------------------------------------------------------------------------------------------------

    def from_uniforms(self, u: Sequence[float], rng: np.random.Generator) -> Config:
        """The configuration at ``draws`` plain floats in [0, 1], under the priors; domains draw from ``rng``."""
        if len(u) != self.draws:
            raise InvalidArgument("u", f"must hold {self.draws} numbers", len(u), "see space.draws")
        config = self._draw(u)
        if self._domains:
            for name, sample, active in self._domains:
                if active is None or active(config):
                    config[name] = sample(rng)
            return self.structure.declared(config)
        return config

    def sample(self, rng: np.random.Generator) -> Config:
        """A configuration at random, under the priors."""
        return self.from_uniforms(rng.random(self.draws).tolist(), rng)

    # --- configurations -----------------------------------------------------------------------------------------

    def parse(self, config: Mapping[str, Any]) -> Config:
        """A user's configuration in canonical form. InvalidConfig names everything that is wrong with it."""
        return parsing.parse(config, self.structure)

    def parse_partial(self, config: Mapping[str, Any]) -> Config:
        """Some of a configuration's values in canonical form; see :meth:`complete`."""
        return parsing.parse(config, self.structure, partial=True)

    def complete(self, given: Config, rest: Config, rng: np.random.Generator) -> Config:
        """The configuration with the values of ``given``, otherwise those of ``rest``, which is a whole one."""
        return parsing.complete(given, rest, self.structure, rng)

    def is_complete(self, config: Config) -> bool:
        """Whether canonical values are all there are under their conditions."""
        activity = self.structure.activity
        return all(name in config or (name in activity and not activity[name](config)) for name in self.structure.names)

    def key(self, config: Mapping[str, Value]) -> tuple[Value, ...]:
        """A hashable that two configurations share if and only if they are the same."""
        return self._key(config)

    def dump(self, config: Config) -> dict[str, Json]:
        """The JSON form of a configuration: the very same dict where every value is its own JSON form."""
        return _converted(config, self._dumps)

    def load(self, data: dict[str, Json]) -> Config:
        """The inverse of ``dump``. It trusts its input: use ``parse`` for what a user wrote."""
        return _converted(data, self._loads)

    # --- counting -----------------------------------------------------------------------------------------------

    @property
    def size(self) -> int | float:
        """The number of distinct configurations, conditions counted; ``math.inf`` if it is not finite."""
        return self._count[0]

    @property
    def size_is_exact(self) -> bool:
        """False where there were too many parents' values to count and ``size`` is an upper bound."""
        return self._count[1]

    @cached_property
    def _count(self) -> tuple[int | float, bool]:
        return counting.count(self.structure)

    @cached_property
    def product(self) -> int:
        """The product of the sizes of all parameters, conditions ignored; only for finite spaces."""
        return counting.product(self.structure)

    def at(self, index: int) -> Config:
        """The configuration at ``0 <= index < product``. Several may be the same where conditions drop parameters."""
        return self._at(index)

    @cached_property
    def _at(self) -> Callable[[int], Config]:
        return counting.numbered(self.structure, self.product)

    def grid(self, points: int) -> Iterator[Config]:
        """Every distinct configuration of a grid with ``points`` values per number, both ends included."""
        return counting.grid(self.structure, points)

    # --- JSON ---------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Json]:
        """The space as JSON; ``Space.from_json`` is the inverse."""
        entries = []
        for name, given in self.parameters.items():
            entry = {"kind": given.kind, **{k: v for k, v in given.to_json().items() if k not in ("kind", "when")}}
            if name in self.structure.when:
                entry["when"] = self.structure.when[name].to_json()
            entries.append([name, entry])
        # A list, because some databases do not keep the order of an object's keys, and the order matters here.
        return {"parameters": entries}

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Space:
        """The space that ``to_json`` described. Kinds of domains must have been registered."""
        remedy = "pass what Space.to_json() returned"
        try:
            entries = [(str(name), entry) for name, entry in data["parameters"]]
        except (TypeError, KeyError, ValueError):
            raise InvalidSpace("data", 'must be {"parameters": [[name, {"kind": ...}], ...]}', data, remedy) from None
        given = {name: parameter_from_json(entry) for name, entry in entries}
        if len(given) < len(entries):
            raise InvalidSpace("data", "names must differ", [name for name, _ in entries], remedy)
        return cls(given)

    def difference(self, other: Space, in_order: bool = True) -> list[str]:
        """What distinguishes this space ("here") from another ("there"), in sentences; empty iff they are equal, or, unless
        ``in_order``, equal but for the order of their parameters."""
        return parsing.differences(self.to_json(), other.to_json(), in_order)

    # --- as a Python object -------------------------------------------------------------------------------------

    @cached_property
    def _identity(self) -> str:
        return json.dumps(self.to_json(), sort_keys=True)

    def __eq__(self, other: object) -> bool:
        return self._identity == other._identity if isinstance(other, Space) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity)

    def __len__(self) -> int:
        return len(self.parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self.parameters)

    def __contains__(self, name: object) -> bool:
        return name in self.parameters

    def __getitem__(self, name: str) -> Parameter | Domain:
        return self.parameters[name]

    def __repr__(self) -> str:
        parts = [f"{name}={given!r}" for name, given in self.parameters.items()]
        return f"Space({parts[0]})" if len(parts) == 1 else "Space(\n    " + ",\n    ".join(parts) + ",\n)"

    def _repr_html_(self) -> str:
        rows = ((name, repr(given)) for name, given in self.parameters.items())
        size = f"{self.size:,} configurations" if isinstance(self.size, int) else "infinitely many configurations"
        most = "" if self.size_is_exact else "at most "
        return f"<div><b>Space</b> of {most}{size}{markup.table(('parameter', 'what it may be'), rows)}</div>"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Space cannot be changed (tried to set {name}): make another one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Space cannot be changed (tried to delete {name}): make another one")

    def __reduce__(self) -> tuple[type[Space], tuple[dict[str, Parameter | Domain]]]:
        # Compiled closures cannot be pickled and need not be: they follow from the parameters.
        return type(self), (dict(self.parameters),)

    _draw: Callable[[Sequence[float]], Config]
    _domains: tuple[tuple[str, Callable[[np.random.Generator], Value], Any], ...]
    _key: Callable[[Mapping[str, Value]], tuple[Value, ...]]
    _dumps: dict[str, Callable[[Value], Json]]
    _loads: dict[str, Callable[[Json], Value]]


def _merge(parameters: object, named: dict[str, Any]) -> dict[str, Any]:
    if parameters is None:
        parameters = {}
    if not isinstance(parameters, Mapping):
        raise InvalidSpace("parameters", "must be a mapping of names", parameters, "write Space(lr=Float(...), ...)")
    twice = sorted(set(parameters) & set(named))
    if twice:
        raise InvalidSpace("parameters", "names must differ", twice, "give each parameter once")
    merged = {**parameters, **named}
    if not merged:
        raise InvalidSpace("parameters", "a space needs at least one parameter", merged, "write Space(lr=Float(...))")
    for name in merged:
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            remedy = "use letters, digits and underscores, as in weight_decay"
            raise InvalidSpace("name", "must be a Python identifier and no keyword", name, remedy)
    return merged


def _domain_steps(parameters: Mapping[str, Parameter | Domain], structure: Structure) -> tuple[Any, ...]:
    # In declared order and after all plain parameters: a domain is nobody's parent, so nobody waits for it.
    domains = [(name, given) for name, given in parameters.items() if not isinstance(given, Parameter)]
    return tuple((name, domain.sample, structure.activity.get(name)) for name, domain in domains)


def _key_function(names: tuple[str, ...], conditional: bool) -> Callable[[Mapping[str, Value]], tuple[Value, ...]]:
    """The values in declared order, None where inactive.

    No two configurations share a key, although None may be an option too. Take the parameters parents first: those
    without parents are always active, so equal keys mean equal values. If two configurations agree on all parents of
    a parameter, they agree on whether it is active, because that is a function of the parents; if it is, its values
    are in the key. (And values of one parameter that compare equal are the same value: ``options.py`` sees to that.)
    """
    if conditional:
        return lambda config: tuple(map(config.get, names))
    if len(names) == 1:
        return lambda config: (config[names[0]],)
    return itemgetter(*names)


def _converters(parameters: Mapping[str, Parameter | Domain], dumping: bool) -> dict[str, Callable[[Any], Any]]:
    """How to dump (or load) those values that are not their own JSON form."""
    converters: dict[str, Callable[[Any], Any]] = {}
    for name, given in parameters.items():
        if not isinstance(given, Parameter):
            converters[name] = given.dump if dumping else given.parse
        elif not given.plain:
            converters[name] = given.dump if dumping else given.load
    return converters


def _converted(values: dict[str, Any], converters: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    if not converters:
        return values
    return {name: converters[name](value) if name in converters else value for name, value in values.items()}
