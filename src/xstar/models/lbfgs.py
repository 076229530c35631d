"""L-BFGS within bounds, as the models and the acquisition use it."""

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
    """A local minimum of a function that comes with its gradient: where, and how low.

    It ends after ``steps`` steps, or when one improves the value by less than the share ``tolerance`` of it.
    """
    found = minimize(
        function,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=np.column_stack([low, high]),  # type: ignore[call-overload]  # an array is taken, too
        options={"maxiter": steps, "ftol": tolerance},
    )
    return np.asarray(found.x, dtype=np.float64), float(found.fun)
