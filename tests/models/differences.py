"""Central differences: what a hand-derived gradient is compared with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def slopes(function: Callable[[Array], float], at: Array, step: float = 1e-5) -> Array:
    """The gradient of a number with respect to an array of any shape, entry by entry."""
    found = np.empty_like(at)
    for place in np.ndindex(at.shape):
        up, down = at.copy(), at.copy()
        up[place] += step
        down[place] -= step
        found[place] = (function(up) - function(down)) / (2.0 * step)
    return found
