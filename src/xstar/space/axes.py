"""The columns of the unit cube as numbers and options, with the priors of both: what a density over configurations needs.

Notation

============  ================================================================================  ==============
symbol        meaning                                                                           shape
============  ================================================================================  ==============
``rows``      canonical rows of the cube                                                        (n, width)
``numbers``   the columns of Floats, and of Ints, grids and Ordinals with many values           (n, p)
``on``        whether each of them is active                                                    (n, p)
``hot``       one-hot blocks of everything else, all zero where inactive: a Choice, each switch (n, V)
              of Bool and Bits, and numbers with few values
``q``         the number of those blocks                                                        int
============  ================================================================================  ==============

A prior of a number is a normal truncated to [0, 1]; without one it is uniform, which is a normal of the standard deviation
``LARGEST_STD`` to four digits.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from xstar.space.binary import Bits, Bool
from xstar.space.cube import SMOOTH, Cube, cube_of
from xstar.space.numeric import Float, Int, prior_position
from xstar.space.options import Choice, Ordinal
from xstar.space.parameters import Parameter
from xstar.space.priors import LARGEST_STD
from xstar.space.space import Space

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grid:
    """The values of an ordered parameter with few of them."""

    first: int
    """Its first column of ``hot``."""
    places: Array
    """Where the values are in [0, 1]: (s,)."""
    borders: Array
    """Where their cells begin, and where the last one ends: (s + 1,)."""


@dataclass(frozen=True, eq=False)
class Points:
    """Configurations in parts."""

    numbers: Array
    on: NDArray[np.bool_]
    hot: Array

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, places: NDArray[np.intp]) -> Points:
        return Points(self.numbers[places], self.on[places], self.hot[places])


class Axes:
    """The axes of one space."""

    mean: Array
    """The means of the priors of the numbers: (p,)."""
    std: Array
    """Their standard deviations: (p,)."""
    probabilities: Array
    """The priors of the options: (V,)."""
    starts: NDArray[np.intp]
    """The first column of each block of ``hot``: (q,)."""
    sizes: NDArray[np.intp]
    """The number of columns of each: (q,)."""
    grids: tuple[Grid, ...]

    def __init__(self, space: Space) -> None:
        self.cube: Cube = cube_of(space)
        priors: list[tuple[float, float]] = []
        columns: list[int] = []
        blocks: list[Array] = []
        grids: list[Grid] = []
        self._options: list[tuple[Parameter, slice, int]] = []
        for name, place in self.cube.encoder.places.items():
            parameter = space[name]
            assert isinstance(parameter, Parameter)
            if parameter.width == 0:
                continue
            first = sum(map(len, blocks))
            if isinstance(parameter, Float | Int | Ordinal) and parameter.size > SMOOTH:
                columns.append(place.start)
                priors.append(_prior_of(parameter))
                continue
            self._options.append((parameter, place, first))
            if isinstance(parameter, Float | Int | Ordinal):
                grids.append(_grid(parameter, first))
            blocks += _probabilities(parameter, grids[-1] if grids else None)
        self.columns = np.array(columns, dtype=np.intp)
        """The columns of the cube that are numbers: (p,)."""
        self.mean, self.std = np.array(priors, dtype=np.float64).reshape(-1, 2).T
        self.probabilities = np.concatenate(blocks) if blocks else np.zeros(0)
        self.sizes = np.array([len(block) for block in blocks], dtype=np.intp)
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.grids = tuple(grids)

    def split(self, rows: Array, active: NDArray[np.bool_]) -> Points:
        """Return the parts of canonical rows."""
        hot = np.zeros((len(rows), len(self.probabilities)))
        grids = {grid.first: grid for grid in self.grids}
        for parameter, place, first in self._options:
            cells = rows[:, place]
            match parameter:
                case Choice():
                    hot[:, first : first + len(cells.T)] = cells
                case Bool() | Bits():
                    hot[:, first : first + 2 * len(cells.T) : 2] = 1.0 - cells
                    hot[:, first + 1 : first + 2 * len(cells.T) : 2] = cells
                case _:
                    nearest = np.abs(cells - grids[first].places).argmin(axis=1)
                    hot[np.arange(len(rows)), first + nearest] = 1.0
            if self.cube.conditional:
                hot[~active[:, place.start], first : first + self._width(parameter)] = 0.0
        return Points(rows[:, self.columns], active[:, self.columns], hot)

    def join(self, numbers: Array, hot: Array) -> Array:
        """Return rows from numbers and complete one-hot blocks; the rows are canonical once snapped."""
        rows = np.empty((len(numbers), self.cube.width))
        rows[:, self.columns] = numbers
        grids = {grid.first: grid for grid in self.grids}
        for parameter, place, first in self._options:
            block = hot[:, first : first + self._width(parameter)]
            match parameter:
                case Choice():
                    rows[:, place] = block
                case Bool() | Bits():
                    rows[:, place] = block[:, 1::2]
                case _:
                    rows[:, place.start] = grids[first].places[block.argmax(axis=1)]
        return rows

    def with_numbers(self, count: int) -> Axes:
        """Return these axes with ``count`` more numbers that have no prior and no column, such as features of a network."""
        made = copy(self)
        made.mean = np.append(self.mean, np.full(count, 0.5))
        made.std = np.append(self.std, np.full(count, LARGEST_STD))
        return made

    @staticmethod
    def _width(parameter: Parameter) -> int:
        """The number of columns of ``hot``: two for each switch, one for each of a few values."""
        return 2 * parameter.width if isinstance(parameter, Bool | Bits) else int(parameter.size)


@lru_cache(maxsize=16)
def axes_of(space: Space) -> Axes:
    """The axes of a space, made once."""
    return Axes(space)


def _prior_of(parameter: Float | Int | Ordinal) -> tuple[float, float]:
    """The mean and the standard deviation of a number's prior, in the encoded scale."""
    if isinstance(parameter, Ordinal):
        if parameter.prior is None:
            return 0.5, LARGEST_STD
        # Weights of many options: the normal that has their mean and variance.
        weights = np.array(parameter.prior) / sum(parameter.prior)
        places = (np.arange(len(weights)) + 0.5) / len(weights)
        mean = float(weights @ places)
        return mean, float(np.sqrt(weights @ (places - mean) ** 2 + 1.0 / 12.0 / len(weights) ** 2))
    if parameter.prior is None:
        return 0.5, LARGEST_STD
    return prior_position(parameter, parameter.prior), parameter.prior.std


