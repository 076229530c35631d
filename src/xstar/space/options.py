"""Choice, Ordinal and Constant: one of several listed values, without an order, with an order, or without a choice.

Options that compare equal in Python (1, 1.0 and True) are refused: a configuration is recognised by its values, and
the two could not be told apart once a trial is stored and read back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from xstar.errors import InvalidConfig, InvalidSpace
from xstar.space.conditions import read_when
from xstar.space.parameter import Parameter, Reader, check_index, set_fields
from xstar.space.priors import check_weights, inner_borders
from xstar.space.values import Json, Value, freeze, thaw

_USE_STRINGS = "use strings and map them in the objective (SearchCV takes a plain list of estimators)"


class _Options(Parameter):
    """What Choice and Ordinal share: a tuple of options, with or without weights."""

    options: Sequence[Any]
    prior: Sequence[float] | None

    def __post_init__(self) -> None:
        name = type(self).__name__
        options = _read_options(name, self.options)
        weights = check_weights(name, self.prior, len(options))
        set_fields(self, options=options, prior=weights, when=read_when(self.when))

    @cached_property
    def index(self) -> dict[Value, int]:
        """Where each option stands."""
        return {option: position for position, option in enumerate(self.options)}

    @property
    def size(self) -> int:
        return len(self.options)

    def value_at(self, index: int) -> Value:
        check_index(self, index)
        return self.options[index]

    def drawer(self, start: int) -> Reader:
        options = tuple(self.options)
        if self.prior is None:
            return _equal_shares(options, start)
        borders = inner_borders(self.prior)
        return lambda u: options[bisect_right(borders, u[start])]

    def parse(self, value: object, name: str) -> Value:
        try:
            return self.options[self.index[freeze(value)]]
        except (KeyError, ValueError):
            shown = ", ".join(repr(option) for option in self.options[:20]) + (", ..." if self.size > 20 else "")
            raise InvalidConfig(name, f"must be one of {shown}", value, "give one of the options") from None

    @property
    def plain(self) -> bool:
        return not any(isinstance(option, tuple) for option in self.options)

    def dump(self, value: Value) -> Json:
        return thaw(value)

    def load(self, data: Json) -> Value:
        return freeze(data)


@dataclass(frozen=True, eq=False, repr=False)
class Choice(_Options):
    """One of several options that have no order.

    >>> Choice(["sgd", "adam"], prior=[1, 3])
    Choice(['sgd', 'adam'], prior=[1.0, 3.0])
    """

    options: Sequence[Any]
    _: KW_ONLY
    prior: Sequence[float] | None = None
    """One positive weight per option; they need not add up to one."""
    when: Mapping[str, object] | None = None
    kind: ClassVar[str] = "choice"
    blank: ClassVar[float] = 0.0

    @property
    def width(self) -> int:
        return len(self.options)

    def encode(self, value: Value) -> tuple[float, ...]:
        hot = self.index[value]
        return tuple(1.0 if position == hot else 0.0 for position in range(self.size))

    def encode_column(self, values: Sequence[Value]) -> NDArray[np.float64]:
        index = self.index
        cells = np.zeros((len(values), self.size))
        cells[np.arange(len(values)), [index[value] for value in values]] = 1.0
        return cells

    def decoder(self, start: int) -> Reader:
        options, stop = tuple(self.options), start + self.size

        def read(cells: Sequence[float]) -> Value:
            own = cells[start:stop]
            return options[own.index(max(own))]  # list.index finds the first: ties go to the earlier option

        return read


@dataclass(frozen=True, eq=False, repr=False)
class Ordinal(_Options):
    """One of several options in a meaningful order, small to large.

    >>> Ordinal(["none", "light", "heavy"])
    Ordinal(['none', 'light', 'heavy'])
    """

    options: Sequence[Any]
    _: KW_ONLY
    prior: Sequence[float] | None = None
    """One positive weight per option; they need not add up to one."""
    when: Mapping[str, object] | None = None
    kind: ClassVar[str] = "ordinal"

    def encode(self, value: Value) -> tuple[float, ...]:
        return ((self.index[value] + 0.5) / self.size,)  # the middle of its cell, as for an Int

    def decoder(self, start: int) -> Reader:
        return _equal_shares(tuple(self.options), start)


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Parameter):
    """A value that is part of every configuration and never searched. ``Space(epochs=10)`` writes one for you.

    >>> Constant("cosine")
    Constant('cosine')
    """

    value: Any
    _: KW_ONLY
    when: Mapping[str, object] | None = None
    kind: ClassVar[str] = "constant"

    def __post_init__(self) -> None:
        try:
            value = freeze(self.value)
        except ValueError as error:
            raise InvalidSpace("Constant.value", f"must be plain ({error})", self.value, _USE_STRINGS) from None
        set_fields(self, value=value, when=read_when(self.when))

    @property
    def size(self) -> int:
        return 1

    def value_at(self, index: int) -> Value:
        check_index(self, index)
        return self.value

    @property
    def draws(self) -> int:
        return 0

    def drawer(self, start: int) -> Reader:
        value = self.value
        return lambda u: value

    def parse(self, value: object, name: str) -> Value:
        try:
            if freeze(value) == self.value:
                return self.value
        except ValueError:
            pass
        raise InvalidConfig(name, f"must be the constant {self.value!r}", value, "leave it out, or make it a Choice")

    @property
    def plain(self) -> bool:
        return not isinstance(self.value, tuple)

    def dump(self, value: Value) -> Json:
        return thaw(value)

    def load(self, data: Json) -> Value:
        return freeze(data)

    @property
    def width(self) -> int:
        return 0

    def encode(self, value: Value) -> tuple[float, ...]:
        return ()

    def decoder(self, start: int) -> Reader:
        return self.drawer(start)


def _read_options(kind: str, options: object) -> tuple[Value, ...]:
    if isinstance(options, range) or type(options).__module__ == "numpy":
        options = list(options)  # type: ignore[call-overload]
    if not isinstance(options, (list, tuple)):
        raise InvalidSpace(f"{kind}.options", "must be a list", options, f'write {kind}(["a", "b"])')
    if not options:
        raise InvalidSpace(f"{kind}.options", "must not be empty", options, "list at least one option")
    frozen: dict[Value, int] = {}
    for position, option in enumerate(options):
        try:
            value = freeze(option)
        except ValueError as error:
            rule = f"must be strings, numbers, booleans, None or lists of them ({error})"
            raise InvalidSpace(f"{kind}.options[{position}]", rule, option, _USE_STRINGS) from None
        if value in frozen:
            first = options[frozen[value]]
            rule = f"must differ from each other, and {option!r} == {first!r} in Python"
            remedy = "leave one out, or use strings and map them in the objective"
            raise InvalidSpace(f"{kind}.options[{position}]", rule, option, remedy)
        frozen[value] = position
    return tuple(frozen)


def _equal_shares(options: tuple[Value, ...], start: int) -> Reader:
    """Each option owns an equal share of [0, 1]."""
    count = len(options)
    padded = (*options, options[-1])  # for the right end of the interval: cheaper than a comparison on each call
    return lambda cells: padded[int(cells[start] * count)]
