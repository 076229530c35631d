"""Float and Int: numbers in a range, on a linear or a logarithmic scale.

Notation

=========  ====================================================================================================
``t``      the scale: the identity, or the natural logarithm if ``log``
``x``      the encoded value in [0, 1]: ``x = (t(value) - origin) / span``
``origin`` ``t(low)`` for a Float; ``t(low - 1/2)`` for an Int, whose values own cells of width one
``span``   ``t(high) - t(low)`` for a Float; ``t(high + 1/2) - t(low - 1/2)`` for an Int
=========  ====================================================================================================

An Int ``k`` owns the cell ``t(k - 1/2) <= t < t(k + 1/2)``: equal shares of the unit interval, or its share of the log
range. Rounding to the nearest integer would give the two ends half a share each. With a ``step``, and where an Int has no
``log``, the values are a grid (``steps.py``), and each of them owns an equal share.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from math import exp, log
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from xstar.core.checks import as_float, as_int
from xstar.errors import InvalidArgument, InvalidConfig, InvalidSpace
from xstar.space.conditions import read_when
from xstar.space.parameter import Parameter, Reader, check_index, set_fields
from xstar.space.priors import Normal, check_normal, truncated_normal
from xstar.space.steps import Steps, read_steps
from xstar.space.values import Value

N = TypeVar("N", int, float)

# A double in [0, 1] tells apart 2^53 positions. With three bits to spare every integer of a wider-than-usual range
# still comes back from the unit cube as itself.
MOST_INTEGERS = 2**50
# On a log scale up to 2^40 neighbours are 2^-40 / log(2^40) ~ 3e-14 apart, a hundred times the rounding of a log.
LARGEST_LOG_INTEGER = 2**40


class Number(Parameter):
    """A number in [low, high], on a linear or a logarithmic scale."""

    low: float
    high: float
    log: bool
    step: float | None
    prior: Normal | None
    steps: Steps | None
    """The values, where they are a grid: with a ``step``, and of an Int without ``log``."""
    noun: ClassVar[str]
    cell: ClassVar[float]
    """How wide a value's cell is on a scale without a grid."""

    def _checked_ends(self, ends: tuple[N | None, N | None], rule: str, remedy: str) -> tuple[N, N]:
        """Both ends as numbers, the lower one first, and the scale as a bool; refused where they are not."""
        name, (low, high) = type(self).__name__, ends
        for side, given, number in (("low", self.low, low), ("high", self.high, high)):
            if number is None:
                raise InvalidSpace(f"{name}.{side}", f"must be {rule}", given, remedy)
        assert low is not None
        assert high is not None
        if not isinstance(self.log, bool):
            raise InvalidSpace(f"{name}.log", "must be True or False", self.log, "write log=True for a log scale")
        if low >= high:
            remedy = "swap them" if low > high else f"use Constant({low!r}) for a single value"
            raise InvalidSpace(f"{name}.low", "must be below high", f"low={low}, high={high}", remedy)
        return low, high

    def _take(self, low: N, high: N, steps: Steps | None, step: float | None) -> None:
        check_normal(type(self).__name__, self.prior, low, high)
        set_fields(self, low=low, high=high, step=step, steps=steps, when=read_when(self.when))

    @property
    def size(self) -> int | float:
        return math.inf if self.steps is None else self.steps.size

    def value_at(self, index: int) -> Value:
        if self.steps is None:
            raise InvalidArgument("index", "a Float has no numbered values", index, "use grid(points), step= or an Int")
        check_index(self, index)
        return self.steps.value(index)

    def parse(self, value: object, name: str) -> Any:
        number = self._number(value)
        if number is None:
            raise InvalidConfig(name, f"must be {self.noun}", value, f"give a number in {self._range}")
        if not self.low <= number <= self.high:
            raise InvalidConfig(name, f"must lie in {self._range}", value, "give one in the range or widen the range")
        if self.step is None or self.steps is None:
            return number
        near = self.steps.nearest(number)
        if near is None:
            rule = f"must be {self.low} or a multiple of the step {self.step} above it"
            raise InvalidConfig(name, rule, number, f"the nearest is {self.steps.value(self.steps.index(number))}")
        return near

    @staticmethod
    @abstractmethod
    def _number(value: object) -> float | None:
        """A user's value as such a number."""

    @property
    @abstractmethod
    def _range(self) -> str:
        """Both ends, in words."""

    # --- the unit cube ------------------------------------------------------------------------------------------

    def scale(self) -> tuple[float, float]:
        """``origin`` and ``span`` of the encoded scale."""
        if self.steps is not None:
            return self.low - self.steps.step / 2, float(self.steps.size * self.steps.step)
        half = self.cell / 2
        if self.log:
            return log(self.low - half), log(self.high + half) - log(self.low - half)
        return self.low, self.high - self.low

    def _place(self) -> Callable[[Value], float]:
        """The function that encodes a value."""
        if self.steps is not None:
            return self.steps.encoder()
        origin, span = self.scale()
        # ``math.log`` rather than ``np.log``, so that the ends of the range are encoded as exactly 0 and 1.
        return (lambda value: (log(value) - origin) / span) if self.log else (lambda value: (value - origin) / span)

    def encode(self, value: Value) -> tuple[float, ...]:
        return (self._place()(value),)

    def encode_column(self, values: Sequence[Value]) -> NDArray[np.float64]:
        return np.array(list(map(self._place(), values)), dtype=np.float64).reshape(len(values), 1)

    def grid_values(self, points: int) -> Iterator[Value]:
        if self.size <= points:
            return super().grid_values(points)
        read = self.decoder(0)
        # Several of the positions may fall into one value's cell.
        return iter(dict.fromkeys(read((i / (points - 1),)) for i in range(points)))

    # --- the prior ----------------------------------------------------------------------------------------------

    def drawer(self, start: int) -> Reader:
        if self.prior is None:
            return self.decoder(start)
        # Uniform number -> position in the encoded scale under the prior -> value.
        quantile = truncated_normal(prior_position(self, self.prior), self.prior.std)
        read = self.decoder(0)
        return lambda u: read((quantile(u[start]),))