def _grid(parameter: Float | Int | Ordinal, first: int) -> Grid:
    size = int(parameter.size)
    places = np.array([parameter.encode(parameter.value_at(index))[0] for index in range(size)])
    if isinstance(parameter, Int) and parameter.log:
        origin, span = parameter.scale()
        inner = (np.log(np.arange(parameter.low, parameter.high) + 0.5) - origin) / span
        return Grid(first, places, np.concatenate([[0.0], inner, [1.0]]))
    return Grid(first, places, np.linspace(0.0, 1.0, size + 1))


def _probabilities(parameter: Parameter, grid: Grid | None) -> list[Array]:
    """The prior of each block of a parameter with few values."""
    match parameter:
        case Bool():
            yes = 0.5 if parameter.prior is None else parameter.prior
            return [np.array([1.0 - yes, yes])]
        case Bits():
            return [np.full(2, 0.5)] * parameter.width
        case Choice() | Ordinal():
            weights = np.ones(int(parameter.size)) if parameter.prior is None else np.array(parameter.prior)
            return [weights / weights.sum()]
        case Float() | Int():
            assert grid is not None
            shares = np.diff(grid.borders)
            if parameter.prior is not None:
                from xstar.core.compiled import (
                    ndtr,  # imported at use: see ``cube.py`` for what the import of xstar may cost
                )

                mean = prior_position(parameter, parameter.prior)
                shares = np.maximum(np.diff(ndtr((grid.borders - mean) / parameter.prior.std)), 1e-12)
            return [shares / shares.sum()]
    raise AssertionError(parameter)
