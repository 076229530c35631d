"""How much each point counts, how many points to compare, and how far to step.

Preferences W(f(x_i)):

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

Adaptation keeps the signal-to-noise ratio of the gradient at α:

=========  =================================================================================  ========
symbol     meaning                                                                            shape
=========  =================================================================================  ========
``λ``      points per generation                                                              int
``ε``      the step size                                                                      float
``β``      1 / the horizon of the average; β = ε                                              float
``s``      the path: averaged whitened gradients, in units of the noise (equation 10)         (–,)
``γ``      the expected ‖s‖² under pure noise                                                 float
``λ_r``    λ before rounding; in PBIL-ε, λ_min · ε_0 / ε                                      float
``α``      the target ratio                                                                   float
=========  =================================================================================  ========
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xstar.core.checks import whole_number
from xstar.errors import InvalidArgument
from xstar.igo.family import Array

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


# ---------------------------------------------------------------- adaptation

TARGET = 1.5
"""α, Algorithm 1. A larger value keeps λ larger. In the paper's Figure 4, 1.1 is slow on LeadingOnes, and every value
from 1.5 on is stable."""

LEAST_SAMPLES = 2
"""λ_min, Algorithm 1: one point has no rank."""

ROOM = 10
"""λ_max is n (Algorithm 1), but at least this, the paper's smallest n. With n = 2, one number, λ could not adapt."""

ADAPT = ("samples", "step", "none")
METRICS = ("drawn", "moved")


@dataclass(frozen=True)
class Settings:
    """The strategy parameters. None of them needs tuning; all follow from n."""

    adapt: str
    """``samples`` (PBIL-λ), ``step`` (PBIL-ε) or ``none`` (cGA and plain PBIL)."""
    step: float
    """ε, or its maximum with ``adapt="step"``: n^(−1/2), the largest value allowed by analyses of cGA."""
    fewest: int
    """λ_min; λ itself if it is not adapted."""
    most: int
    """λ_max."""
    target: float
    """α."""
    weights: str | Preference = "quarters"
    """W: a name of ``WEIGHTS``, or a function of the losses."""
    metric: str = "drawn"
    """The θ at which line 12 takes G: that from which the points were ``drawn``, θ^(t) in equation (10); or that to which line
    11 has ``moved`` it, as the order of the listing says."""

    @classmethod
    def of(
        cls,
        parameters: int,
        adapt: str = "samples",
        step: float | None = None,
        samples: int | None = None,
        most: int | None = None,
        target: float = TARGET,
        weights: str | Preference = "quarters",
        metric: str = "drawn",
    ) -> Settings:
        """Return the defaults for n ``parameters``, overridden by the given arguments."""
        if adapt not in ADAPT:
            raise InvalidArgument("adapt", f"must be one of {', '.join(ADAPT)}", adapt)
        fewest = LEAST_SAMPLES if samples is None else whole_number("samples", samples, least=LEAST_SAMPLES)
        limit = max(parameters, ROOM, fewest) if most is None else whole_number("most", most, least=fewest)
        size = parameters**-0.5 if step is None else step
        if not 0.0 < size <= 1.0:
            raise InvalidArgument("step", "must lie above 0 and at most at 1", step, "leave it out")
        if not (1.0 <= target < math.inf):
            raise InvalidArgument("target", "must be a finite number of at least 1", target, "leave it out")
        if not callable(weights) and weights not in WEIGHTS:
            rule = f"must be one of {', '.join(WEIGHTS)}, or a function of the losses"
            raise InvalidArgument("weights", rule, weights, "leave it out")
        if metric not in METRICS:
            raise InvalidArgument("metric", f"must be one of {', '.join(METRICS)}", metric, "leave it out")
        return cls(adapt, float(size), fewest, limit, float(target), weights, metric)


@dataclass(frozen=True)
class Trace:
    """The state of the adaptation."""

    path: Array
    """s."""
    gamma: float
    """γ."""
    size: float
    """λ_r."""

    @classmethod
    def new(cls, length: int, settings: Settings) -> Trace:
        return cls(np.zeros(length), 0.0, float(settings.fewest))

    def step(self, settings: Settings) -> float:
        """Return ε = β of the next update."""
        return settings.step / (self.size / settings.fewest) if settings.adapt == "step" else settings.step

    def samples(self, settings: Settings) -> int:
        """Return λ of the next generation, line 15."""
        return round(self.size) if settings.adapt == "samples" else settings.fewest

    def after(self, whitened: Array, noise: float, settings: Settings) -> Trace:
        """Apply lines 12 to 14, with ``noise`` = E‖G^½ ∇̃‖² for uncorrelated f and T(x): n σ_W² / λ, equation (11)."""
        beta = self.step(settings)
        path = (1.0 - beta) * self.path + math.sqrt(beta * (2.0 - beta) / noise) * whitened
        gamma = (1.0 - beta) ** 2 * self.gamma + beta * (2.0 - beta)
        size = self.size * math.exp(beta * (gamma - float(path @ path) / settings.target))
        return Trace(path, gamma, min(max(size, float(settings.fewest)), float(settings.most)))
