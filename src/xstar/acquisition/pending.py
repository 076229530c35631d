"""What still runs: fantasies of its outcome, or only the knowledge that it will be known.

``fantasies``       M joint draws of all pending targets from the posterior, sharing one Cholesky factor (MOBSTER, A.1); the
                    acquisition is averaged over them.
``hallucination``   the variance knows of the pending points, the mean does not (NASBOT, Section 4; Desautels et al. 2014).
``ignored``         for comparison only: workers that ask at the same time are given the same point.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from xstar.models.gp import Posterior
from xstar.models.kernels import Array


def with_pending(
    posterior: Posterior, X: Array, y: Array, pending: Array, how: str, fantasies: int, rng: np.random.Generator
) -> Posterior:
    """The posterior after the new observations ``y`` at ``X``, with ``pending`` inputs taken into account."""
    if how == "ignored" or len(pending) == 0:
        return posterior.extended(X, y)
    draws = normal_draws(len(pending), fantasies, rng) if how == "fantasies" else None
    return posterior.extended(np.vstack([X, pending]), y, draws)


def normal_draws(count: int, samples: int, rng: np.random.Generator) -> Array:
    """Standard normal numbers (count, samples), stratified: each row has exactly one in each of ``samples`` equal shares.

    A Latin hypercube: the average over 20 fantasies of one pending trial then has the error of some hundred plain ones.
    """
    order = rng.permuted(np.tile(np.arange(samples), (count, 1)), axis=1)
    made: Array = ndtri((order + rng.random((count, samples))) / samples)
    return np.clip(made, -6.0, 6.0)
