"""Slice sampling from a density known up to a factor, without tuning (Neal 2003, Section 4).

Each sweep updates one coordinate after another. It draws a level below the density at the current point and steps out
an interval around the point until both ends lie below the level. It then draws points from the interval, shrinking it
to each rejected point, until one lies above the level. ``width`` is only an initial guess of the interval; a wrong
guess costs evaluations, not correctness.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xstar.models.kernels import Array

STEPS_OUT = 10
"""Maximum number of widths that an interval may grow by in total: enough for a guess that is ten times too small."""


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
    """Draw ``samples`` points, shape (samples, d): one every ``thin`` sweeps, after ``burn_in`` sweeps.

    ``log_density`` may be -inf, except at ``start``. A coordinate whose width is 0 stays where it is.
    """
    point = np.array(start, dtype=np.float64)
    here = log_density(point)
    if not np.isfinite(here):
        raise ValueError(f"the density at the start must be positive, but its logarithm is {here}")
    kept = np.empty((samples, len(point)))
    for sweep in range(burn_in + samples * thin):
        for place in rng.permutation(np.flatnonzero(width)):
            here = _one_coordinate(log_density, point, here, int(place), float(width[place]), rng)
        number, rest = divmod(sweep - burn_in + 1, thin)
        if sweep >= burn_in and rest == 0:
            kept[number - 1] = point
    return kept


def _one_coordinate(
    log_density: Callable[[Array], float], point: Array, here: float, place: int, width: float, rng: np.random.Generator
) -> float:
    """Update one coordinate of ``point`` in place and return the log density there."""
    level = here + np.log(1.0 - rng.random())  # log of a uniform number in (0, 1]
    old = point[place]

    def at(value: float) -> float:
        point[place] = value
        return log_density(point)

    low = old - width * rng.random()
    high = low + width
    left = int(
        rng.integers(STEPS_OUT + 1)
    )  # how many of the steps may go down (Neal, Figure 3): makes the chain reversible
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
        if high - low < 1e-12 * (1.0 + abs(old)):  # the interval has shrunk to rounding error: stay
            return at(old)
