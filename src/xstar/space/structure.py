"""The conditions of a whole space: checked, put in order, and compiled into one function that builds configurations.

Drawing, decoding, counting and numbering all need the same thing: walk through the parameters, parents first, and keep
those that are active. ``Structure.builder`` is that walk, written once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from xstar.core.checks import as_float, as_int
from xstar.errors import InvalidConfig, InvalidSpace
from xstar.space.conditions import Condition, OneOf, Threshold, When, read_when
from xstar.space.parameters import Constant, Domain, Float, Int, Ordinal, Parameter
from xstar.space.values import Value

#: Whether a parameter is active, given the values of its parents (absent where they are inactive themselves).
Activity = Callable[[Mapping[str, Value]], bool]
Source = TypeVar("Source")

_ABSENT = object()  # no allowed value equals it, so a child of an inactive parent is inactive


class Structure:
    """Who depends on whom. Built once per space."""

    def __init__(self, parameters: Mapping[str, Parameter | Domain]) -> None:
        self.parameters = parameters
        self.names = tuple(parameters)
        self.plain = {name: given for name, given in parameters.items() if isinstance(given, Parameter)}
        self.when: dict[str, When] = {}
        """The conditions in canonical form, of those parameters that have any."""
        for name, given in parameters.items():
            when = read_when(given.when)
            if when is not None:
                self.when[name] = When({parent: _checked(name, parent, when[parent], parameters) for parent in when})
        self.order = _parents_first(self.names, self.when)
        """All names, every parent before its children."""
        self.parents = {parent for when in self.when.values() for parent in when}
        self.activity = {name: _activity(when, self.plain) for name, when in self.when.items()}

    def builder(self, readers: Mapping[str, Callable[[Source], Value]]) -> Callable[[Source], dict[str, Value]]:
        """A function that builds a configuration of the active parameters, in declared order, from any source.

        ``readers`` holds one function per parameter that takes part; parents must be among them.
        """
        declared = [name for name in self.names if name in readers]
        order = [name for name in self.order if name in readers]
        if not self.when:
            pairs = tuple((name, readers[name]) for name in declared)
            return lambda source: {name: read(source) for name, read in pairs}

        steps = tuple((name, readers[name], self.activity.get(name)) for name in order)

        def build(source: Source) -> dict[str, Value]:
            config: dict[str, Value] = {}
            for name, read, active in steps:
                if active is None or active(config):
                    config[name] = read(source)
            return config

        if order == declared:
            return build

        def build_and_sort(source: Source) -> dict[str, Value]:
            return self.declared(build(source))

        return build_and_sort

    def filled(self, choose: Callable[[str], Value]) -> dict[str, Value]:
        """The configuration of the values that ``choose`` has for the active parameters; it is asked for parents first."""
        made: dict[str, Value] = {}
        for name in self.order:
            test = self.activity.get(name)
            if test is None or test(made):
                made[name] = choose(name)
        return self.declared(made)

    def declared(self, made: Mapping[str, Value]) -> dict[str, Value]:
        """A configuration with its parameters in declared order."""
        return {name: made[name] for name in self.names if name in made}

    def why_inactive(self, name: str, config: Mapping[str, Value]) -> str:
        """The first condition that does not hold, in words."""
        for parent, condition in self.when[name].items():
            if parent not in config:
                return f"{parent} is inactive itself"
            if not _test(parent, condition, self.plain[parent])(config):
                return f"{parent} is {config[parent]!r} and the condition is {condition!r}"
        raise AssertionError(f"{name} is active")


def _checked(name: str, parent: str, condition: Condition, parameters: Mapping[str, Parameter | Domain]) -> Condition:
    """The condition with values as the parent has them; refused where it can never hold or makes no sense."""
    argument = f"{name}.when[{parent!r}]"
    if parent not in parameters:
        remedy = f"the space has {', '.join(parameters)}"
        raise InvalidSpace(argument, "must name a parameter of the space", parent, remedy)
    if parent == name:
        raise InvalidSpace(argument, "a parameter cannot depend on itself", parent, "name another parameter")
    on = parameters[parent]
    if not isinstance(on, Parameter) or on.kind == "bits":
        remedy = "condition on a Choice, an Ordinal, a Bool, an Int or a Float"
        raise InvalidSpace(argument, f"a {on.kind} cannot be a condition", condition, remedy)
    if isinstance(condition, OneOf):
        return _checked_values(argument, condition, on)
    if isinstance(on, Ordinal):
        return _checked_ranks(argument, condition, on)
    return _checked_bounds(argument, condition, on)


def _checked_values(argument: str, condition: OneOf, on: Parameter) -> OneOf:
    if isinstance(on, Float) and on.steps is None:
        remedy = "use at_least, at_most or between, or give it a step"
        raise InvalidSpace(argument, "a Float takes no single value twice", condition, remedy)
    values = []
    for value in condition.values:
        try:
            values.append(on.parse(value, argument))
        except InvalidConfig as error:
            remedy = "give a value it can take" + ("; several go into a list" if isinstance(value, tuple) else "")
            rule = f"must be a value of {on!r}, that is, it {error.rule}"
            raise InvalidSpace(argument, rule, value, remedy) from None
    if isinstance(on, Int | Float):
        return OneOf(tuple(sorted(set(values))))
    # In the order of the parent's options, whatever order they were written in: equal conditions look equal.
    every = [on.value_at(index) for index in range(int(on.size))]
    return OneOf(tuple(value for value in every if value in values))


def _checked_ranks(argument: str, condition: Threshold, on: Ordinal) -> Threshold:
    for side in (condition.low, condition.high):
        if side is not None and side not in on.index:
            rule = f"the threshold must be an option of {on!r}"
            raise InvalidSpace(argument, rule, side, "give one of its options")
    low, high = _ranks(condition, on)
    if low > high:
        raise InvalidSpace(argument, f"low must not come after high in {on!r}", condition, "swap the two")
    return condition


def _checked_bounds(argument: str, condition: Threshold, on: Parameter) -> Threshold:
    if isinstance(on, Constant) and as_float(on.value) is not None:
        lowest = highest = on.value
    elif isinstance(on, (Float, Int)):
        lowest, highest = on.low, on.high
    else:
        remedy = "list the values instead, or make the parent an Ordinal"
        raise InvalidSpace(argument, f"a threshold needs an order, and {on!r} has none", condition, remedy)
    low, high = _bounds(condition)
    if not all(side is None or as_float(side) is not None for side in (condition.low, condition.high)):
        raise InvalidSpace(argument, "the threshold must be a finite number", condition, "give a number")
    low, high = max(low, lowest), min(high, highest)
    if isinstance(on, Int | Float) and on.steps is not None and low <= high:
        first = on.steps.index(low)
        first += on.steps.value(first) < low
        low = on.steps.value(min(first, on.steps.size - 1))  # between(0.11, 0.19) holds no tenth
    elif isinstance(on, Int) and low <= high:
        low, high = math.ceil(low), math.floor(high)  # between(1.2, 1.8) holds no integer
    if low > high:
        raise InvalidSpace(argument, f"must be possible for {on!r}", condition, "move the threshold into its range")
    return Threshold(_as_number(condition.low), _as_number(condition.high))


def _as_number(side: Value) -> Value:
    # at_least(3) and at_least(3.0) are the same condition and shall look the same.
    whole = as_int(side)
    return side if whole is None else whole


def _bounds(condition: Threshold) -> tuple[Any, Any]:
    low = -math.inf if condition.low is None else condition.low
    high = math.inf if condition.high is None else condition.high
    return low, high


def _ranks(condition: Threshold, on: Ordinal) -> tuple[int, int]:
    low = 0 if condition.low is None else on.index[condition.low]
    high = on.size - 1 if condition.high is None else on.index[condition.high]
    return low, high


def _parents_first(names: Sequence[str], when: Mapping[str, When]) -> tuple[str, ...]:
    """The declared order, changed only where a child is declared before its parent."""
    done: dict[str, None] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = " -> ".join((*path[path.index(name) :], name))
            remedy = "remove one of these conditions"
            raise InvalidSpace(f"{name}.when", "conditions must not go round in a circle", circle, remedy)
        if name not in done:
            for parent in sorted(when.get(name, ()), key=names.index):
                visit(parent, (*path, name))
            done[name] = None

    for name in names:
        visit(name, ())
    return tuple(done)


def _activity(when: When, parameters: Mapping[str, Parameter]) -> Activity:
    tests = [_test(parent, condition, parameters[parent]) for parent, condition in when.items()]
    if len(tests) == 1:
        return tests[0]
    return lambda config: all(test(config) for test in tests)


def _test(parent: str, condition: Condition, on: Parameter) -> Activity:
    if isinstance(condition, Threshold) and not isinstance(on, Ordinal):
        low, high = _bounds(condition)

        def within(config: Mapping[str, Value]) -> bool:
            value = config.get(parent)  # None: inactive, as numbers have no None among their values
            return value is not None and low <= value <= high

        return within
    if isinstance(condition, Threshold):
        assert isinstance(on, Ordinal)
        first, last = _ranks(condition, on)
        allowed = frozenset(on.options[first : last + 1])
    else:
        allowed = frozenset(condition.values)
    return lambda config: config.get(parent, _ABSENT) in allowed
