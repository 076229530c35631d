"""Discrete variables: bits, and choices of K unordered values.

Bits are independent Bernoulli variables, the family of cGA and PBIL.

=========  =====================================================================  ======
symbol     meaning                                                                shape
=========  =====================================================================  ======
``T(x)``   x: the bits, 0 or 1                                                    (D,)
``θ``      P(x_d = 1); n = D                                                      (D,)
``G``      diagonal, 1 / (θ_d (1 − θ_d))                                          –
``Π``      θ clipped to [1/n, 1 − 1/n] (footnote 1 of the paper)                  –
=========  =====================================================================  ======

Categorical variables the paper leaves as future work: metric and margins are ours.

=========  =======================================================================================  ==========
symbol     meaning                                                                                  shape
=========  =======================================================================================  ==========
``T(x)``   one-hot: T_dk = 1 where variable d has value k                                            (D, K)
``θ``      P(x_d = k), rows sum to 1; n = D (K − 1)                                                  (D, K)
``q``      the margin, the minimum of θ_dk                                                           float
``r, e``   √θ_d and (1, …, 1)/√K: two points of the unit sphere in R^K                               (K,)
``v``      ∇̃_dk / √θ_dk: the gradient as a tangent of the sphere at r, v ⊥ r                         (D, K)
=========  =======================================================================================  ==========

``docs/igo.md`` derives what follows. v has the length of the Fisher metric, Σ_k ∇̃_k² / θ_k, but its tangent plane rotates as θ
moves, and the path s of line 12 accumulates vectors of different θ. Each v is therefore transported along the great circle
from r to the centre e, whose tangent plane is common to all; for K = 2 this is Bernoulli:

    v  ↦  v − (v·e) (r + e) / (1 + r·e)

Probabilities below q are raised to q, and the others are reduced in proportion to their excess over q, in rows that need it:

    θ  ↦  q + (1 − Kq) (θ − q)₊ / Σ (θ − q)₊
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xstar.core.checks import whole_number
from xstar.errors import InvalidArgument
from xstar.igo.family import Active, Array, Points, least_probability, weighted_sum


class Bernoulli:
    """``bits`` independent bits. ``start`` is the initial P(x = 1): one number, or one per bit."""

    def __init__(self, bits: int, *, start: Any = 0.5) -> None:
        self.variables = self.parameters = whole_number("bits", bits, least=1)
        self.shape: tuple[int, ...] = (self.variables,)
        self.freedom = np.ones(self.variables)
        given = np.asarray(start, dtype=np.float64)
        if given.shape not in ((), (self.variables,)) or not ((given > 0.0) & (given < 1.0)).all():
            raise InvalidArgument("start", f"must be one probability in (0, 1), or {self.variables} of them", start)
        self._start = np.full(self.variables, given) if given.ndim == 0 else given.copy()
        self._set(self.variables)

    def _set(self, total: int) -> None:
        self.lowest = least_probability(total, 2)
        self.highest = 1.0 - self.lowest

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
        copy = Bernoulli(self.variables, start=self._start)
        copy._set(total)
        return copy


class Categorical:
    """``variables`` independent variables, each with the values 0 … ``values`` − 1.

    ``start`` holds the initial probabilities: (values,) for all variables, or (variables, values).
    """

    def __init__(self, variables: int, values: int, *, start: Any = None) -> None:
        self.variables = whole_number("variables", variables, least=1)
        self.values = whole_number("values", values, least=2)
        self.parameters = self.variables * (self.values - 1)
        self.shape: tuple[int, ...] = (self.variables, self.values)
        self.freedom = np.full(self.variables, self.values - 1.0)
        given = np.full(self.shape, 1.0 / self.values) if start is None else np.asarray(start, dtype=np.float64)
        if given.shape not in (self.shape, self.shape[1:]) or not (given > 0.0).all() or not np.isfinite(given).all():
            rule = f"must be {self.values} positive weights, or {self.variables} rows of them"
            raise InvalidArgument("start", rule, start)
        full = np.broadcast_to(given, self.shape)
        self._start = full / full.sum(axis=1, keepdims=True)
        self._set(self.variables)

    def _set(self, total: int) -> None:
        self.lowest = least_probability(total, self.values)

    def start(self) -> Array:
        return self._project(self._start.copy())

    def draw(self, theta: Array, count: int, rng: np.random.Generator) -> Points:
        """Draw points of indices: the k with a uniform number in [θ_0 + … + θ_(k−1), θ_0 + … + θ_k)."""
        borders = theta[:, :-1].cumsum(axis=1)  # the last boundary is 1
        drawn: Points = (rng.random((count, self.variables))[:, :, None] >= borders).sum(axis=2)
        return drawn

    def check(self, points: Points) -> None:
        if not ((points >= 0) & (points < self.values) & (points == np.floor(points))).all():
            raise InvalidArgument("points", f"must hold whole numbers in 0 … {self.values - 1}", points[:3].tolist())

    def gradient(self, theta: Array, points: Points, w: Array, active: Active | None) -> Array:
        hot = points[:, :, None] == np.arange(self.values)  # T(x), (λ, D, K)
        if active is None:
            return weighted_sum(w, hot) / len(w)
        hot &= active[:, :, None]
        return (weighted_sum(w, hot) - weighted_sum(w, active)[:, None] * theta) / len(w)

    def whiten(self, theta: Array, gradient: Array) -> Array:
        if self.values == 2:  # equal to the result below, written so that it matches Bernoulli bit for bit
            both: Array = gradient[:, 1] / np.sqrt(theta[:, 1] * (1.0 - theta[:, 1]))
            return both
        return self._carried(theta, gradient).ravel()

    def _carried(self, theta: Array, gradient: Array) -> Array:
        """Return v transported to the centre: (D, K), rows of length √(∇̃ᵀ G ∇̃) that sum to 0."""
        r, e = np.sqrt(theta), self.values**-0.5
        v = gradient / r
        along = e * v.sum(axis=1, keepdims=True) / (1.0 + e * r.sum(axis=1, keepdims=True))  # (v·e) / (1 + r·e)
        carried: Array = v - along * (r + e)
        return carried

    def move(self, theta: Array, gradient: Array, step: float, at: Array) -> Array:
        moved = theta + step * gradient
        moved[:, 0] = 1.0 - moved[:, 1:].sum(axis=1)  # the rows of ∇̃ sum to 0 up to rounding
        return self._project(moved)

    def _project(self, theta: Array) -> Array:
        rows = np.flatnonzero((theta < self.lowest).any(axis=1))
        if rows.size:
            q = self.lowest
            above = (theta[rows] - q).clip(0.0)
            raised = q + (1.0 - self.values * q) * above / above.sum(axis=1, keepdims=True)
            # The largest value absorbs the rounding; it is far enough above q to stay there.
            largest = raised.argmax(axis=1)
            every = np.arange(rows.size)
            raised[every, largest] = 0.0
            raised[every, largest] = 1.0 - raised.sum(axis=1)
            theta[rows] = raised
        return theta

    def inside(self, theta: Array) -> bool:
        sums = theta.sum(axis=1)
        return bool((theta >= self.lowest).all() and (np.abs(sums - 1.0) <= 1e-12).all())

    def mode(self, theta: Array) -> Points:
        """Return the most probable value of each variable; in a tie the last one, as ½ gives 1 for bits."""
        likeliest: Points = self.values - 1 - theta[:, ::-1].argmax(axis=1)
        return likeliest

    def within(self, total: int) -> Categorical:
        copy = Categorical(self.variables, self.values, start=self._start)
        copy._set(total)
        return copy
