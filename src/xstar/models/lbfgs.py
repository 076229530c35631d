"""Bounded L-BFGS for the models and the acquisition functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from xstar.models.kernels import Array


def descend(
    function: Callable[[Array], tuple[float, Array]],
    start: Array,
    low: Array,
    high: Array,
    steps: int,
    tolerance: float,
) -> tuple[Array, float]:
    """Find a local minimum of a function that returns its value and gradient; return the point and its value.

    The search ends after ``steps`` iterations, or when the relative improvement is less than ``tolerance``.
    """
    found = minimize(
        function,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=np.column_stack([low, high]),  # type: ignore[call-overload]  # arrays are accepted, too
        options={"maxiter": steps, "ftol": tolerance},
    )
    return np.asarray(found.x, dtype=np.float64), float(found.fun)
