"""How many configurations there are, the one with a given number, and all those on a grid."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from xstar.core.checks import as_int
from xstar.errors import InvalidArgument
from xstar.space.numeric import Float
from xstar.space.parameter import Parameter
from xstar.space.parameters import Domain
from xstar.space.structure import Structure
from xstar.space.values import Value

# Counting walks through the values of those parameters that others depend on: a tenth of a second at this many.
MOST_PARENT_VALUES = 100_000

VALUES = 2.0**48
"""Of a ``Float`` with so many values, evenly drawn, one study of 100,000 trials in 50,000 has two that are the same."""


def uncountable(parameter: Parameter | Domain) -> bool:
    """Whether draws of a parameter never meet again, as far as anyone will see."""
    if not isinstance(parameter, Float) or parameter.steps is not None or parameter.prior is not None:
        return False
    return parameter.high - parameter.low >= VALUES * math.ulp(max(abs(parameter.low), abs(parameter.high)))


def count(structure: Structure) -> tuple[int | float, bool]:
    """The number of distinct configurations, and whether it is exact (or only an upper bound).

    size = sum over the values of active parents of the product of the sizes of the other active parameters.
    """
    sizes = {name: _size(given) for name, given in structure.parameters.items()}
    bound = math.prod(sizes.values())
    if not structure.when:
        return bound, True
    parents = [name for name in structure.order if name in structure.parents]
    others = [name for name in structure.order if name not in structure.parents]
    # A Float among the parents is not walked through: once it is active, the answer is infinite.
    if math.prod(sizes[name] for name in parents if sizes[name] != math.inf) > MOST_PARENT_VALUES:
        return bound, False
    always = math.prod(sizes[name] for name in others if name not in structure.when)
    conditional = [(sizes[name], structure.activity[name]) for name in others if name in structure.when]
    config: dict[str, Value] = {}

    def walk(depth: int) -> int | float:
        if depth == len(parents):
            return math.prod(size for size, active in conditional if active(config))
        name = parents[depth]
        active = structure.activity.get(name)
        if active is not None and not active(config):
            return walk(depth + 1)
        if sizes[name] == math.inf:
            return math.inf
        total: int | float = 0
        for index in range(int(sizes[name])):
            config[name] = structure.plain[name].value_at(index)
            total += walk(depth + 1)
        del config[name]
        return total

    return always * walk(0), True


def _size(given: Parameter | Domain) -> int | float:
    """A domain may say how many values it has; those that do not count as infinite."""
    if isinstance(given, Parameter):
        return given.size
    size = getattr(given, "size", math.inf)
    return size if type(size) is int else math.inf


def product(structure: Structure) -> int:
    """The product of all sizes, as if there were no conditions."""
    total = 1
    for name, given in structure.parameters.items():
        size = _size(given)
        if not isinstance(size, int) or not isinstance(given, Parameter):
            remedy = "use grid(points), or leave only Int, Choice, Ordinal, Bool, Bits and Constant"
            raise InvalidArgument("space", "must be finite to number its configurations", f"{name}={given!r}", remedy)
        total *= size
    return total


def numbered(structure: Structure, total: int) -> Callable[[int], dict[str, Value]]:
    """The configuration at a mixed-radix index, where the last parameter varies fastest."""
    places = [(name, int(parameter.size)) for name, parameter in structure.plain.items()]

    def reader(position: int, parameter: Parameter) -> Callable[[Sequence[int]], Value]:
        value_at = parameter.value_at
        return lambda digits: value_at(digits[position])

    build = structure.builder({name: reader(i, structure.plain[name]) for i, (name, _) in enumerate(places)})

    def at(index: int) -> dict[str, Value]:
        rest = as_int(index)
        if rest is None or not 0 <= rest < total:
            raise InvalidArgument("index", f"must be an integer in 0 ... {total - 1}", index, "see space.product")
        digits = []
        for _, size in reversed(places):
            rest, digit = divmod(rest, size)
            digits.append(digit)
        return build(digits[::-1])

    return at


def grid(structure: Structure, points: int) -> Iterator[dict[str, Value]]:
    """All distinct configurations on a grid; the last parameter varies fastest.

    No two are the same: the walk branches only on active parameters, and only into different values.
    """
    number = as_int(points)
    if number is None or number < 2:
        raise InvalidArgument("points", "must be an integer of at least 2", points, "both ends of a range are on it")
    for name, given in structure.parameters.items():
        if not isinstance(given, Parameter):
            remedy = "leave it out of the space, or use another method"
            raise InvalidArgument("space", "a grid cannot hold a Domain", f"{name}={given!r}", remedy)

    def values(name: str) -> Iterable[Value]:
        return structure.plain[name].grid_values(number)

    def walk(depth: int, config: dict[str, Value]) -> Iterator[dict[str, Value]]:
        if depth == len(structure.order):
            yield structure.declared(config)
            return
        name = structure.order[depth]
        active = structure.activity.get(name)
        if active is not None and not active(config):
            yield from walk(depth + 1, config)
            return
        for value in values(name):
            config[name] = value
            yield from walk(depth + 1, config)
        del config[name]

    return walk(0, {})
