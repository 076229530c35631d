"""What Float and Int share: their place on the unit interval, their grids, their priors, their JSON.

Notation

=========  ====================================================================================================
``t``      the scale: the identity, or the natural logarithm if ``log``
``x``      the encoded value in [0, 1]: ``x = (t(value) - origin) / span``
``origin`` ``t(low)`` for a Float; ``t(low - 1/2)`` for an Int, whose values own cells of width one
``span``   ``t(high) - t(low)`` for a Float; ``t(high + 1/2) - t(low - 1/2)`` for an Int
=========  ====================================================================================================

With a ``step`` the values are a grid (``steps.py``), and each of them owns an equal share.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from math import log
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from xstar.errors import InvalidConfig, InvalidSpace
from xstar.space.parameter import Parameter, Reader
from xstar.space.priors import Normal, truncated_normal
from xstar.space.steps import Steps
from xstar.space.values import Json, Value


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

    # --- JSON and text ------------------------------------------------------------------------------------------

    def fields(self) -> dict[str, Json]:
        fields: dict[str, Json] = {"low": self.low, "high": self.high, "log": self.log}
        if self.step is not None:
            fields["step"] = self.step
        if self.prior is not None:
            fields["prior"] = self.prior.to_json()
        return fields

    def __repr__(self) -> str:
        return self._shown(self.low, self.high, log=self.log, step=self.step, prior=self.prior)


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
