"""Two kinds of tables as problems: grids that hold every configuration, and scattered ones that hold a few.

Notation

===========  ===============================================================  ======================
symbol       meaning                                                          shape
===========  ===============================================================  ======================
``losses``   of every row, run and budget; lower is better                    (rows, runs, budgets)
``seconds``  cumulative, strictly increasing along budgets                    (rows, runs, budgets)
``counts``   how many of the runs a row has: the first ones                   (rows,)
``points``   the rows of a scattered table in the unit cube                   (rows, d)
===========  ===============================================================  ======================

*Runs.* Where a table has several runs of a configuration, seed s stands for run ``s mod counts``: consecutive seeds go
through all of them. ``loss`` is the mean of the runs and ``optimum`` the least of these means, so that a single run may
lie below the optimum; a regret is to be taken of ``loss``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import log, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xstar.errors import InvalidArgument
from xstar.space import Choice, Config, Float, Int, Ordinal, Space
from xstar.testing.problems import Curve

Array = NDArray[Any]
Floats = NDArray[np.float64]


class Table(ABC):
    """Losses and seconds of rows, each of which stands for some configurations."""

    best: Config

    def __init__(
        self,
        name: str,
        space: Space,
        losses: Floats,
        seconds: Array,
        *,
        budgets: Sequence[int],
        unit: str,
        counts: Array | None = None,
    ) -> None:
        rows, runs, _ = losses.shape
        if counts is None:
            counts = np.full(rows, runs)
        self.name = name
        self.space = space
        self.budgets = tuple(budgets)
        self.unit = unit
        self._losses = losses
        self._seconds = seconds
        self._counts = counts.astype(np.uint8).tobytes()  # a byte per row, and an int at once when indexed
        there = np.arange(runs) < counts[:, None]  # (rows, runs)
        self._means: Floats = np.where(there, losses[:, :, -1], 0.0).sum(axis=1) / counts
        self._best_row = int(self._means.argmin())
        self.optimum: float = self._means.item(self._best_row)

    @abstractmethod
    def row(self, config: Mapping[str, Any]) -> int:
        """Where in the table a configuration stands."""

    def loss(self, config: Mapping[str, Any]) -> float:
        return self._means.item(self.row(config))

    def curve(self, config: Mapping[str, Any], seed: int) -> Curve:
        row = self.row(config)
        run = seed % self._counts[row]
        return Curve(self._losses[row, run].tolist(), self._seconds[row, run].tolist())


class Grid(Table):
    """A table with a row for every configuration of a finite space, in C order of the parameters' options."""

    def __init__(
        self, name: str, space: Space, losses: Floats, seconds: Array, *, test: Floats | None = None, **others: Any
    ) -> None:
        super().__init__(name, space, losses, seconds, **others)
        places, stride = [], len(losses)
        for parameter, options in _options(space).items():
            stride //= len(options)
            places.append((parameter, {option: position * stride for position, option in enumerate(options)}))
        assert stride == 1, f"{name}: the space has another number of configurations than the table has rows"
        self._places = tuple(places)
        self._test = test
        self.best = space.at(self._best_row)

    def row(self, config: Mapping[str, Any]) -> int:
        row = 0
        try:
            for name, place in self._places:
                row += place[config[name]]
        except KeyError:
            self.space.parse(config)  # says in words what is missing, or not an option
            raise
        return row

    def test_error(self, config: Mapping[str, Any]) -> float:
        """The error on the test set at the full budget, in the unit of the losses: to report, never to search by."""
        if self._test is None:
            raise InvalidArgument("problem", "must have test errors in its table", self.name, "use loss(config)")
        return self._test.item(self.row(config))


class Scattered(Table):
    """A table of scattered points in a continuous space: a configuration gets the curve of the row nearest to it.

    A parameter that names the row would be a choice among a thousand options without any relation, and all model-based methods
    random search. With nearest neighbours the searcher sees the space the table was drawn from. The landscape is made of
    plateaus, one around each row, every row is reached by its own configuration, and the optimum is the best row. Distances are
    those of the encoded space (log scales as logs, each range as one), in which the rows were drawn evenly.
    """

    def __init__(
        self, name: str, space: Space, rows: Mapping[str, Array], losses: Floats, seconds: Array, **others: Any
    ) -> None:
        super().__init__(name, space, losses, seconds, **others)
        self._scales = tuple(_scales(space))
        columns = [
            ((np.log(rows[parameter]) if logarithmic else rows[parameter]) - origin) / span
            for parameter, logarithmic, origin, span in self._scales
        ]
        self._points = np.ascontiguousarray(np.stack(columns, axis=1))  # (rows, d)
        self._halves = 0.5 * (self._points**2).sum(axis=1)
        self.best = self.config(self._best_row, rows)

    def config(self, row: int, rows: Mapping[str, Array]) -> Config:
        """The configuration that a row of the table stands for; rounded where the table has 508.9 of an Int."""
        values = {name: rows[name].item(row) for name in self.space}
        return self.space.parse({n: round(v) if isinstance(self.space[n], Int) else v for n, v in values.items()})

    def row(self, config: Mapping[str, Any]) -> int:
        """The nearest row; the first of equals."""
        try:
            point = [
                ((log(config[name]) if logarithmic else config[name]) - origin) / span
                for name, logarithmic, origin, span in self._scales
            ]
        except KeyError:
            self.space.parse(config)  # says in words what is missing
            raise
        # |a - x|² = 2 (|a|²/2 - a·x) + |x|²: the same order without a difference of two matrices.
        return int((self._halves - self._points @ np.array(point)).argmin())


def _options(space: Space) -> dict[str, Sequence[Any]]:
    options: dict[str, Sequence[Any]] = {}
    for name, parameter in space.parameters.items():
        assert isinstance(parameter, (Choice, Ordinal)), f"{name} has no options"
        options[name] = parameter.options
    return options


def _scales(space: Space) -> list[tuple[str, bool, float, float]]:
    scales = []
    for name, parameter in space.parameters.items():
        assert isinstance(parameter, (Float, Int)), f"{name} is no number"
        scales.append((name, parameter.log, *parameter.scale()))
    return scales


def grid_space(options: Mapping[str, Sequence[Any]], rows: int) -> Space:
    """Ordered options for every parameter of a table of numbers; refused where the table has holes."""
    if prod(map(len, options.values())) != rows:
        raise InvalidArgument("table", f"must have a row for each of {options}", rows, "fetch the file again")
    return Space({name: Ordinal(list(values)) for name, values in options.items()})
