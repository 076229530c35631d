"""Slice sampling: draws from a density that is known up to a factor, with nothing to tune (Neal 2003, Section 4).

One coordinate after the other: a level is drawn below the density at the present point, an interval around the point is stepped
out until both ends lie below the level, and points are drawn from it, each rejected one becoming its new end, until one lies
above. ``width`` is only a first guess of the interval; a wrong one costs evaluations, not correctness.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xstar.models.kernels import Array

STEPS_OUT = 10
"""Widths an interval may grow by, in all: enough for a guess that is ten times too small."""


def slice_sample(
    log_density: Callable[[Array], float],
    start: Array,
    width: Array,
    rng: np.random.Generator,
    *,
    samples: int,
    burn_in: int = 0,
    thin: int = 1,
) -> Array:
    """``samples`` draws, shape (samples, d), one every ``thin`` sweeps over the coordinates after ``burn_in`` sweeps.

    ``log_density`` may be -inf; not at ``start``.
    """
    point = np.array(start, dtype=np.float64)
    here = log_density(point)
    if not np.isfinite(here):
        raise ValueError(f"the density at the start must be positive, but its logarithm is {here}")
    kept = np.empty((samples, len(point)))
    for sweep in range(burn_in + samples * thin):
        for place in rng.permutation(len(point)):
            here = _one_coordinate(log_density, point, here, int(place), float(width[place]), rng)
        number, rest = divmod(sweep - burn_in + 1, thin)
        if sweep >= burn_in and rest == 0:
            kept[number - 1] = point
    return kept


def _one_coordinate(
    log_density: Callable[[Array], float], point: Array, here: float, place: int, width: float, rng: np.random.Generator
) -> float:
    """Move one coordinate of ``point`` in place; returns the log density there."""
    level = here + np.log(1.0 - rng.random())  # log of a uniform number in (0, 1]
    old = point[place]

    def at(value: float) -> float:
        point[place] = value
        return log_density(point)

    low = old - width * rng.random()
    high = low + width
    left = int(
        rng.integers(STEPS_OUT + 1)
    )  # how many of the steps may go down (Neal, Figure 3): keeps the chain reversible
    right = STEPS_OUT - left
    while left > 0 and at(low) > level:
        low -= width
        left -= 1
    while right > 0 and at(high) > level:
        high += width
        right -= 1
    while True:
        value = low + rng.random() * (high - low)
        found = at(value)
        if found > level:
            return found
        if value < old:
            low = value
        else:
            high = value
        if high - low < 1e-12 * (1.0 + abs(old)):  # rounding has closed the interval: stay
            return at(old)
