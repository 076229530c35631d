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

from xstar.models.kernels import Array

ENOUGH = 1e-4
"""The share of the gain that the slope promises, from which on a step is taken (Armijo)."""
FIRST = 0.1
LONGEST = 0.5
"""The longest first step, in sides of the cube (nothing is known about the curvature yet), and the longest of all others."""
SHORTEST = 0.1
"""The next step after one that gained too little is between a tenth and half of it, where a parabola has its maximum."""


def ascend(
    function: Callable[[Array], tuple[Array, Array]], x: Array, rounds: int, tolerance: float
) -> tuple[Array, Array]:
    """Return higher points of the unit cube, and the values there, after at most ``rounds`` calls of the function.

    The ascent ends earlier when no point gains more than ``tolerance``, relative to its value, by a step that is taken.
    """
    f, g = function(x)
    H = np.broadcast_to(np.eye(x.shape[1]), (len(x), x.shape[1], x.shape[1])).copy()
    fresh, done = np.ones(len(x), dtype=bool), np.zeros(len(x), dtype=bool)
    t = np.ones(len(x))
    for _ in range(rounds - 1):
        free = np.where(((x <= 0.0) & (g < 0.0)) | ((x >= 1.0) & (g > 0.0)), 0.0, g)
        p = np.where(free == 0.0, 0.0, np.matmul(H, free[:, :, None])[:, :, 0])
        limit = np.where(fresh, FIRST, LONGEST) / np.maximum(np.abs(p).max(axis=1), 1e-300)
        p *= np.minimum(limit, 1.0)[:, None]
        trial = np.minimum(np.maximum(x + t[:, None] * p, 0.0), 1.0)
        s = trial - x
        promised = np.einsum("ij,ij->i", free, s)
        f_trial, g_trial = function(trial)
        gain = f_trial - f
        taken = (gain >= ENOUGH * promised) & ~done & (promised > 0.0)
        done |= (taken & (gain <= tolerance * np.maximum(np.abs(f), 1.0))) | (promised <= 0.0)
        # Where f + promised τ - c τ² goes through the step at τ = 1, its maximum is at τ = promised / 2c
        shorter = np.clip(0.5 * promised / np.maximum(promised - gain, 1e-300), SHORTEST, 0.5)
        t = np.where(taken, 1.0, t * shorter)
        _learn(H, s, g - g_trial, taken, fresh)
        fresh &= ~taken
        x, f = np.where(taken[:, None], trial, x), np.where(taken, f_trial, f)
        g = np.where(taken[:, None], g_trial, g)
        if done.all():
            break
    return x, f


def _learn(H: Array, s: Array, y: Array, taken: Array, fresh: Array) -> None:
    """Update H in place (BFGS) where a step ``s`` that changed -g by ``y`` was taken along a positive curvature."""
    curvature = np.einsum("ij,ij->i", s, y)
    yy = np.einsum("ij,ij->i", y, y)
    sure = taken & (curvature > 1e-10 * yy)
    if not sure.any():
        return
    safe = np.where(sure, curvature, 1.0)
    begun = np.where(sure & fresh, curvature / np.maximum(yy, 1e-300), 1.0)
    H *= begun[:, None, None]
    Hy = np.matmul(H, y[:, :, None])[:, :, 0]
    share = np.where(sure, 1.0 / safe, 0.0)
    both = (1.0 + np.einsum("ij,ij->i", y, Hy) * share) * share
    half = (0.5 * both)[:, None] * s - share[:, None] * Hy
    cross = s[:, :, None] * half[:, None, :]
    H += cross
    H += cross.transpose(0, 2, 1)
