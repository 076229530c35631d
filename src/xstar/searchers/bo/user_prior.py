"""User priors as a term of the acquisition function: πBO (Hvarfner et al. 2022).

Notation

==========  ===================================================================================  ==========
symbol      meaning                                                                              shape
==========  ===================================================================================  ==========
``π(x)``    the prior of the space: the product of the densities of the active parameters        (N,)
``β``       how much it counts                                                                   float
``n``       the number of observations                                                           int
``τ``       how much the prior is trusted, from 0 to 1                                           float
``ε``       the share of a uniform density in the prior of each parameter                        float
==========  ===================================================================================  ==========

The acquisition function is multiplied by π(x)^(β τ/n) (equation 6 has τ = 1), so that what was observed prevails in the end. A
normal prior falls without bound, and one that is wrong would keep the search from the optimum for as long: the mixture with a
uniform density bounds what it can cost.

A prior that is wrong is found out by what it favours. An observation is favoured where π is above the uniform density u, and

    τ = max(0, 2 P(a favoured one has the lower loss than another) − 1)       over all pairs of a favoured one and another

is 1 where all of them are better and 0 where they are no better (Mann and Whitney's statistic on another scale: it compares
losses, so any increasing transformation leaves it as it is). The initial design has both kinds (``suggest.py``). With a
prior in the opposite corner, τ was 0 from the first model on in 12 of 12 searches (Hartmann6, Rosenbrock4, Levy6).

Over budgets the losses of one budget are compared. A scheduler promotes what is better, so that at the larger ones there may
be none that a wrong prior favours, or, early, nothing else: there the prior would be trusted for want of a comparison. So it is
the highest budget that has enough of the rarer kind.
"""

from __future__ import annotations

import numpy as np

from xstar.core.compiled import ndtr
from xstar.journal import History
from xstar.models.kernels import Array
from xstar.searchers.acquisition.criterion import LogProbability, ToRows
from xstar.searchers.bo.observations import Observations
from xstar.space import Space
from xstar.space.axes import Axes, axes_of
from xstar.space.priors import LARGEST_STD

LOG_ROOT_2PI = 0.5 * float(np.log(2.0 * np.pi))
UNIFORM = 0.01
"""ε."""
COMPARED = 2
"""A single one of a kind would say 0 or 1, by its luck."""


def prior_term(space: Space, weight: float) -> LogProbability:
    """Return ``weight`` · log π, which is 0 where π is largest, and its gradient."""
    axes = axes_of(space)
    log_hot, top = _options(axes), _highest(axes)

    def log_probability(rows: Array) -> tuple[Array, ToRows | None]:
        own = rows[:, : axes.cube.width]
        points = axes.split(own, axes.cube.active(own))
        z = (points.numbers - axes.mean) / axes.std
        normal = (1.0 - UNIFORM) * np.exp(-0.5 * z * z)
        there = np.where((axes.std < LARGEST_STD) & points.on, np.log(normal + UNIFORM), 0.0)
        value = weight * (there.sum(axis=1) + points.hot @ log_hot - top)

        def back(w: Array) -> Array:
            slope = np.where(points.on, -z / axes.std * normal / (normal + UNIFORM), 0.0)
            made = np.zeros_like(rows)
            made[:, axes.columns] = (weight * w)[:, None] * np.where(axes.std < LARGEST_STD, slope, 0.0)
            return made

        return value, back

    return log_probability


def log_ratio(space: Space, rows: Array) -> Array:
    """Return log π/u at each row, u the uniform density: positive where the prior favours a configuration."""
    axes = axes_of(space)
    own = rows[:, : axes.cube.width]
    points = axes.split(own, axes.cube.active(own))
    mass = ndtr((1.0 - axes.mean) / axes.std) - ndtr(-axes.mean / axes.std)
    z = (points.numbers - axes.mean) / axes.std
    there = -0.5 * z * z - np.log(axes.std * mass) - LOG_ROOT_2PI
    sizes = np.repeat(axes.sizes, axes.sizes)
    made: Array = np.where((axes.std < LARGEST_STD) & points.on, there, 0.0).sum(axis=1)
    return made + points.hot @ np.log(axes.probabilities * sizes)


def trust(favour: Array, loss: Array) -> float:
    """Return τ from log π/u and the losses of the same observations; 1 while there is nothing to compare."""
    favoured, others = loss[favour > 0.0], np.sort(loss[favour <= 0.0])
    if not len(favoured) or not len(others):
        return 1.0
    below = np.searchsorted(others, favoured, side="left") + np.searchsorted(others, favoured, side="right")
    lost = float(below.sum()) / (2.0 * len(favoured) * len(others))  # pairs that the other one wins; ties are halved
    return max(0.0, 1.0 - 2.0 * lost)


def trusted(history: History, data: Observations) -> float:
    """Return τ of all observations; over budgets, of those at the highest budget that has enough of both kinds."""
    favour = log_ratio(history.space, data.X)
    if len(history.levels) <= 1:
        return trust(favour, data.sort_keys)
    favoured = favour > 0.0
    rarer = favoured if 2 * np.count_nonzero(favoured) <= len(favoured) else ~favoured
    least = max(COMPARED, (len(data.cube.labels) + 1) // 2)
    at = data.budget == data.highest_budget(least, rarer)
    return trust(favour[at], data.sort_keys[at])


def _options(axes: Axes) -> Array:
    """Return the log prior of each option, in units of the uniform one: (V,)."""
    sizes = np.repeat(axes.sizes, axes.sizes)
    made: Array = np.log((1.0 - UNIFORM) * axes.probabilities * sizes + UNIFORM)
    return made


def _highest(axes: Axes) -> float:
    """Return the largest value of the sum, conditions left out: a constant, so that most values are near 0."""
    return float(np.maximum.reduceat(_options(axes), axes.starts).sum()) if len(axes.starts) else 0.0
