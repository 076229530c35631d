"""The unit cube: configurations as its points, which is what models see, and moves in it.


Notation

==========  ==========================================================================  ==============
symbol      meaning                                                                     shape
==========  ==========================================================================  ==============
``X``       encoded configurations, every entry in [0, 1]                               (n, width)
``active``  whether a column belongs to an active parameter                             (n, width)
``row``     one encoded configuration                                                   (width,)
``width``   1 per Float, Int, Ordinal, Bool; one per option of a Choice;                int
            n per Bits(n); none for a Constant or a Domain
==========  ==========================================================================  ==============

=========  =================================================  ====================================================
kind       encode                                             decode
=========  =================================================  ====================================================
Float      position in the range (log range if log)           the value there; 0 and 1 are exactly low and high
Int        the middle of its cell (numeric.py)                the integer whose cell it is
Ordinal    the middle of one of equal cells                   the option whose cell it is
Choice     one-hot                                            the largest column, the first of equals
Bool       0 or 1                                             True from 1/2 on
Bits       0 or 1 each                                        1 from 1/2 on, each
=========  =================================================  ====================================================

Columns of inactive parameters have to hold something. Numbers hold 1/2: the point that is nowhere far from an active
value, so that a kernel which ignores ``active`` sees the smallest jump when a parameter is switched on. A Choice holds
all zeros, "no option": it is at distance 1 from every option, however many there are, where all halves would move away
with the square root of their number.

A searcher that maximises something over encoded configurations moves through ``rows``, any points of the cube (n, width).
``snap`` makes them canonical, which is what ``encode`` gives: discrete parameters in the middle of their cells, inactive
columns blank. Without conditions it works on whole columns; with conditions every row goes through ``decode`` and ``encode``,
20 times slower but of no concern for some hundred rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isfinite, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from xstar.errors import InvalidArgument
from xstar.space.binary import Bits, Bool
from xstar.space.numeric import Float, Int
from xstar.space.options import Choice, Ordinal
from xstar.space.parameters import Parameter
from xstar.space.space import Config, Space
from xstar.space.values import Value

Rows = NDArray[np.float64]

SMOOTH = 12
"""A number on a grid or an Ordinal with more values than this is optimised like a Float and rounded; one with fewer,
value by value."""
SHORT_LIST = 8
"""A number on a grid or an Ordinal with at most so many values has all others as neighbours; one with more, the nearest few."""


class Encoder:
    """The map between configurations of one space and the unit cube.

    ``decode(encode_one(config)[0]) == config``: exactly for discrete parameters, and for a Float to 1e-12 of its range
    (of its value if log). Domains have no columns: they are listed in ``domains``, ignored by ``encode`` and absent
    from what ``decode`` returns.
    """

    width: int
    """The number of columns."""
    domains: tuple[str, ...]
    """The parameters that have no columns because they are domains."""
    places: dict[str, slice]
    """The columns of each parameter, empty for a Constant."""

    def __init__(self, space: Space) -> None:
        plain = {name: given for name, given in space.parameters.items() if isinstance(given, Parameter)}
        self.space = space
        self.domains = tuple(name for name in space.parameters if name not in plain)
        self.places = {}
        decoders, start = {}, 0
        for name, parameter in plain.items():
            decoders[name] = parameter.decoder(start)
            self.places[name] = slice(start, start + parameter.width)
            start += parameter.width
        self.width = start
        self._build = space.structure.builder(decoders)
        self._wide = [(name, given, self.places[name]) for name, given in plain.items() if given.width]
        self._conditional = frozenset(space.structure.when)
        blanks = [np.full(parameter.width, parameter.blank) for parameter in plain.values()]
        self._blank = np.concatenate(blanks) if blanks else np.zeros(0)

    def encode(self, configs: Sequence[Mapping[str, Value]]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """``X`` and ``active`` of canonical configurations (those a Space made)."""
        n = len(configs)
        X = np.tile(self._blank, (n, 1))  # (n, width)
        active = np.ones((n, self.width), dtype=bool)
        for name, parameter, place in self._wide:
            if name not in self._conditional:
                X[:, place] = parameter.encode_column([config[name] for config in configs])
                continue
            rows = [row for row, config in enumerate(configs) if name in config]
            X[rows, place] = parameter.encode_column([configs[row][name] for row in rows])
            active[:, place] = False
            active[rows, place] = True
        return X, active

    def encode_one(self, config: Mapping[str, Value]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The row of one configuration, and which of its columns are active: both of shape (width,)."""
        X, active = self.encode([config])
        return X[0], active[0]

    def decode(self, row: ArrayLike) -> Config:
        """The configuration nearest to a point of the unit cube; numbers outside of [0, 1] count as the border."""
        cells: list[float] = np.asarray(row, dtype=np.float64).tolist()
        if not isinstance(cells, list) or len(cells) != self.width or np.ndim(row) != 1:
            found = f"shape={np.shape(row)}"
            raise InvalidArgument("row", f"must have the shape ({self.width},)", found, "decode one row at a time")
        if not all(map(isfinite, cells)):
            raise InvalidArgument("row", "must hold finite numbers", cells, "look for NaN in the model's output")
        return self._build([0.0 if cell < 0.0 else 1.0 if cell > 1.0 else cell for cell in cells])


