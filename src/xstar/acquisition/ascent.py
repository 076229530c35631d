"""Quasi-Newton ascent of several points at once, each by itself.

Notation

=========  ==========================================================================================  ============
symbol     meaning                                                                                     shape
=========  ==========================================================================================  ============
``x``      points of the unit cube                                                                     (R, w)
``f, g``   the function at ``x``, and its gradient                                                     (R,), (R, w)
``H``      for each point, an estimate of the inverse of -∂²f                                          (R, w, w)
``p``      directions H g                                                                              (R, w)
``t``      the length of the next step, in multiples of ``p``                                          (R,)
=========  ==========================================================================================  ============

One call of the function serves all points: with few of them it takes hardly longer than for one, and calls are what an ascent
costs. So every point makes one step in each round, on a line of its own: a step that gains enough (Armijo) is taken, and H
learns from it (BFGS); after any other, the next one along the same line is shorter. L-BFGS of the sum over all points has one
step length for all of them, and one memory for as many unrelated curvatures: it needs about twice the calls.

Coordinates at a bound with an outward gradient stay there while the others move (projected quasi-Newton, Bertsekas 1982).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from xstar.models.kernels import Array

ENOUGH = 1e-4
"""The share of the gain that the slope promises, from which on a step is taken (Armijo)."""
FIRST = 0.1
LONGEST = 0.5
"""The longest first step, in sides of the cube (nothing is known about the curvature yet), and the longest of all others."""
TINY = 1e-300
SHORTEST = 0.1
"""The next step after one that gained too little is between a tenth and half of it, where a parabola has its maximum."""


def ascend(
    function: Callable[[Array], tuple[Array, Array]], x: Array, rounds: int, tolerance: float
) -> tuple[Array, Array]:
    """Return higher points of the unit cube, and the values there, after at most ``rounds`` calls of the function.

    The ascent ends earlier when no point gains more than ``tolerance``, relative to its value, by a step that is taken.
    """
    f, g = function(x)
    H = np.zeros((len(x), x.shape[1], x.shape[1]))
    np.einsum("kii->ki", H)[:] = 1.0
    fresh, done = np.ones(len(x), dtype=bool), np.zeros(len(x), dtype=bool)
    t, most = np.ones(len(x)), np.full(len(x), FIRST)
    for _ in range(rounds - 1):
        free = _within(x, g)
        p = np.matmul(H, free[:, :, None])[:, :, 0]
        if free is not g:
            p[free == 0.0] = 0.0
        reach = np.abs(p).max(axis=1)
        steps = t * np.minimum(most / np.maximum(reach, TINY), 1.0)
        trial = np.minimum(np.maximum(x + steps[:, None] * p, 0.0), 1.0)
        s = trial - x
        promised = _dot(free, s)
        f_trial, g_trial = function(trial)
        gain = f_trial - f
        taken = (gain >= ENOUGH * promised) & (promised > 0.0)
        done |= (taken & (gain <= tolerance * np.maximum(np.abs(f), 1.0))) | (reach == 0.0)
        _learn(H, s, g - g_trial, taken, fresh)
        if taken.all():
            x, f, g = trial, f_trial, g_trial
            t.fill(1.0)
        else:
            # Where f + promised τ - c τ² goes through the step at τ = 1, its maximum is at τ = promised / 2c. A value may be
            # no number, which ``fmax`` passes over.
            shorter = np.minimum(np.maximum(0.5 * promised / np.fmax(promised - gain, TINY), SHORTEST), 0.5)
            t = np.where(taken, 1.0, t * shorter)
            x, g = np.where(taken[:, None], trial, x), np.where(taken[:, None], g_trial, g)
            f = np.where(taken, f_trial, f)
        if done.all():
            break
        fresh &= ~taken
        most[taken] = LONGEST
    return x, f


def _within(x: Array, g: Array) -> Array:
    """Return the gradient without the coordinates that would leave the cube."""
    low, high = x <= 0.0, x >= 1.0
    if not (low.any() or high.any()):
        return g
    return np.where((low & (g < 0.0)) | (high & (g > 0.0)), 0.0, g)


def _learn(H: Array, s: Array, y: Array, taken: NDArray[np.bool_], fresh: NDArray[np.bool_]) -> None:
    """Update H in place (BFGS) where a step ``s`` that changed -g by ``y`` was taken along a positive curvature.

    With ρ = 1/sᵀy this is H + ssᵀ(ρ + ρ² yᵀHy) - ρ(Hysᵀ + syᵀH), that is, H + suᵀ + usᵀ with u = ½(ρ + ρ² yᵀHy)s - ρHy.
    """
    curvature, yy = _dot(s, y), _dot(y, y)
    sure = taken & (curvature > 1e-10 * yy)
    if not sure.any():
        return
    first = sure & fresh
    if first.any():
        H[first] *= (curvature[first] / yy[first])[:, None, None]
    if not sure.all():
        y = np.where(sure[:, None], y, 0.0)  # where a step was not taken, the gradient may be no number
    rho = np.where(sure, 1.0 / np.where(sure, curvature, 1.0), 0.0)
    Hy = np.matmul(H, y[:, :, None])[:, :, 0]
    u = (0.5 * rho * (1.0 + rho * _dot(y, Hy)))[:, None] * s - rho[:, None] * Hy
    both = s[:, :, None] * u[:, None, :]
    H += both
    H += both.transpose(0, 2, 1)


def _dot(a: Array, b: Array) -> Array:
    """Return the inner product of each pair of rows."""
    made: Array = np.add.reduce(a * b, axis=1)
    return made
