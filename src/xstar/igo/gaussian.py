"""Numbers and ordered integers: independent Gaussians. The paper leaves them as future work: metric and margins are
ours.

===========  ==================================================================================  ======
symbol       meaning                                                                             shape
===========  ==================================================================================  ======
``T(x)``     (x, x²) of each variable; the expectation parameters are (m, m² + v)                (D, 2)
``θ``        stored as (m, v), mean and variance: m² + v would lose the digits of a small v      (D, 2)
``∇̃``        (a, h): (1/λ) Σ w (x − m) and (1/λ) Σ w ((x − m)² − v)                              (D, 2)
``σ``        √v                                                                                  (D,)
``c``        the width of a cell: the interval of the axis that represents one integer           (D,)
===========  ==================================================================================  ======

``docs/igo.md`` derives what follows. The step is one in (m, ln v): in expectation parameters every step would lose variance.

    m ↦ m + ε a,     v ↦ v exp(ε h / v),     G^½ ∇̃ = (a / σ, h / (√2 v))

A gradient taken at another mean m′ has h = h′ + 2 (m′ − m) a′. m stays between ``low`` and ``high``, σ between its minimum and
``most``. If the axis consists of cells, the minimum of σ is such that a variable in the middle of its cell leaves it with
probability 1/D (at most ½). Cells of integers on a log scale become narrower upwards, and the minimum of σ with them.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np

from xstar.errors import InvalidArgument
from xstar.igo.family import Active, Array, Points, weighted_sum

SMALLEST = 1e-6
"""The default minimum of σ, as a share of its initial value: a million times finer than the initial spread."""

LARGEST = 1.0
"""Maximum change of the log variance in one step: a point drawn long ago may lie twenty σ away by now."""


class Gaussian:
    """Independent numbers, initially drawn around ``mean`` with the standard deviation ``spread`` (one number, or D
    each).

    ``cells`` is the width of a cell, 0 if there are none. A nonzero ``span`` means that the cells are those of integers
    k on a log scale, at (log k − origin) / span.
    """

    def __init__(
        self,
        mean: Any,
        spread: Any,
        *,
        low: Any = -math.inf,
        high: Any = math.inf,
        least: Any = None,
        most: Any = math.inf,
        cells: Any = 0.0,
        origin: Any = 0.0,
        span: Any = 0.0,
    ) -> None:
        least = SMALLEST * np.asarray(spread, dtype=np.float64) if least is None else least
        given = {"mean": mean, "spread": spread, "low": low, "high": high, "least": least, "most": most}
        fields = {**given, "cells": cells, "origin": origin, "span": span}
        arrays = {name: np.atleast_1d(np.asarray(value, dtype=np.float64)) for name, value in fields.items()}
        self.variables = max(array.size for array in arrays.values())
        self.parameters = 2 * self.variables
        self.shape: tuple[int, ...] = (self.variables, 2)
        self.freedom = np.full(self.variables, 2.0)
        for name, array in arrays.items():
            if array.shape not in ((1,), (self.variables,)) or np.isnan(array).any():
                raise InvalidArgument(name, f"must be one number, or {self.variables} of them", fields[name])
        self._fields = {name: np.broadcast_to(array, (self.variables,)) for name, array in arrays.items()}
        self.mean, self.spread, self.low, self.high, self.least, self.most = (self._fields[name] for name in given)
        if not ((self.least > 0.0) & (self.least <= self.most)).all():
            raise InvalidArgument("least", "must be above 0 and at most as large as most", least)
        if not ((self.spread > 0.0) & np.isfinite(self.spread) & np.isfinite(self.mean)).all():
            raise InvalidArgument("spread", "must be above 0, and both mean and spread finite", spread)
        if not (self.low <= self.high).all():
            raise InvalidArgument("low", "must not be above high", low)
        self._set(self.variables)

    def _set(self, total: int) -> None:
        leaving = min(1.0 / total, 0.5)
        self.share = 0.5 / NormalDist().inv_cdf(1.0 - leaving / 2)  # P(|x − m| > c/2) = leaving at σ = share · c

    def start(self) -> Array:
        return self._project(self.mean, self.spread**2)

    def draw(self, theta: Array, count: int, rng: np.random.Generator) -> Points:
        """Draw numbers without clipping: the caller decides how to treat those beyond a boundary."""
        drawn: Points = theta[:, 0] + np.sqrt(theta[:, 1]) * rng.standard_normal((count, self.variables))
        return drawn

    def check(self, points: Points) -> None:
        if not np.isfinite(points).all():
            raise InvalidArgument("points", "must hold finite numbers", points[:3].tolist())

    def gradient(self, theta: Array, points: Points, w: Array, active: Active | None) -> Array:
        z = points - theta[:, 0]
        terms = np.stack([z, z * z - theta[:, 1]], axis=2)  # T(x) − E T, relative to m: (λ, D, 2)
        if active is not None:
            terms *= active[:, :, None]
        return weighted_sum(w, terms) / len(w)

    def whiten(self, theta: Array, gradient: Array) -> Array:
        v = theta[:, 1]
        return np.stack([gradient[:, 0] / np.sqrt(v), gradient[:, 1] / (math.sqrt(2.0) * v)], axis=1).ravel()

    def move(self, theta: Array, gradient: Array, step: float, at: Array) -> Array:
        m, v, a = theta[:, 0], theta[:, 1], gradient[:, 0]
        h = gradient[:, 1] + 2.0 * (at[:, 0] - m) * a
        return self._project(m + step * a, v * np.exp((step * h / v).clip(-LARGEST, LARGEST)))

    def _project(self, m: Array, v: Array) -> Array:
        m = m.clip(self.low, self.high)
        return np.stack([m, v.clip(*self.variances(m))], axis=1)

    def variances(self, m: Array) -> tuple[Array, Array]:
        """Return the minimum and the maximum of v at means ``m``."""
        cells = self._fields["cells"]
        span = self._fields["span"]
        if span.any():
            on = span > 0.0
            k = np.exp(self._fields["origin"] + m * span).round().clip(1.0)
            cells = np.where(on, np.log1p(1.0 / (k - 0.5)) / np.where(on, span, 1.0), cells)
        least = np.maximum(self.least, self.share * cells)
        return least**2, np.maximum(self.most, least) ** 2

    def inside(self, theta: Array) -> bool:
        m, v = theta[:, 0], theta[:, 1]
        lowest, highest = self.variances(m)
        return bool(((m >= self.low) & (m <= self.high) & (v >= lowest) & (v <= highest)).all())

    def mode(self, theta: Array) -> Points:
        """Return the means."""
        return theta[:, 0].copy()

    def within(self, total: int) -> Gaussian:
        copy = Gaussian(**self._fields)
        copy._set(total)
        return copy
