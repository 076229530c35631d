"""A surrogate's prediction: means, variances and, where available, gradients with respect to the inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from xstar.models.kernels import Array


class Prediction(NamedTuple):
    """Posterior means and variances at N inputs, and a function that maps their derivatives back to the inputs."""

    mean: Array
    """(N, M): one column for each of M fantasies."""
    variance: Array
    """(N,), of the function, without noise."""
    to_left: Callable[[Array, Array], Array] | None = None
    """Maps derivatives with respect to ``mean`` and ``variance`` to the derivative with respect to the inputs. ``None``
    if the surrogate has no gradients (a forest, nearest neighbours); its acquisition function is then maximised by
    local search."""

    def gradient(self, d_mean: Array, d_variance: Array) -> Array:
        """Return the derivative with respect to the inputs; the surrogate must have gradients."""
        assert self.to_left is not None, "asked for a gradient that the surrogate does not have"
        return self.to_left(d_mean, d_variance)


def normal_draws(count: int, samples: int, rng: np.random.Generator) -> Array:
    """Draw standard normal numbers (count, samples), stratified: each row has exactly one in each of ``samples``
    quantiles.

    This is a Latin hypercube: the average over 20 fantasies of one pending trial has the error of a few hundred
    independent draws.
    """
    order = rng.permuted(np.tile(np.arange(samples), (count, 1)), axis=1)
    made: Array = ndtri((order + rng.random((count, samples))) / samples)
    return np.clip(made, -6.0, 6.0)
