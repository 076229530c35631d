"""Parzen estimators of mixed points: a mixture of one product kernel around each observation, and the prior.

Notation

============  ================================================================================  ==============
symbol        meaning                                                                           shape
============  ================================================================================  ==============
``x``         a point: numbers in [0, 1] and one-hot blocks of options (``space/axes.py``)      (p,), (V,)
``μ, h``      centres and bandwidths of the kernels; the last kernel is the prior               (k, p)
``w``         weights of the kernels, which sum to 1                                            (k,)
``G, P``      the normal density, and its mass on [0, 1]
``λ``         the share of an option's kernel that follows the prior                            (q,)
============  ================================================================================  ==============

    p(x) = Σᵢ wᵢ Πⱼ kᵢⱼ(xⱼ)                                                   over the active parameters j of x
    number    k(x) = G((x − μ)/h) / (h P)                                     a normal, truncated to [0, 1]
    option    k(a) = (1 − λ) [a = b] + λ prior(a)                             around the option b
    grid      k(a) = P of the cell of a, under a normal around the place of b

Where a parameter of an observation is inactive, its kernel is the prior. So the mixture is what one gets by choosing a kernel,
drawing every parameter from it, and dropping those whose condition does not hold: the density of what is left needs no
other treatment of conditions.

The exponent of a normal is linear in (x², x, 1), and the logarithm of an option's kernel in its one-hot block. The logarithms
of all kernels at all points are therefore a single matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from xstar.models.kernels import Array
from xstar.space.axes import Axes, Points

LOG_ROOT_2PI = 0.5 * float(np.log(2.0 * np.pi))
NARROWEST = 0.01
"""The least bandwidth, reached at 100 observations and more. Narrower kernels would be so far apart that between them only the
prior counts (the "magic clip" of Hyperopt's TPE)."""
LEAST_PROBABILITY = 1e-12
"""Of a cell of a grid under a kernel: its logarithm stays finite."""


@dataclass(frozen=True, eq=False)
class Parzen:
    """A mixture of product kernels."""

    axes: Axes
    mean: Array
    width: Array
    options: Array
    """Logarithms of the kernels of options: (k, V)."""
    log_weights: Array
    _table: Array
    """Coefficients of (x², x, 1) and of the options: (k, 3p + V)."""

    @classmethod
    def of(cls, axes: Axes, points: Points, weights: Array) -> Parzen:
        """Return the estimator of ``points`` with these weights (n,); the prior weighs 1."""
        mean = np.where(points.on, points.numbers, axes.mean)
        width = np.where(points.on, bandwidths(points.numbers, points.on), axes.std)
        mean = np.vstack([mean, axes.mean])  # (k, p), k = n + 1
        width = np.vstack([width, axes.std])
        options = np.vstack([_log_options(axes, points.hot), np.log(axes.probabilities)])
        w = np.append(weights, 1.0)
        mass = ndtr((1.0 - mean) / width) - ndtr(-mean / width)
        precise = 1.0 / width**2
        constant = -0.5 * mean**2 * precise - np.log(width * mass) - LOG_ROOT_2PI
        table = np.hstack([-0.5 * precise, mean * precise, constant, options])
        return cls(axes, mean, width, options, np.log(w / w.sum()), table)

    def log_density(self, points: Points) -> Array:
        """Return log p at each point: (n,)."""
        on, x = points.on.astype(np.float64), np.where(points.on, points.numbers, 0.0)
        kernels = np.hstack([x * x, x, on, points.hot]) @ self._table.T + self.log_weights  # (n, k)
        top = kernels.max(axis=1)
        made: Array = top + np.log(np.exp(kernels - top[:, None]).sum(axis=1))
        return made

    def draw(self, count: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], Array, Array]:
        """Return the kernels that points come from, their numbers (count, p) and complete one-hot blocks (count, V)."""
        borders = np.exp(self.log_weights).cumsum()
        which = np.minimum(np.searchsorted(borders, rng.random(count) * borders[-1], side="right"), len(borders) - 1)
        mean, width = self.mean[which], self.width[which]
        low, high = ndtr(-mean / width), ndtr((1.0 - mean) / width)
        numbers = mean + width * ndtri(low + rng.random(mean.shape) * (high - low))
        # The largest of log p plus independent Gumbel numbers is distributed as p; a block at a time by ``reduceat``.
        noisy = self.options[which] - np.log(rng.standard_exponential((count, self.options.shape[1])))
        if not noisy.size:
            return which, np.clip(numbers, 0.0, 1.0), noisy
        top = np.maximum.reduceat(noisy, self.axes.starts, axis=1)
        hot = (noisy == np.repeat(top, self.axes.sizes, axis=1)).astype(np.float64)
        return which, np.clip(numbers, 0.0, 1.0), hot


def bandwidths(x: Array, on: NDArray[np.bool_]) -> Array:
    """Return, for each observation and number, the larger of the gaps to its neighbours on either side: (n, p).

    The gaps are those of one parameter at a time; at least 1/(1 + n) or ``NARROWEST``, at most 1.
    """
    n = len(x)
    order = np.where(on, x, np.inf).argsort(axis=0, kind="stable")
    placed = np.take_along_axis(np.where(on, x, np.nan), order, axis=0)
    gaps = np.nan_to_num(np.diff(placed, axis=0), nan=0.0)
    none = np.zeros((1, x.shape[1]))
    widest = np.maximum(np.vstack([none, gaps]), np.vstack([gaps, none]))
    made = np.empty_like(x)
    np.put_along_axis(made, order, widest, axis=0)
    return np.clip(made, max(NARROWEST, 1.0 / (2.0 + n)), 1.0)


def _log_options(axes: Axes, hot: Array) -> Array:
    """Return the logarithms of the kernels of options around each observation: (n, V)."""
    n, prior = len(hot), axes.probabilities
    if not len(prior):
        return hot
    # One observation's worth of prior, shared by all of them: λ = s / (n + 1 + s) for s options.
    share = np.repeat(axes.sizes / (n + 1.0 + axes.sizes), axes.sizes)  # (V,)
    made = np.where(hot > 0.0, np.log(1.0 - share + share * prior), np.log(share * prior))
    spread = max(0.5 * NARROWEST, 1.0 / (2.0 + n))
    for grid in axes.grids:
        own = slice(grid.first, grid.first + len(grid.places))
        made[:, own] = hot[:, own] @ _on_grid(grid.places, grid.borders, max(spread, 0.25 / len(grid.places)))
    off = np.repeat(np.add.reduceat(hot, axes.starts, axis=1) == 0.0, axes.sizes, axis=1)
    return np.where(off, np.log(prior), made)


def _on_grid(places: Array, borders: Array, h: float) -> Array:
    """Return the log mass of each cell under a normal of width ``h`` around each place, truncated to [0, 1]: (s, s)."""
    mass = np.diff(ndtr((borders - places[:, None]) / h), axis=1)
    made: Array = np.log(np.maximum(mass / mass.sum(axis=1, keepdims=True), LEAST_PROBABILITY))
    return made
