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

A training run that diverged by chance gives such a value next to good ones, and a GP can only take all of it for noise: it
then no longer tells good losses apart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotri

from xstar.models.gp import Posterior
from xstar.models.kernels import Array

FAR = 3.0
"""The z from which on an observation is an outlier."""
NOISY = 0.1
"""The standard deviation of the noise, in that of the losses, from which on there may be any: a model that explains all of the
losses explains the far ones, too."""
FEWEST = 12
"""Observations from which outliers are told."""
MOST = 0.25
"""The largest share that may be outliers: what is more frequent is no exception."""


def surprises(posterior: Posterior) -> Array:
    """Return z."""
    inverse, _ = dpotri(posterior.L, lower=1)
    made: Array = posterior.weights[:, 0] / np.sqrt(np.diagonal(inverse))
    return made


def outliers(posterior: Posterior, y: Array) -> NDArray[np.bool_]:
    """Return which of the targets ``y`` are outliers: far above their prediction, and above the median."""
    none = np.zeros(len(y), dtype=bool)
    if len(y) < FEWEST or posterior.noise < NOISY**2:
        return none
    found: NDArray[np.bool_] = (surprises(posterior) > FAR) & (y > np.median(y))
    return found if found.mean() <= MOST else none