@dataclass(frozen=True, eq=False, repr=False)
class Float(Number):
    """A real number in [low, high].

    >>> Float(1e-4, 1e-1, log=True)
    Float(0.0001, 0.1, log=True)
    """

    low: float
    high: float
    _: KW_ONLY
    log: bool = False
    """Whether equal *ratios* count the same: for learning rates, weight decays and other scales."""
    step: float | None = None
    """The distance of two neighbouring values, from ``low`` on; ``high`` is lowered to the last one. ``None``: any number."""
    prior: Normal | None = None
    when: Mapping[str, object] | None = None
    steps: Steps | None = field(init=False, default=None)
    kind: ClassVar[str] = "float"
    noun: ClassVar[str] = "a finite number"
    cell: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        ends = as_float(self.low), as_float(self.high)
        low, high = self._checked_ends(ends, "a finite number", "give both ends as numbers")
        found = f"low={low}, high={high}"
        if not math.isfinite(high - low):
            raise InvalidSpace("Float.high", "high - low must be finite", found, "narrow the range")
        if self.log and low <= 0.0:
            raise InvalidSpace("Float.low", "must be above 0 with log=True", low, "raise low or leave log out")
        if self.log and log(high) == log(low):
            raise InvalidSpace("Float.high", "the log range must not be empty", found, "leave log out")
        steps = None if self.step is None else read_steps("Float", low, high, self.step, self.log)
        if steps is None:
            self._take(low, high, None, None)
        else:
            self._take(low, steps.value(steps.size - 1), steps, steps.step)

    _number = staticmethod(as_float)

    @property
    def _range(self) -> str:
        return f"[{self.low}, {self.high}]"

    def decoder(self, start: int) -> Reader:
        if self.steps is not None:
            return self.steps.decoder(start)
        low, high = self.low, self.high
        origin, span = self.scale()

        # The ends are returned as such and the inside is clamped: exp(log(low)) is not low, and a rounded
        # combination of two numbers may fall an ulp outside of them.
        def read_log(cells: Sequence[float]) -> float:
            x = cells[start]
            if x <= 0.0:
                return low
            if x >= 1.0:
                return high
            value = exp(origin + x * span)
            return value if low <= value <= high else low if value < low else high

        def read_linear(cells: Sequence[float]) -> float:
            x = cells[start]
            value = low * (1.0 - x) + high * x
            return value if low <= value <= high else low if value < low else high

        return read_log if self.log else read_linear


@dataclass(frozen=True, eq=False, repr=False)
class Int(Number):
    """An integer in low ... high, both included.

    >>> Int(8, 128, log=True)
    Int(8, 128, log=True)
    """

    low: int
    high: int
    _: KW_ONLY
    log: bool = False
    """Whether equal *ratios* count the same: for batch sizes, widths and other counts over orders of magnitude."""
    step: int | None = None
    """The distance of two neighbouring values, from ``low`` on; ``high`` is lowered to the last one. ``None``: 1."""
    prior: Normal | None = None
    when: Mapping[str, object] | None = None
    steps: Steps | None = field(init=False, default=None)
    kind: ClassVar[str] = "int"
    noun: ClassVar[str] = "an integer"
    cell: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        low, high = self._checked_ends((as_int(self.low), as_int(self.high)), "an integer", "round it, or use Float")
        found = f"low={low}, high={high}"
        if high - low >= MOST_INTEGERS:
            rule = "an Int holds at most 2**50 integers"
            raise InvalidSpace("Int.high", rule, found, "narrow the range or use Float")
        if self.log and low < 1:
            raise InvalidSpace("Int.low", "must be at least 1 with log=True", low, "raise low or leave log out")
        if self.log and high > LARGEST_LOG_INTEGER:
            raise InvalidSpace("Int.high", "must be at most 2**40 with log=True", high, "use Float and round")
        if self.step is None:
            self._take(low, high, None if self.log else Steps(low, 1, high - low + 1, None), None)
        else:
            steps = read_steps("Int", low, high, self.step, self.log)
            self._take(low, int(steps.value(steps.size - 1)), steps, None if steps.step == 1 else steps.step)

    _number = staticmethod(as_int)

    @property
    def _range(self) -> str:
        return f"{self.low} ... {self.high}"

    @property
    def size(self) -> int:
        return self.high - self.low + 1 if self.steps is None else self.steps.size

    def value_at(self, index: int) -> int:
        check_index(self, index)
        return self.low + index * (self.step or 1)

    def decoder(self, start: int) -> Reader:
        if self.steps is not None:
            return self.steps.decoder(start)
        low, high = self.low, self.high
        origin, span = self.scale()

        def read_log(cells: Sequence[float]) -> int:
            value = int(exp(origin + cells[start] * span) + 0.5)
            return value if low <= value <= high else low if value < low else high

        return read_log


def prior_position(parameter: Number, prior: Normal) -> float:
    """The mean of a prior in the encoded scale."""
    steps = parameter.steps
    return min(max(parameter._place()(prior.mean) if steps is None else steps.position(prior.mean), 0.0), 1.0)
