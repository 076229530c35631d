"""Preferences W(f(x_i)): how much each of the points that are compared counts.

Notation

=========  ==============================================================================  ======
symbol     meaning                                                                         shape
=========  ==============================================================================  ======
``λ``      the number of points that are compared                                          int
``W``      their preferences, not negative, larger is better                               (λ,)
``μ_W``    their mean, by which line 11 of Algorithm 1 divides the step                    float
``μ``      the number of best points                                                       int
``w``      what multiplies T(x_i) − θ: W − μ_W (line 10), or W itself                      (λ,)
=========  ==============================================================================  ======

==============  ==========================================================================  ==============
weights         W                                                                           w, divisor
==============  ==========================================================================  ==============
``quarters``    2λ/μ for the best μ = ⌈λ/4⌉, 0 for the worst μ, λ/μ in between               W − λ/μ, 1
``truncation``  λ/μ for the best μ = ⌈λ/2⌉, 0 for the others                                 W − 1, μ_W = 1
``umda``        the same                                                                    W, μ_W = 1
``exponential`` exp(−f), the paper's example of a bounded W                                 W − μ_W, μ_W
a function      any W of the losses                                                         W − μ_W, μ_W
==============  ==========================================================================  ==============

``quarters`` is the paper's "Instantiation with Bernoulli". Only the difference from the mean is used, so only that is
computed, and equal losses give exactly 0. Two points, the better one first, give w = (2, −2): cGA. The step is not divided by
μ_W (the paper: "line 6 reads μ_W = 1"), so that λ = 2 with ε = 1/n is exactly cGA.

``umda`` subtracts no mean: with ε = 1 the update Σ W (T(x) − θ)/λ replaces θ by the average of the best half, which is UMDA.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from xstar.errors import InvalidArgument

Array = NDArray[np.float64]
Preference = Callable[[Array], Array]
"""W: losses (λ,) → preferences (λ,), not negative."""

WEIGHTS = ("quarters", "truncation", "umda", "exponential")


def weighted(losses: Array, weights: str | Preference) -> tuple[Array, float]:
    """Return ``w`` for losses of shape (λ,), and the number that divides the step."""
    if weights == "quarters":
        return preferences(losses), 1.0
    if callable(weights):
        W = np.asarray(weights(losses), dtype=np.float64)
        if W.shape != losses.shape or not np.isfinite(W).all() or (W < 0.0).any():
            rule = f"must return {len(losses)} finite numbers that are not negative"
            raise InvalidArgument("weights", rule, W.tolist(), "e.g. lambda f: np.exp(-f)")
    elif weights == "exponential":
        W = np.exp(-losses)
    else:
        W = best_half(losses)
    mean = float(W.mean())
    if W.max() - W.min() <= 1e-15 * mean:
        return np.zeros(len(W)), 1.0
    return (W if weights == "umda" else W - mean), mean


def best_half(losses: Array) -> Array:
    """Return λ/μ for the best μ = ⌈λ/2⌉ losses and 0 for the others; ties share their mean weight."""
    count = len(losses)
    chosen = -(-count // 2)
    by_rank = np.zeros(count)
    by_rank[:chosen] = count / chosen
    return _shared_by_ties(losses, by_rank)


def preferences(losses: Array) -> Array:
    """Return ``w`` for losses of shape (λ,), lower is better. Ties share their mean weight; ``inf`` is worst."""
    count = len(losses)
    chosen = -(-count // 4)  # μ = ⌈λ/4⌉
    by_rank = np.zeros(count)
    by_rank[:chosen] = count / chosen
    by_rank[count - chosen :] = -count / chosen
    return _shared_by_ties(losses, by_rank)


def _shared_by_ties(losses: Array, by_rank: Array) -> Array:
    count = len(losses)
    order = losses.argsort(kind="stable")
    ranked = losses[order]
    first = np.empty(count, dtype=bool)  # whether a rank is the first of its ties
    first[:1] = True
    np.not_equal(ranked[1:], ranked[:-1], out=first[1:])
    w = np.empty(count)
    if first.all():
        w[order] = by_rank
        return w
    group = first.cumsum() - 1
    w[order] = (np.bincount(group, by_rank) / np.bincount(group))[group]
    return w
