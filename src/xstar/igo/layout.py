"""Map any space to one distribution: the columns of a point that represent each parameter.

===========  ====================================================================================  ========
parameter    family                                                                                columns
===========  ====================================================================================  ========
Bool         Bernoulli                                                                             1
Bits(n)      Bernoulli                                                                             n
Choice       Bernoulli for two options, Categorical for more, none for one                         1 or 0
Float        Gaussian on the encoded scale [0, 1]; draws beyond it are clipped                     1
Int          Gaussian on the encoded scale; each integer owns a cell                               1
Ordinal      Gaussian on the encoded scale, equal cells; none for one option                       1 or 0
Constant     none                                                                                  0
Domain       none: the domain draws its values, independently of the distribution                  0
===========  ====================================================================================  ========

Priors set the initial θ. Numbers without a prior start with the mean and variance of a uniform number, ½ and 1/12.

Updates use the configuration that was tried. The x of a number is therefore the position of its value in the encoded
scale (the middle of its cell, or the boundary), not the number that was drawn and rounded, so that the configuration
alone determines it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from xstar.errors import InvalidArgument
from xstar.igo.discrete import Bernoulli, Categorical
from xstar.igo.family import Active, Array, Family, Points, Product
from xstar.igo.gaussian import Gaussian
from xstar.space import Bits, Bool, Choice, Constant, Float, Int, Ordinal, Parameter, Space

UNIFORM = 12.0**-0.5
"""The standard deviation of a uniform number in [0, 1], and the maximum of σ: above it, draws pile up at the
boundaries."""

FINEST = 1e-4
"""The minimum of σ for a Float, as a share of its (log) range: a hundredth of a percent."""

Cells = list[Any]


class Layout:
    """The distribution over a space, with conversion between configurations and points."""

    space: Space
    family: Product

    def __init__(self, space: Space) -> None:
        self.space = space
        bits: dict[str, list[float]] = {}
        kinds: dict[int, dict[str, list[float]]] = {}
        numbers: dict[str, Float | Int | Ordinal] = {}
        fixed: list[str] = []
        for name, given in space.parameters.items():
            if isinstance(given, Bits):
                bits[name] = [0.5] * given.n
            elif isinstance(given, Bool):
                bits[name] = [0.5 if given.prior is None else given.prior]
            elif isinstance(given, Choice) and given.size > 1:
                weights = [1.0] * given.size if given.prior is None else list(given.prior)
                if given.size == 2:
                    bits[name] = [weights[1] / (weights[0] + weights[1])]
                else:
                    kinds.setdefault(given.size, {})[name] = weights
            elif isinstance(given, Float | Int | Ordinal) and given.size > 1:
                numbers[name] = given
            elif isinstance(given, Parameter):
                fixed.append(name)
        parts: list[Family] = []
        if bits:
            shares = [share for own in bits.values() for share in own]
            parts.append(Bernoulli(len(shares), start=shares))
        parts += [Categorical(len(own), values, start=[*own.values()]) for values, own in sorted(kinds.items())]
        if numbers:
            parts.append(_gaussian([*numbers.values()]))
        widths = {name: len(own) for name, own in bits.items()}
        widths |= dict.fromkeys([name for _, own in sorted(kinds.items()) for name in own] + [*numbers], 1)
        ends = list(accumulate(widths.values()))
        self._places = {name: slice(end - width, end) for (name, width), end in zip(widths.items(), ends, strict=True)}
        self._numbers = slice(sum(widths.values()) - len(numbers), None)
        if not parts:
            rule = "must have a parameter to learn about: not only constants and domains"
            raise InvalidArgument("space", rule, list(space.parameters), "add one, or use another method")
        self.family = Product(parts)
        self._bits = [place for name, place in self._places.items() if isinstance(space.parameters[name], Bits)]
        readers = {name: _reader(space.parameters[name], place) for name, place in self._places.items()}
        readers |= {name: _constant(space.parameters[name]) for name in fixed}
        self._build = space.structure.builder(readers)
        self._domains = [
            (name, given.sample, space.structure.activity.get(name))
            for name, given in space.parameters.items()
            if not isinstance(given, Parameter)
        ]

    @property
    def places(self) -> Mapping[str, slice]:
        """The columns of a point that each parameter has; constants and domains have none."""
        return self._places

    def config(self, point: Array, rng: np.random.Generator) -> dict[str, Any]:
        """Return the configuration at one point, shape (D,); domains draw from ``rng``."""
        clipped = point.copy()
        clipped[self._numbers] = clipped[self._numbers].clip(0.0, 1.0)
        cells: list[Any] = clipped.tolist()
        for place in self._bits:
            cells[place.start] = tuple(point[place].astype(np.int8).tolist())
        config: dict[str, Any] = self._build(cells)
        if not self._domains:
            return config
        for name, sample, active in self._domains:
            if active is None or active(config):
                config[name] = sample(rng)
        return self.space.structure.declared(config)

    def points(self, configs: Sequence[Mapping[str, Any]]) -> tuple[Points, Active | None]:
        """Return the points of configurations, and which variables are active in them (None: all)."""
        points = np.zeros((len(configs), self.family.variables))
        active = np.ones(points.shape, dtype=np.bool_) if self.space.structure.when else None
        for name, place in self._places.items():
            given = self.space.parameters[name]
            for row, config in enumerate(configs):
                if name not in config:
                    assert active is not None
                    active[row, place] = False
                elif isinstance(given, Bits):
                    points[row, place] = np.frombuffer(bytes(config[name]), dtype=np.int8)
                elif isinstance(given, Choice):
                    points[row, place] = given.index[config[name]]
                elif isinstance(given, Parameter):
                    points[row, place] = given.encode(config[name])
        return points, active


def _gaussian(numbers: list[Float | Int | Ordinal]) -> Family:
    means, spreads, cells, origins, spans = [], [], [], [], []
    for given in numbers:
        prior = None if isinstance(given, Ordinal) else given.prior
        mean, spread = 0.5, UNIFORM
        if prior is not None:
            # The mean of a log-scaled Int may be a fraction; it is encoded like a Float.
            mean, spread = float(np.clip(given.encode(prior.mean)[0], 0.0, 1.0)), min(prior.std, UNIFORM)
        elif isinstance(given, Ordinal) and given.prior is not None:
            places = (np.arange(given.size) + 0.5) / given.size
            mean = float(np.average(places, weights=given.prior))
            spread = float(np.sqrt(np.average((places - mean) ** 2, weights=given.prior)))
        means.append(mean)
        spreads.append(max(spread, FINEST))
        cells.append(0.0 if given.size == math.inf else 1.0 / given.size)
        origin, span = given.scale() if isinstance(given, Int) and given.log else (0.0, 0.0)
        origins.append(origin)
        spans.append(span)
    return Gaussian(
        means, spreads, low=0.0, high=1.0, least=FINEST, most=UNIFORM, cells=cells, origin=origins, span=spans
    )


def _reader(given: Any, place: slice) -> Callable[[Cells], Any]:
    start = place.start
    if isinstance(given, Choice):
        options = tuple(given.options)
        return lambda cells: options[int(cells[start])]
    if isinstance(given, Bits):  # assigned at once: reading 3,000 of them one by one takes longer than all the rest
        return lambda cells: cells[start]
    read: Callable[[Cells], Any] = given.decoder(start)
    return read


def _constant(given: Any) -> Callable[[Cells], Any]:
    value = given.value if isinstance(given, Constant) else given.value_at(0)
    return lambda cells: value
