"""Configurations as points of the unit cube: what models see.

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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from xstar.errors import InvalidArgument
from xstar.space.parameters import Parameter
from xstar.space.space import Config, Space
from xstar.space.values import Value


class Encoder:
    """The map between configurations of one space and the unit cube.

    ``decode(encode_one(config)[0]) == config``: exactly for discrete parameters, and for a Float to 1e-12 of its range
    (of its value if log). Domains have no columns: they are listed in ``domains``, ignored by ``encode`` and absent
    from what ``decode`` returns.
    """

    width: int
    """The number of columns."""
    columns: tuple[str, ...]
    """Their names: ``lr``, ``optimizer=sgd``, ``mask[0]``."""
    domains: tuple[str, ...]
    """The parameters that have no columns because they are domains."""
    places: dict[str, slice]
    """The columns of each parameter, empty for a Constant."""

    def __init__(self, space: Space) -> None:
        plain = {name: given for name, given in space.parameters.items() if isinstance(given, Parameter)}
        self.space = space
        self.domains = tuple(name for name in space.parameters if name not in plain)
        self.columns = tuple(column for name, parameter in plain.items() for column in parameter.column_names(name))
        self.width = len(self.columns)
        self.places = {}
        decoders, start = {}, 0
        for name, parameter in plain.items():
            decoders[name] = parameter.decoder(start)
            self.places[name] = slice(start, start + parameter.width)
            start += parameter.width
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