class Cube:
    """The unit cube of one space."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.encoder = Encoder(space)
        self.width = self.encoder.width
        self.conditional = bool(space.structure.when)
        plain = {name: given for name, given in space.parameters.items() if isinstance(given, Parameter)}
        self._wide = [(given, self.encoder.places[name]) for name, given in plain.items() if given.width]
        self.smooth = np.zeros(self.width, dtype=bool)
        """Columns in which a small step means a small change."""
        self.numeric = np.zeros(self.width, dtype=bool)
        """Columns of numbers (and ordered options): positions in a range."""
        self.categories: frozenset[int] = frozenset()
        """The places in ``labels`` of parameters whose values have no order."""
        groups: list[int] = []
        labels: list[str] = []
        for name, given in plain.items():
            place = self.encoder.places[name]
            if isinstance(given, Float | Int | Ordinal):
                self.numeric[place] = True
                self.smooth[place] = given.size > SMOOTH
            # One length per parameter, but one per switch: Bits are parameters of their own that share a name.
            for column in range(given.width):
                if column == 0 or isinstance(given, Bits):
                    labels.append(name if given.width == 1 or isinstance(given, Choice) else f"{name}[{column}]")
                groups.append(len(labels) - 1)
            if isinstance(given, Choice):
                self.categories |= {len(labels) - 1}
        self.groups = tuple(groups)
        """Which parameter each column belongs to."""
        self.labels = tuple(labels)
        sizes = [given.size for given, _ in self._wide if isinstance(given.size, int)]
        self.largest = max(sizes, default=1)
        """The number of values of the finite parameter that has most."""
        self._group_of = np.array(groups, dtype=np.intp)
        self._first = np.unique(self._group_of, return_index=True)[1]
        """The first column of each parameter."""
        self._numbers_alone = len(groups) == len(labels) and bool(self.numeric.all())
        self.pure = not self.conditional and all(given.size == math.inf for given, _ in self._wide)
        """Every point is canonical."""

    def snap(self, rows: Rows) -> Rows:
        """The canonical rows of the configurations that ``rows`` decode to."""
        if self.pure:
            return np.clip(rows, 0.0, 1.0)
        if self.conditional:
            return self.encoder.encode([self.encoder.decode(row) for row in rows])[0]
        made = np.clip(rows, 0.0, 1.0)
        for parameter, place in self._wide:
            made[:, place] = _snap(parameter, made[:, place])
        return made

    def active(self, rows: Rows) -> NDArray[np.bool_]:
        """Which columns of canonical rows belong to active parameters."""
        if not self.conditional:
            return np.ones(rows.shape, dtype=bool)
        return self.encoder.encode([self.encoder.decode(row) for row in rows])[1]

    def decode(self, row: Rows) -> Config:
        """The configuration at a row."""
        return self.encoder.decode(row)

    def perturbed(self, rows: Rows, steps: Rows, uniforms: Rows, share: float) -> Rows:
        """Canonical rows near ``rows``: about ``share`` of the parameters change, at least one.

        Numbers move by ``steps`` (n, width); the others are drawn anew from ``uniforms`` (n, 2, width), whose first half says
        which parameters change.
        """
        dice = uniforms[:, 0, :] if self._numbers_alone else uniforms[:, 0, self._first]  # one per parameter
        changes = dice < np.maximum(share, dice.min(axis=1, keepdims=True) + 1e-12)
        if self._numbers_alone:
            return self.snap(np.where(changes, _reflect(rows + steps), rows))
        moved = np.where(self.numeric, rows + steps, uniforms[:, 1, :])
        moved = np.where(self.numeric, _reflect(moved), moved)
        return self.snap(np.where(changes[:, self._group_of], moved, rows))

    def neighbours(self, row: Rows, rng: np.random.Generator) -> Rows:
        """Canonical rows that differ from ``row`` in one discrete parameter (and in what that switches on or off)."""
        if self.conditional:
            # What is inactive is blank; a neighbour that switches it on should not always start from the same value.
            active = self.encoder.encode_one(self.decode(row))[1]
            row = np.where(active, row, rng.random(self.width))
        made: list[Rows] = []
        for parameter, place in self._wide:
            for cells in _alternatives(parameter, row[place], rng):
                other = row.copy()
                other[place] = cells
                made.append(other)
        if not made:
            return np.empty((0, self.width))
        return self.snap(np.array(made))


@lru_cache(maxsize=16)
def cube_of(space: Space) -> Cube:
    """The cube of a space, made once."""
    return Cube(space)


def _snap(parameter: Parameter, cells: Rows) -> Rows:
    """Plain form: ``[parameter.encode(parameter.decoder(0)(row)) for row in cells]``."""
    made: Rows
    match parameter:
        case Float(step=None):
            return cells
        case Int(log=True):
            origin, span = parameter.scale()
            values = np.floor(np.exp(origin + cells * span) + 0.5)
            made = (np.log(np.clip(values, parameter.low, parameter.high)) - origin) / span
            return made
        case Float() | Int() | Ordinal():
            size = int(parameter.size)
            return (np.minimum(np.floor(cells * size), size - 1) + 0.5) / size
        case Choice():
            made = np.zeros_like(cells)
            made[np.arange(len(cells)), cells.argmax(axis=1)] = 1.0
            return made
        case Bool() | Bits():
            return (cells >= 0.5).astype(np.float64)
    raise AssertionError(parameter)


def _alternatives(parameter: Parameter, cells: Rows, rng: np.random.Generator) -> list[Rows]:
    """What the columns of one discrete parameter may hold instead."""
    match parameter:
        case Choice():
            return [option for place, option in enumerate(np.eye(len(cells))) if place != cells.argmax()]
        case Bool():
            return [1.0 - cells]
        case Bits():
            return [np.abs(cells - flip) for flip in np.eye(len(cells))]
        case Float(step=None):
            return []
        case Float() | Int() | Ordinal():
            size = int(parameter.size)
            if isinstance(parameter, Int) and parameter.log:
                origin, span = parameter.scale()
                here = int(np.exp(origin + cells[0] * span) + 0.5) - parameter.low
            else:
                here = min(int(cells[0] * size), size - 1)
            if size <= SHORT_LIST:
                there = [place for place in range(size) if place != here]
            else:
                far = max(1, round(0.1 * size * abs(rng.standard_normal())))
                steps = {here - 2, here - 1, here + 1, here + 2, here - far, here + far}
                there = sorted(place for place in steps if 0 <= place < size and place != here)
            return [_cell(parameter, place) for place in there]
    return []


def _cell(parameter: Float | Int | Ordinal, place: int) -> Rows:
    if isinstance(parameter, Int) and parameter.log:
        origin, span = parameter.scale()
        return np.array([(log(parameter.low + place) - origin) / span])
    return np.array([(place + 0.5) / parameter.size])


def _reflect(rows: Rows) -> Rows:
    """Fold numbers outside of [0, 1] back in at the border, so that it is reached as often as the inside."""
    folded = np.abs(rows)
    if folded.size and not folded.max() < 2.0:
        folded %= 2.0
    return np.where(folded > 1.0, 2.0 - folded, folded)
