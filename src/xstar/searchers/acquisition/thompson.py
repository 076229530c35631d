"""Thompson sampling: draw a function from the posterior and choose the candidate at which it is lowest.

The draw is exact and joint over all candidates, so only a few hundred candidates are possible, and none is optimised
further. Workers that ask at the same time draw different functions and need no fantasies. The feasibility of each
candidate is drawn, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from xstar.models.kernels import Array
from xstar.models.model import JointModel
from xstar.searchers.acquisition.criterion import LogProbability

JOINT_CANDIDATES = 512
"""The Cholesky factor of their covariance takes as long as scoring a thousand candidates by expected improvement."""


def thompson_scores(
    models: Sequence[JointModel],
    rows: Array,
    with_budget: Callable[[Array], Array],
    constraints: Sequence[LogProbability],
    rng: np.random.Generator,
) -> Array:
    """Return minus one joint draw at ``rows``, under one of the models.

    The feasibility of each row is drawn as well. Rows drawn as infeasible score below all others, ordered by their
    probability of feasibility.
    """
    model = models[int(rng.integers(len(models)))]
    values: Array = -model.sample(with_budget(rows), rng.standard_normal((len(rows), 1)))[:, 0]
    if not constraints:
        return values
    log_p = sum((constraint(rows)[0] for constraint in constraints), np.zeros(len(rows)))
    return np.where(np.log1p(-rng.random(len(rows))) < log_p, values, values.min() - 1.0 + log_p)
