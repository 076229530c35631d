"""An independent product of families; the Fisher metric has one block for each.

θ, gradients and whitened gradients are flat vectors, concatenated over the parts. A point is the concatenation of the
parts' columns, as floats. The margins of the parts depend on the total number of variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import prod

import numpy as np

from xstar.errors import InvalidArgument
from xstar.igo.family import Active, Array, Family, Points


class Product:
    """The independent product of ``parts``."""

    def __init__(self, parts: Sequence[Family]) -> None:
        if not parts:
            raise InvalidArgument("parts", "a product needs at least one family", list(parts))
        self.variables = sum(part.variables for part in parts)
        self.parameters = sum(part.parameters for part in parts)
        self.parts: tuple[Family, ...] = tuple(part.within(self.variables) for part in parts)
        self.columns = _slices([part.variables for part in parts])
        self._places = _slices([prod(part.shape) for part in parts])
        self.shape: tuple[int, ...] = (self._places[-1].stop,)
        self.freedom = np.concatenate([part.freedom for part in parts])

    def split(self, vector: Array) -> Iterator[tuple[Family, Array, slice]]:
        """Yield each part with its share of a vector shaped like θ, and its columns."""
        for part, place, columns in zip(self.parts, self._places, self.columns, strict=True):
            yield part, vector[place].reshape(part.shape), columns

    def start(self) -> Array:
        return np.concatenate([part.start().ravel() for part in self.parts])

    def draw(self, theta: Array, count: int, rng: np.random.Generator) -> Points:
        points = np.empty((count, self.variables))
        for part, own, columns in self.split(theta):
            points[:, columns] = part.draw(own, count, rng)
        return points

    def check(self, points: Points) -> None:
        for part, columns in zip(self.parts, self.columns, strict=True):
            part.check(points[:, columns])

    def gradient(self, theta: Array, points: Points, w: Array, active: Active | None) -> Array:
        found = [
            part.gradient(own, points[:, columns], w, None if active is None else active[:, columns])
            for part, own, columns in self.split(theta)
        ]
        return np.concatenate([gradient.ravel() for gradient in found])

    def whiten(self, theta: Array, gradient: Array) -> Array:
        pairs = zip(self.split(theta), self.split(gradient), strict=True)
        return np.concatenate([part.whiten(own, its) for (part, own, _), (_, its, _) in pairs])

    def move(self, theta: Array, gradient: Array, step: float, at: Array) -> Array:
        triples = zip(self.split(theta), self.split(gradient), self.split(at), strict=True)
        moved = [part.move(own, its, step, then) for (part, own, _), (_, its, _), (_, then, _) in triples]
        return np.concatenate([theta.ravel() for theta in moved])

    def inside(self, theta: Array) -> bool:
        return all(part.inside(own) for part, own, _ in self.split(theta))

    def mode(self, theta: Array) -> Points:
        return np.concatenate([part.mode(own).astype(np.float64) for part, own, _ in self.split(theta)])

    def within(self, total: int) -> Product:
        """Products do not nest: their parts can be combined in one."""
        raise InvalidArgument("parts", "must not be products themselves", "a product", "list all parts in one product")


def _slices(sizes: Sequence[int]) -> list[slice]:
    ends = list(accumulate(sizes))
    return [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
