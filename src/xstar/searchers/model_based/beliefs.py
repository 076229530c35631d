"""What the user believes, as a term of the acquisition function: πBO (Hvarfner et al. 2022).

Notation

==========  ===================================================================================  ==========
symbol      meaning                                                                              shape
==========  ===================================================================================  ==========
``π(x)``    the prior of the space: the product of the densities of the active parameters        (N,)
``β``       how much it counts                                                                   float
``n``       the number of observations                                                           int
``ε``       the share of a uniform density in the prior of each parameter                        float
==========  ===================================================================================  ==========

The acquisition function is multiplied by π(x)^(β/n) (equation 6), so that what was observed prevails in the end. A normal
prior falls without bound, and one that is wrong would keep the search from the optimum for as long: the mixture with a
uniform density bounds what it can cost.

Off by default: with β = 10 a good prior (σ = 0.15, around the optimum) saves a fifth to three fifths of the evaluations, not
always half, and a wrong one (in the opposite corner) may cost more than as many again (``docs/gp.md``).
"""

from __future__ import annotations

import numpy as np

from xstar.acquisition.criterion import LogProbability, ToRows
from xstar.models.kernels import Array
from xstar.space import Space
from xstar.space.axes import Axes, axes_of
from xstar.space.priors import LARGEST_STD

UNIFORM = 0.01
"""ε."""


def has_priors(space: Space) -> bool:
    """Return whether any parameter has a prior."""
    return any(getattr(given, "prior", None) is not None for given in space.parameters.values())


def believed(space: Space, weight: float) -> LogProbability:
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


def _options(axes: Axes) -> Array:
    """Return the log prior of each option, in units of the uniform one: (V,)."""
    sizes = np.repeat(axes.sizes, axes.sizes)
    made: Array = np.log((1.0 - UNIFORM) * axes.probabilities * sizes + UNIFORM)
    return made


def _highest(axes: Axes) -> float:
    """Return the largest value of the sum, conditions left out: a constant, so that most values are near 0."""
    return float(np.maximum.reduceat(_options(axes), axes.starts).sum()) if len(axes.starts) else 0.0
