"""Central differences, and small posteriors to maximise something over."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from xstar.models.gp import Posterior
from xstar.models.gp_prior import GPPrior, Inputs, at_full_budget, over_budgets

Array = NDArray[np.float64]
INPUTS = Inputs((0, 1), ("a", "b"))


def row_slopes(function: Callable[[Array], Array], rows: Array, step: float = 1e-5) -> Array:
    """The gradient of a value per row with respect to that row."""
    found = np.empty_like(rows)
    for column in range(rows.shape[1]):
        move = np.zeros(rows.shape[1])
        move[column] = step
        found[:, column] = (function(rows + move) - function(rows - move)) / (2.0 * step)
    return found


def posterior(seed: int = 0, *, budgets: bool = False, shift: float = 0.0, n: int = 12) -> Posterior:
    """Of a smooth function of two inputs, perhaps over budgets; hyperparameters off the centre of the priors by ``shift``."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    y = np.sin(4.0 * X[:, 0]) + X[:, 1]
    surrogate: GPPrior = at_full_budget(INPUTS)
    if budgets:
        surrogate = over_budgets(INPUTS, "decay")
        X = np.column_stack([X, rng.choice([1 / 3, 1.0], n)])
    theta = np.array([prior.centre for prior in surrogate.priors]) + shift
    theta[-1] = np.log(0.01)
    return Posterior.of(surrogate, theta, X, (y - y.mean()) / y.std())
