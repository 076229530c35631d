"""What a model is fitted to: losses as targets, standardised and less skewed (Yeo–Johnson); and which, if there are too many.

Notation: ``y`` losses (n,); ``z`` losses in units of their own spread, 0 at the median; ``t`` targets, mean 0 and
variance 1.

Losses in hyperparameter searches have a long upper tail. A diverged training run can be a thousand times worse than a
good one, and a stationary model can then not tell the good ones apart. The transform of Yeo and Johnson (2000),

    z >= 0: ((z + 1)^λ - 1)/λ        z < 0: -((1 - z)^(2-λ) - 1)/(2 - λ)

compresses the upper tail and stretches the lower end if λ < 1; λ = 1 is the identity. λ maximises the likelihood of t
under a normal distribution, times a prior centred on 1.

Where trials that fail return a penalty, 10⁹ say, and most of them fail, the spread of the losses is that penalty, and no
transform tells the others apart. A largest loss that several trials share is therefore taken for less, if it is far above the
others: for as far above them as they lie apart. Whether that distance is added, half of it or none, made no difference (eight
problems, four seeds).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xstar.models.kernels import Array

POWERS = np.linspace(-2.0, 1.0, 31)
"""Never above 1: that would compress the lower end, which is where the search concentrates."""
POWER_SPREAD = 1.0
LARGEST = 1e30
"""Losses are clipped to this many units of spread: at the fourth power (λ = -2) the variance is still finite."""

FEWEST_EQUAL = 3
"""The number of equal losses that may be a penalty: of a symmetric function two corners are equal. That a quarter of all must
be, from which on the spread is that of the penalties, was worse: on 14 problems, four seeds, losses after 100 trials were lower
in 7 searches and higher in 25 (off record)."""

LARGEST_LOSS = 1e300
"""Losses are clipped to this size: the sum of two of them is still finite."""


@dataclass(frozen=True, slots=True)
class Targets:
    """A monotonically increasing map from losses to targets; it preserves their order."""

    centre: float
    unit: float
    power: float
    mean: float
    std: float
    ceiling: float = np.inf
    """Losses above it count as equal to it."""

    @classmethod
    def of(cls, y: Array, *, transform: bool, lower_penalty: bool = False) -> Targets:
        """Fit the map to these losses. ``lower_penalty``: a penalty among them counts as less (``below_penalty``)."""
        y = np.clip(y, -LARGEST_LOSS, LARGEST_LOSS)
        ceiling = below_penalty(y) if lower_penalty else np.inf
        y = np.minimum(y, ceiling)
        centre, unit = _centre_and_unit(y)
        z = _in_units(y, centre, unit)
        power = _likeliest_power(z) if transform and len(y) > 2 else 1.0
        t = yeo_johnson(z, power)
        std = float(t.std())
        return cls(centre, unit, power, float(t.mean()), std if std > 1e-9 else 1.0, ceiling)

    def __call__(self, y: Array) -> Array:
        z = _in_units(np.minimum(y, self.ceiling), self.centre, self.unit)
        made: Array = (yeo_johnson(z, self.power) - self.mean) / self.std
        return np.clip(made, -1e6, 1e6)

    def inverse(self, t: Array) -> Array:
        """Return the losses of targets; beyond what losses of any size have, infinity."""
        made: Array = self.centre + self.unit * inverse_yeo_johnson(self.mean + self.std * t, self.power)
        return made


def below_penalty(y: Array) -> float:
    """Return what the largest of the losses counts as if several are equal to it and it is far above the others: as far above
    them as they lie apart. Otherwise ∞.

    >>> below_penalty(np.array([1e9, 3.0, 1e9, 1.0, 1e9, 2.0]))
    5.0
    """
    others = y[y < y.max()]
    if len(others) < 2 or len(y) - len(others) < FEWEST_EQUAL:
        return np.inf
    ceiling = 2.0 * float(others.max()) - float(others.min())
    return ceiling if others.max() < ceiling < y.max() else np.inf


def _in_units(y: Array, centre: float, unit: float) -> Array:
    with np.errstate(over="ignore"):
        return np.clip((y - centre) / unit, -LARGEST, LARGEST)


def _centre_and_unit(y: Array) -> tuple[float, float]:
    in_order = np.sort(y).tolist()
    centre = _quantile(in_order, 0.5)
    spread = _quantile(in_order, 0.75) - _quantile(in_order, 0.25)
    units = (spread / 1.35, in_order[-1] - in_order[0])  # 1.35: that of a standard normal
    for unit in units:
        if np.isfinite(unit) and unit > 1e-12 * abs(centre):
            return centre, unit
    return centre, abs(centre) or 1.0


def _quantile(in_order: list[float], q: float) -> float:
    """Return what ``np.quantile`` and ``np.median`` return, to the same bits, of finite numbers in order. They take 40 µs."""
    place = (len(in_order) - 1) * q
    below = int(place)
    a, b, share = in_order[below], in_order[min(below + 1, len(in_order) - 1)], place - below
    if q == 0.5:
        return (a + b) / 2.0 if share else a
    return b - (b - a) * (1.0 - share) if share >= 0.5 else a + (b - a) * share


def yeo_johnson(z: Array, power: float) -> Array:
    """Apply the transform, with its limits at λ = 0 and λ = 2."""
    t = np.empty_like(z)
    up = z >= 0
    for part, sign, exponent in ((up, 1.0, power), (~up, -1.0, 2.0 - power)):
        logarithm = np.log1p(sign * z[part])
        t[part] = sign * (np.expm1(exponent * logarithm) / exponent if abs(exponent) > 1e-12 else logarithm)
    return t


def inverse_yeo_johnson(t: Array, power: float) -> Array:
    """Return what the transform maps to ``t``; ∞ beyond its limit, which is -1/λ for λ < 0."""
    z = np.empty_like(t)
    up = t >= 0
    for part, sign, exponent in ((up, 1.0, power), (~up, -1.0, 2.0 - power)):
        inner = np.maximum(sign * exponent * t[part], -1.0)
        with np.errstate(divide="ignore"):
            logarithm = np.log1p(inner) / exponent if abs(exponent) > 1e-12 else sign * t[part]
        z[part] = sign * np.expm1(logarithm)
    return z


def _all_powers(z: Array) -> Array:
    """Return ``yeo_johnson(z, power)`` for each of ``POWERS``, to the same bits: (powers, n). It takes a tenth of the time."""
    up, logarithm = z >= 0, np.log1p(np.abs(z))
    exponent = np.where(up, POWERS[:, None], 2.0 - POWERS[:, None])
    flat = np.abs(exponent) <= 1e-12
    t = np.where(flat, logarithm, np.expm1(exponent * logarithm) / np.where(flat, 1.0, exponent))
    return np.where(up, t, -t)


def _likeliest_power(z: Array) -> float:
    n = len(z)
    slope = float((np.sign(z) * np.log1p(np.abs(z))).sum())  # d log |dt/dz| / dλ, up to a constant
    with np.errstate(over="ignore"):
        variance = _all_powers(z).var(axis=1)
    usable = (variance > 0.0) & (variance < np.inf)
    if not usable.any():
        return 1.0
    above = POWERS - 1.0
    value = -0.5 * n * np.log(np.where(usable, variance, 1.0)) + above * slope - 0.5 * (above / POWER_SPREAD) ** 2
    return float(POWERS[np.where(usable, value, -np.inf).argmax()])


# ---------------------------------------------------------------- a subset of the observations

ALIKE = 0.1
"""The spread of the losses of a rung, as a share of that of a higher rung, below which it tells nothing. Without
this, ``mobster`` is behind ASHA where curves begin at chance (``benchmarks/budgets.py``, kinds ``flat`` to ``chancy``)."""


def uninformative(t: Array, budget: Array) -> Array:
    """Return the budgets at which targets are alike beside those of a higher one, though it is better trials that get there: a
    learning rate still warms up, or all are at chance.

    >>> uninformative(np.array([0.9, 0.9, 0.9, 0.9, 0.3, 0.5, 0.8]), np.array([1.0, 1.0, 1.0, 1.0, 9.0, 9.0, 9.0]))
    array([1.])
    """
    levels = np.unique(budget)
    own = [t[budget == level] for level in levels]
    spread = np.array([np.quantile(each, 0.75) - np.quantile(each, 0.25) for each in own])
    above = np.maximum.accumulate(np.append(spread[1:], 0.0)[::-1])[::-1]
    return levels[spread < ALIKE * above]


def choose(X: Array, loss: Array, budget: Array, limit: int) -> NDArray[np.intp]:
    """Return the indices of at most ``limit`` observations to fit a model to, in ascending order.

    A GP costs O(n³). Above the limit it is fitted to the observations at the highest budgets (these are the target of the
    search), the best quarter (the search concentrates there), and well-spread points from the rest (so that no region appears
    unexplored).
    """
    n = len(loss)
    if n <= limit:
        return np.arange(n)
    taken = np.zeros(n, dtype=bool)
    order = np.argsort(loss, kind="stable")
    if len(levels := np.unique(budget)) > 1:
        room = limit // 2
        for level in levels[:0:-1]:  # from the highest to the second lowest
            own = order[budget[order] == level]
            if len(own) > room:
                taken[own[:room]] = True  # the best observations of the first level that does not fit as a whole
                break
            taken[own] = True
            room -= len(own)
    quarter = order[~taken[order]][: limit // 4]
    taken[quarter] = True
    _add_spread_out(X, taken, limit)
    return np.flatnonzero(taken)


def _add_spread_out(X: Array, taken: NDArray[np.bool_], limit: int) -> None:
    """Fill up to ``limit`` greedily with the point farthest from those already taken."""
    distance = np.full(len(X), np.inf)
    for place in np.flatnonzero(taken):
        np.minimum(distance, ((X - X[place]) ** 2).sum(axis=1), out=distance)
    for _ in range(limit - int(taken.sum())):
        distance[taken] = -1.0
        farthest = int(distance.argmax())
        taken[farthest] = True
        np.minimum(distance, ((X - X[farthest]) ** 2).sum(axis=1), out=distance)
