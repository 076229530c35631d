"""Lower confidence bounds: the loss at a point minus a multiple of its standard deviation."""

from __future__ import annotations

import numpy as np

from xstar.acquisition.improvement import Slopes
from xstar.models.kernels import Array


def confidence_weight(dimensions: int, observations: int) -> float:
    """Return √(0.2 d log(2t)), GP-UCB's factor in the form d log t.

    The constant is that of Kandasamy et al. (2015, Section 5).
    """
    return float(np.sqrt(0.2 * max(dimensions, 1) * np.log(2.0 * max(observations, 1))))


def negative_lower_bound(mean: Array, variance: Array, weight: float) -> tuple[Array, Slopes]:
    """Return -(mean - weight·std), averaged over fantasies, to be maximised, and its derivatives as for EI."""
    std = np.sqrt(variance)
    value = weight * std - mean.mean(axis=1)
    return value, lambda: (np.full_like(mean, -1.0 / mean.shape[1]), 0.5 * weight / std)
