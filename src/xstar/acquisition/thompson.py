"""Thompson sampling: a function is drawn from the posterior, and the candidate at which it is lowest is chosen.

The draw is exact, joint over all candidates; so there can only be some hundred of them, and nothing is climbed. Workers that
ask at the same time draw different functions and need no fantasies. Whether a candidate is feasible is drawn, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from xstar.acquisition.criterion import LogProbability
from xstar.acquisition.model import JointModel
from xstar.models.kernels import Array

JOINT_CANDIDATES = 512
"""The Cholesky factor of their covariance takes as long as scoring a thousand by expected improvement."""


def thompson_scores(
    models: Sequence[JointModel],
    rows: Array,
    lift: Callable[[Array], Array],
    constraints: Sequence[LogProbability],
    rng: np.random.Generator,
) -> Array:
    """Minus one joint draw at ``rows``, under one of the models; below all of them, the most probable ones first, where a
    draw of each row's feasibility says no."""
    model = models[int(rng.integers(len(models)))]
    values: Array = -model.sample(lift(rows), rng.standard_normal((len(rows), 1)))[:, 0]
    if not constraints:
        return values
    log_p = sum((constraint(rows)[0] for constraint in constraints), np.zeros(len(rows)))
    return np.where(np.log1p(-rng.random(len(rows))) < log_p, values, values.min() - 1.0 + log_p)
