"""Preferences from ranks: W(f(x_i)) of the paper's "Instantiation with Bernoulli", minus its mean.

Notation

=========  ==============================================================================  ======
symbol     meaning                                                                         shape
=========  ==============================================================================  ======
``λ``      the number of points that are compared                                          int
``μ``      ⌈λ/4⌉: the number of best points, and of worst points                            int
``w``      W(f(x_i)) − μ_W: λ/μ for the best μ, −λ/μ for the worst μ, 0 in between         (λ,)
=========  ==============================================================================  ======

The paper defines W as 2λ/μ, λ/μ and 0, with the mean μ_W = λ/μ, which line 10 of Algorithm 1 subtracts. Only the
difference is used, so only that is computed, and equal losses give exactly 0. Two points, the better one first, give w
= (2, −2): cGA.

The step is not divided by μ_W (the paper: "line 6 reads μ_W = 1"), so that λ = 2 with ε = 1/n is exactly cGA.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def preferences(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``w`` for losses of shape (λ,), lower is better. Ties share their mean weight; ``inf`` is worst."""
    count = len(losses)
    chosen = -(-count // 4)  # μ = ⌈λ/4⌉
    by_rank = np.zeros(count)
    by_rank[:chosen] = count / chosen
    by_rank[count - chosen :] = -count / chosen
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
