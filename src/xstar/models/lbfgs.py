"""Bounded L-BFGS for the models and the acquisition functions.

``scipy.optimize.minimize`` wraps every evaluation into checks and copies that take 60 µs, more than half of what the
likelihood of 25 observations takes. The routine below it, which SciPy compiles from L-BFGS-B, needs none of them. It is no
part of SciPy's interface, and arrays of a wrong size or type would be written beyond their end. So it is used only with the
versions of SciPy whose arrays were compared with those below, and only if it finds what ``minimize`` finds on a function made
for that. With any other version ``minimize`` is used, and takes longer to the same numbers, to the last bit: 3.5 ms instead of
2.6 on average over 319 fits and local optimisations of three searches, and 130 ms for the import of ``scipy.optimize``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import scipy

from xstar.core.compiled import compiled
from xstar.models.kernels import Array

Function = Callable[[Array], tuple[float, Array]]

COMPARED = ("1.15", "1.16", "1.17")
"""From 1.18 on, the integers are as wide as SciPy was built for; before 1.15, the routine is Fortran's."""
MEMORY = 10
STEEPEST = 1e-5
SEARCHED = 20
"""``minimize``'s own: the pairs that are kept, the projected gradient at which the search ends, the evaluations on one line."""
BOTH_BOUNDS = 2
STEPPED, EVALUATE, STOP, ENOUGH_STEPS = 1, 3, 5, 504
"""What the routine says, that it has made a step, or wants the function at ``x``; and what it is told, to end, and why."""
VALLEY = (3, 1e-9, 1.872916088520651), (50, 1e-9, 0.07691291925702932), (50, 1e-2, 0.2222190360638185)
"""Steps, tolerance, and the value at which ``minimize`` ends in the valley of ``_is_known``."""


def descend(
    function: Function,
    start: Array,
    low: Array,
    high: Array,
    steps: int,
    tolerance: float,
) -> tuple[Array, float]:
    """Find a local minimum of a function that returns its value and gradient; return the point and its value.

    The search ends after ``steps`` iterations, or when the relative improvement is less than ``tolerance``. Bounds are finite.
    """
    search = _directly if _is_known() else _through_scipy
    return search(function, start, low, high, steps, tolerance)


def _through_scipy(
    function: Function,
    start: Array,
    low: Array,
    high: Array,
    steps: int,
    tolerance: float,
) -> tuple[Array, float]:
    from scipy.optimize import minimize  # not at the top: see above

    found = minimize(
        function,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=np.column_stack([low, high]),  # type: ignore[call-overload]  # arrays are accepted, too
        options={"maxiter": steps, "ftol": tolerance},
    )
    return np.asarray(found.x, dtype=np.float64), float(found.fun)


def _directly(
    function: Function,
    start: Array,
    low: Array,
    high: Array,
    steps: int,
    tolerance: float,
) -> tuple[Array, float]:
    """The loop of ``minimize``, without what is around it."""
    step = _routine()
    k, m = len(start), MEMORY
    x = np.minimum(np.maximum(start, low), high)
    low, high = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
    f, g, factor, taken = 0.0, np.zeros(k), tolerance / np.finfo(np.float64).eps, 0
    kinds = np.full(k, BOTH_BOUNDS, dtype=np.int32)
    numbers = np.zeros(2 * m * k + 5 * k + 11 * m * m + 8 * m)
    places, task, line = np.zeros(3 * k, np.int32), np.zeros(2, np.int32), np.zeros(2, np.int32)
    kept = np.zeros(4, np.int32), np.zeros(44, np.int32), np.zeros(29)
    # A step takes at most two searches along a line: one that fails starts again without the memory, and another ends it all.
    for _ in range(2 * (SEARCHED + 1) * (steps + 2)):
        step(m, x, low, high, kinds, f, g, factor, STEEPEST, numbers, places, task, *kept, SEARCHED, line)
        if task[0] == EVALUATE:
            f, slope = function(x.copy())
            g = np.array(slope, dtype=np.float64)
        elif task[0] == STEPPED:
            taken += 1
            if taken >= steps:
                task[:] = STOP, ENOUGH_STEPS
        else:
            return x, float(f)
    raise ArithmeticError(f"L-BFGS has not ended after {taken} of {steps} steps")


@lru_cache(maxsize=1)
def _routine() -> Any:
    return compiled("scipy.optimize._lbfgsb").setulb


@lru_cache(maxsize=1)
def _is_known() -> bool:
    """Whether SciPy's routine ends where ``minimize`` does, in a curved valley whose minimum is at a bound."""
    if ".".join(scipy.__version__.split(".")[:2]) not in COMPARED:
        return False

    def valley(x: Array) -> tuple[float, Array]:
        bent = x[1:] - x[:-1] ** 2
        slope = np.append(-4.0 * x[:-1] * bent, 0.0) + np.append(0.0, 2.0 * bent) + 0.2 * (x - 1.0)
        return float((bent**2).sum() + 0.1 * ((x - 1.0) ** 2).sum()), slope

    start, low, high = np.array([-0.9, 0.4, 1.3, -2.0]), np.full(4, -1.5), np.array([2.0, 0.7, 2.0, 2.0])
    for steps, tolerance, expected in VALLEY:
        try:
            found, value = _directly(valley, start, low, high, steps, tolerance)
        except Exception:  # whatever another version raises: it is not the routine that is known here
            return False
        if not math.isclose(value, expected, rel_tol=1e-6) or valley(found)[0] != value:
            return False
    return True
