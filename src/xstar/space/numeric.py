"""Float and Int: numbers in a range, on a linear or a logarithmic scale.

Notation

=========  ====================================================================================================
``t``      the scale: the identity, or the natural logarithm if ``log``
``x``      the encoded value in [0, 1]: ``x = (t(value) - origin) / span``
``origin`` ``t(low)`` for a Float; ``t(low - 1/2)`` for an Int, whose values own cells of width one
``span``   ``t(high) - t(low)`` for a Float; ``t(high + 1/2) - t(low - 1/2)`` for an Int
=========  ====================================================================================================

An Int ``k`` owns the cell ``t(k - 1/2) <= t < t(k + 1/2)``: equal shares of the unit interval, or its share of the log
range. Rounding to the nearest integer would give the two ends half a share each. With a ``step`` the values are a grid
(``steps.py``), and each of them owns an equal share.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from math import exp, log
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from xstar.core.values import as_float, as_int
from xstar.errors import InvalidArgument, InvalidConfig, InvalidSpace
from xstar.space.conditions import read_when
from xstar.space.parameter import Parameter, Reader, check_index, settle
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
    margin: ClassVar[float]
    """How far below ``low`` the scale begins: half of a cell where values own cells."""

    @abstractmethod
    def scale(self) -> tuple[float, float]:
        """``origin`` and ``span`` of the encoded scale."""

    # --- the unit cube ------------------------------------------------------------------------------------------

    def encode(self, value: Value) -> tuple[float, ...]:
        if self.steps is not None:
            return (self.steps.encode(value),)
        origin, span = self.scale()
        if self.log:
            return ((log(value) - origin) / span,)
        # Subtracting integers first keeps Int(2**60, 2**60 + 9) exact, where low - 1/2 is no double.
        return ((value - self.low + self.margin) / span,)

    def encode_column(self, values: Sequence[Value]) -> NDArray[np.float64]:
        """Plain form: ``[self.encode(value) for value in values]``, here with the scale looked up once.

        ``math.log`` rather than ``np.log``, so that the ends of the range are encoded as exactly 0 and 1.
        """
        origin, span = self.scale()
        low, margin = self.low, self.margin
        if self.steps is not None:
            cells = [self.steps.encode(value) for value in values]
        elif self.log:
            cells = [(log(value) - origin) / span for value in values]
        else:
            cells = [(value - low + margin) / span for value in values]
        return np.array(cells, dtype=np.float64).reshape(len(values), 1)

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
    margin: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        low = _end("Float.low", self.low, as_float(self.low), "a finite number", "give both ends as numbers")
        high = _end("Float.high", self.high, as_float(self.high), "a finite number", "give both ends as numbers")
        check_range("Float", low, high, self.log)
        if not math.isfinite(high - low):
            raise InvalidSpace("Float.high", "high - low must be finite", f"low={low}, high={high}", "narrow the range")
        if self.log and low <= 0.0:
            raise InvalidSpace("Float.low", "must be above 0 with log=True", low, "raise low or leave log out")
        if self.log and log(high) == log(low):
            found = f"low={low}, high={high}"
            raise InvalidSpace("Float.high", "the log range must not be empty", found, "leave log out")
        steps = None
        if self.step is not None:
            steps = read_steps("Float", low, high, self.step, self.log)
            high = steps.value(steps.size - 1)
            settle(self, step=steps.step, steps=steps)
        check_normal("Float", self.prior, low, high)
        settle(self, low=low, high=high, when=read_when(self.when))

    @property
    def size(self) -> int | float:
        return math.inf if self.steps is None else self.steps.size

    def value_at(self, index: int) -> Value:
        if self.steps is None:
            raise InvalidArgument("index", "a Float has no numbered values", index, "use grid(points), step= or an Int")
        check_index(self, index)
        return self.steps.value(index)

    def parse(self, value: object, name: str) -> float:
        number = as_float(value)
        if number is None:
            raise InvalidConfig(name, "must be a finite number", value, f"give a number in [{self.low}, {self.high}]")
        if not self.low <= number <= self.high:
            rule = f"must lie in [{self.low}, {self.high}]"
            raise InvalidConfig(name, rule, value, "give a number in the range or widen it in the space")
        return number if self.steps is None else on_grid(self.steps, number, name)

    def scale(self) -> tuple[float, float]:
        """``origin`` and ``span`` of the encoded scale."""
        if self.steps is not None:
            return self.low - self.steps.step / 2, self.steps.size * self.steps.step
        if self.log:
            return log(self.low), log(self.high) - log(self.low)
        return self.low, self.high - self.low

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
    margin: ClassVar[float] = 0.5

    def __post_init__(self) -> None:
        low = _end("Int.low", self.low, as_int(self.low), "an integer", "round it, or use Float")
        high = _end("Int.high", self.high, as_int(self.high), "an integer", "round it, or use Float")
        check_range("Int", low, high, self.log)
        if high - low >= MOST_INTEGERS:
            found = f"low={low}, high={high}"
            raise InvalidSpace(
                "Int.high", "an Int holds at most 2**50 integers", found, "narrow the range or use Float"
            )
        if self.log and low < 1:
            raise InvalidSpace("Int.low", "must be at least 1 with log=True", low, "raise low or leave log out")
        if self.log and high > LARGEST_LOG_INTEGER:
            raise InvalidSpace("Int.high", "must be at most 2**40 with log=True", high, "use Float and round")
        step = self.step
        if step is not None:
            steps = read_steps("Int", low, high, step, self.log)
            high, step = low + (steps.size - 1) * int(steps.step), int(steps.step)
            settle(self, step=None if step == 1 else step, steps=None if step == 1 else steps)
        check_normal("Int", self.prior, low, high)
        settle(self, low=low, high=high, when=read_when(self.when))

    @property
    def size(self) -> int:
        return (self.high - self.low) // (self.step or 1) + 1

    def value_at(self, index: int) -> int:
        check_index(self, index)
        return self.low + index * (self.step or 1)

    def parse(self, value: object, name: str) -> int:
        number = as_int(value)
        if number is None:
            raise InvalidConfig(name, "must be an integer", value, f"give an integer in {self.low} ... {self.high}")
        if not self.low <= number <= self.high:
            rule = f"must lie in {self.low} ... {self.high}"
            raise InvalidConfig(name, rule, value, "give an integer in the range or widen it in the space")
        return number if self.steps is None else int(on_grid(self.steps, number, name))

    def scale(self) -> tuple[float, float]:
        """``origin`` and ``span`` of the encoded scale: from half below ``low`` to half above ``high``."""
        if self.log:
            return log(self.low - 0.5), log(self.high + 0.5) - log(self.low - 0.5)
        step = self.step or 1
        return self.low - 0.5 * step, float(self.size * step)

    def decoder(self, start: int) -> Reader:
        low, high, size, step = self.low, self.high, self.size, self.step or 1
        origin, span = self.scale()

        def read_log(cells: Sequence[float]) -> int:
            value = int(exp(origin + cells[start] * span) + 0.5)
            return value if low <= value <= high else low if value < low else high

        def read_linear(cells: Sequence[float]) -> int:
            value = low + int(cells[start] * size) * step
            return value if value <= high else high  # the right end of the cube belongs to the last cell

        return read_log if self.log else read_linear


def _end(argument: str, given: object, number: N | None, rule: str, remedy: str) -> N:
    if number is None:
        raise InvalidSpace(argument, f"must be {rule}", given, remedy)
    return number


def prior_position(parameter: Number, prior: Normal) -> float:
    """The mean of a prior in the encoded scale."""
    if parameter.steps is not None:
        mean = parameter.steps.position(prior.mean)
    else:
        origin, span = parameter.scale()
        mean = (log(prior.mean) - origin if parameter.log else prior.mean - parameter.low + parameter.margin) / span
    return min(max(mean, 0.0), 1.0)


def check_range(kind: str, low: float, high: float, log_scale: object) -> None:
    """Refuse an empty range, and a scale that is neither."""
    if not isinstance(log_scale, bool):
        raise InvalidSpace(f"{kind}.log", "must be True or False", log_scale, "write log=True for a log scale")
    if low >= high:
        remedy = "swap them" if low > high else f"use Constant({low!r}) for a single value"
        raise InvalidSpace(f"{kind}.low", "must be below high", f"low={low}, high={high}", remedy)


def on_grid(steps: Steps, number: float, name: str) -> float:
    """``number`` as the grid has it; refused where the grid does not."""
    found = steps.nearest(number)
    if found is None:
        rule = f"must be {steps.low} or a multiple of the step {steps.step} above it"
        raise InvalidConfig(name, rule, number, f"the nearest is {steps.value(steps.index(number))}")
    return found
