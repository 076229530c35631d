"""Thompson sampling: a function is drawn from the posterior, and the candidate at which it is lowest is chosen.

The draw is exact, joint over all candidates; so there can only be some hundred of them, and nothing is climbed. Workers that
ask at the same time draw different functions and need no fantasies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from xstar.models.gp import Posterior
from xstar.models.kernels import Array

CANDIDATES = 512
"""The Cholesky factor of their covariance takes as long as scoring a thousand by expected improvement."""


def thompson_scores(
    posteriors: Sequence[Posterior], rows: Array, lift: Callable[[Array], Array], rng: np.random.Generator
) -> Array:
    """Minus one joint draw at ``rows``, under one of the posteriors."""
    posterior = posteriors[int(rng.integers(len(posteriors)))]
    return -posterior.sample(lift(rows), rng.standard_normal((len(rows), 1)))[:, 0]
