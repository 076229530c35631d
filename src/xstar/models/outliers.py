"""Observations that lie far above what all others predict.

Notation

=========  ==========================================================================================  ===========
symbol     meaning                                                                                     shape
=========  ==========================================================================================  ===========
``L``      the lower Cholesky factor of K + σ²I                                                        (n, n)
``α``      (K + σ²I)⁻¹ (y - m)                                                                         (n,)
``d``      the diagonal of (K + σ²I)⁻¹                                                                 (n,)
``z``      how far a target is above its prediction from all others, in standard deviations            (n,)
=========  ==========================================================================================  ===========

Without observation i the prediction at its place has the mean yᵢ - αᵢ/dᵢ and the variance 1/dᵢ (Rasmussen and Williams 2006,
eq. 5.12), so that zᵢ = αᵢ/√dᵢ.

A training run that diverged by chance gives such a value next to good ones. A GP can only explain it by noise, or by a
function that changes within the distance of the two, and in either case no longer tells good losses apart. Where a function
does change that much, as beyond a rate from which on training diverges, the next observation there is as high, and none of the
two is an outlier: it is one only if the observation most correlated with it is good. That does not tell all cliffs: a search
that has come to the edge of one has good observations all along it. On six functions whose optimum is there, searches of 80
trials crossed it 82 times instead of 63; a classifier of high losses in the place of the neighbour made no difference.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotri

from xstar.models.gp import Posterior
from xstar.models.kernels import Array

FAR = 3.0
"""The z from which on an observation may be an outlier."""
SURE = 8.0
"""How far it is above the prediction of a model that was fitted without it, in standard deviations. On four functions with
spoilt losses (``harness/development.py``) nearly all suspects are above it, on fourteen others without such losses few."""
FEWEST = 12
"""Observations from which outliers are told."""
MOST = 0.25
"""The largest share that may be outliers: what is more frequent is no exception."""


def surprises(posterior: Posterior) -> Array:
    """Return z."""
    inverse, _ = dpotri(posterior.L, lower=1)
    made: Array = posterior.weights[:, 0] / np.sqrt(np.diagonal(inverse))
    return made


def suspects(posterior: Posterior, y: Array) -> NDArray[np.bool_]:
    """Return which of the targets ``y`` may be outliers: above the median, far above their prediction, and alone in that."""
    none = np.zeros(len(y), dtype=bool)
    if len(y) < FEWEST:
        return none
    far: NDArray[np.bool_] = (surprises(posterior) > FAR) & (y > np.median(y))
    if not far.any() or far.mean() > MOST:
        return none
    K = posterior.surrogate.covariance(posterior.theta, posterior.X).K
    np.einsum("ii->i", K)[:] = -np.inf
    beside = K.argmax(axis=1)
    alone: NDArray[np.bool_] = far & (y[beside] < np.median(y))
    return alone


def confirmed(posterior: Posterior, X: Array, y: Array) -> NDArray[np.bool_]:
    """Return which of the suspects ``y`` at ``X`` lie far above the predictions of a model without them."""
    at = posterior.predict(X)
    made: NDArray[np.bool_] = y - at.mean[:, 0] > SURE * np.sqrt(at.variance + posterior.noise)
    return made
