"""Bits: independent Bernoulli variables, the family of cGA and PBIL.

=========  =====================================================================  ======
symbol     meaning                                                                shape
=========  =====================================================================  ======
``T(x)``   x: the bits, 0 or 1                                                    (D,)
``θ``      P(x_d = 1); n = D                                                      (D,)
``G``      diagonal, 1 / (θ_d (1 − θ_d))                                          –
``Π``      θ clipped to [1/n, 1 − 1/n] (footnote 1 of the paper)                  –
=========  =====================================================================  ======
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from xstar.core.checks import whole_number
from xstar.errors import InvalidArgument
from xstar.igo.family import Active, Array, Points, check_margin, least_probability, weighted_sum


class Bernoulli:
    """``bits`` independent bits. ``start`` is the initial P(x = 1): one number, or one per bit."""

    kind: ClassVar[str] = "bernoulli"

    def __init__(self, bits: int, *, start: Any = 0.5, margin: float | None = None) -> None:
        self.variables = whole_number("bits", bits, least=1)
        self.margin = check_margin(margin, 0.25)
        given = np.asarray(start, dtype=np.float64)
        if given.shape not in ((), (self.variables,)) or not ((given > 0.0) & (given < 1.0)).all():
            raise InvalidArgument("start", f"must be one probability in (0, 1), or {self.variables} of them", start)
        self._start = np.full(self.variables, given) if given.ndim == 0 else given.copy()
        self._set(self.variables)

    def _set(self, total: int) -> None:
        self.lowest = least_probability(total, 2) if self.margin is None else self.margin
        self.highest = 1.0 - self.lowest

    @property
    def parameters(self) -> int:
        return self.variables

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.variables,)

    @property
    def freedom(self) -> Array:
        return np.ones(self.variables)

    def start(self) -> Array:
        clipped: Array = self._start.clip(self.lowest, self.highest)
        return clipped

    def draw(self, theta: Array, count: int, rng: np.random.Generator) -> Points:
        """Draw points of 8-bit integers.

        A bit is 1 if a uniform number is at least 1 − θ, so raising θ never turns a 1 into a 0.
        """
        return (rng.random((count, self.variables)) >= 1.0 - theta).view(np.int8)

    def check(self, points: Points) -> None:
        if not ((points == 0) | (points == 1)).all():
            raise InvalidArgument("points", "must hold zeros and ones", np.unique(points)[:5].tolist())

    def gradient(self, theta: Array, points: Points, w: Array, active: Active | None) -> Array:
        if active is None:  # θ cancels, because Σ w = 0
            return weighted_sum(w, points) / len(w)
        return (weighted_sum(w, points * active) - weighted_sum(w, active) * theta) / len(w)

    def whiten(self, theta: Array, gradient: Array) -> Array:
        whitened: Array = gradient / np.sqrt(theta * (1.0 - theta))
        return whitened

    def move(self, theta: Array, gradient: Array, step: float, at: Array) -> Array:
        moved: Array = (theta + step * gradient).clip(self.lowest, self.highest)
        return moved

    def inside(self, theta: Array) -> bool:
        return bool(((theta >= self.lowest) & (theta <= self.highest)).all())

    def mode(self, theta: Array) -> Points:
        """Return 1 where θ ≥ ½, as the paper does for its networks."""
        return (theta >= 0.5).view(np.int8)

    def within(self, total: int) -> Bernoulli:
        copy = Bernoulli(self.variables, start=self._start, margin=self.margin)
        copy._set(total)
        return copy

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "bits": self.variables, "start": self._start.tolist(), "margin": self.margin}
