"""Numbers on a grid: low, low + step, low + 2 step, … up to high.

Steps are counted in decimals, as they are written: in binary 0.1 + 2 · 0.1 is not 0.3, and (0.3 - 0.1) / 0.1 is not 2. So
``Float(0.1, 0.3, step=0.1)`` has three values, the last of which is 0.3. Where ``high`` is not a number of steps above
``low``, the range ends at the last value that is: ``Int(1, 10, step=4)`` is 1, 5, 9, and its ``high`` is 9.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from math import isclose, ulp

from xstar.core.checks import as_float, as_int
from xstar.errors import InvalidSpace

MOST_STEPS = 2**50
"""As many as an Int has integers at most: see ``numeric.py``."""
CLOSE = 1e-9
"""A value that is off the grid by less than this share of a step was meant to be on it: 0.1 * 3 is."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The grid of one parameter: ``size`` values, the first is ``low``."""

    low: float
    step: float
    size: int
    digits: int | None
    """Decimals of the values; ``None``: they are integers."""

    def value(self, index: int) -> float:
        """The value at ``0 <= index < size``."""
        exact = self.low + index * self.step
        return exact if self.digits is None else round(exact, self.digits)

    def index(self, value: float) -> int:
        """The place of the value nearest to ``value``."""
        return min(max(round((value - self.low) / self.step), 0), self.size - 1)

    def nearest(self, value: float) -> float | None:
        """``value`` as the grid has it, or None if it is not on it."""
        near = self.value(self.index(value))
        return near if isclose(value, near, rel_tol=1e-12, abs_tol=CLOSE * self.step) else None

    def encoder(self) -> Callable[[float], float]:
        """The function that gives the middle of a value's share of [0, 1]."""
        low, step, size = self.low, self.step, self.size
        if self.digits is None:
            return lambda value: ((value - low) // step + 0.5) / size
        return lambda value: (self.index(value) + 0.5) / size

    def position(self, value: float) -> float:
        """Where in [0, 1] a number lies that may be none of the grid's."""
        return ((value - self.low) / self.step + 0.5) / self.size

    def decoder(self, start: int) -> Callable[[Sequence[float]], float]:
        value, size, last = self.value, self.size, self.size - 1

        def read(cells: Sequence[float]) -> float:
            place = int(cells[start] * size)
            return value(place if place < last else last)  # the right end of the cube belongs to the last cell

        return read


def read_steps(kind: str, low: float, high: float, step: object, log_scale: bool) -> Steps:
    """The grid that a user's ``step`` means; refused where there is none."""
    whole = kind == "Int"
    number = as_int(step) if whole else as_float(step)
    if number is None or number <= 0:
        rule = "must be an integer above 0" if whole else "must be a finite number above 0"
        raise InvalidSpace(f"{kind}.step", rule, step, "leave it out for every value of the range")
    if log_scale:
        remedy = "leave one of them out, or list the values in an Ordinal"
        raise InvalidSpace(f"{kind}.step", "steps are equal differences, and log=True means equal ratios", step, remedy)
    with localcontext(prec=800):  # a double has at most 767 decimals
        first, gap = Decimal(repr(low)), Decimal(repr(number))
        # A double next to the last value means it: 1000000.6666666666 is two steps of 0.3333333333333333 above 1000000.
        last = Decimal(repr(high)) + (0 if whole else Decimal(ulp(high)))
        count = int((last - first) // gap) + 1
        decimals = max(-int(first.as_tuple().exponent), -int(gap.as_tuple().exponent), 0)
    if count < 2:
        remedy = f"use Constant({low!r}) for a single value, or a smaller step"
        raise InvalidSpace(f"{kind}.step", "must be at most high - low", f"step={number}", remedy)
    if count > MOST_STEPS:
        raise InvalidSpace(f"{kind}.step", "a range holds at most 2**50 steps", f"step={number}", "use a larger step")
    return Steps(low, number, count, None if whole else decimals)
