"""The acquisition function: expected improvement or a confidence bound, averaged over hyperparameters and fantasies, times the
probability of feasibility.

Notation

===============  ====================================================================================  =========
symbol           meaning                                                                               shape
===============  ====================================================================================  =========
``rows``         points of the unit cube                                                               (N, width)
``with_budget``  adds the budget column to rows, if the models are over budgets                        (N, w)
``incumbents``   for each model, the loss to improve on under each fantasy                             (M,)
``mean``         posterior means, one column per fantasy                                               (N, M)
``std``          posterior standard deviations                                                         (N,)
``u``            (incumbent - mean) / std                                                              (N, M)
``h(u)``         φ(u) + u Φ(u), so that EI = std · h(u)                                                (N, M)
===============  ====================================================================================  =========

With S draws of the hyperparameters, M fantasies and constraints c, the value is

    log [ 1/(S M) Σ EI_sm ] + Σ_c log p_c(feasible)

the logarithm of constrained, integrated expected improvement (Snoek et al. 2012; Gelbart et al. 2014). While no
feasible point is known, only the second term is used, as Gelbart et al. advise. A confidence bound is not a logarithm.
To combine it with constraints, its distance below the incumbent is made positive by log(1 + exp(·)), and the logarithm
of that is used.

Far from the incumbent, EI underflows, and its gradient vanishes exactly where the search needs a direction. Its
logarithm does not (Ament et al. 2023, Unexpected Improvements to Expected Improvement). With
h(u) = φ(u) (1 - |u| m(|u|)), where m(t) = (1 - Φ(t))/φ(t) is Mills' ratio:

    u > -1            log(φ + uΦ), evaluated directly
    -1e5 < u <= -1    log φ(u) + log(1 - |u| m(|u|)), with m from the scaled complementary error function
    u <= -1e5         log φ(u) - 2 log |u|: the next term of the series, 3/u², is below rounding
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from xstar.core.compiled import erfcx, log_ndtr, ndtr
from xstar.models.kernels import Array
from xstar.models.model import Model

ToRows = Callable[[Array], Array]
"""Maps a derivative back to the rows."""
LogProbability = Callable[[Array], tuple[Array, ToRows | None]]
"""Maps rows to log p(feasible) and a function from its derivative back to the rows (``None``: there is no gradient)."""

Slopes = Callable[[], tuple[Array, Array]]
"""The derivatives, computed on request only: most scored points are candidates that are never optimised further."""

LOG_SQRT_2PI = 0.5 * float(np.log(2.0 * np.pi))
ROOT_HALF_PI = float(np.sqrt(np.pi / 2.0))

AT_ONCE = 512
"""Rows that are scored at once. The matrices of more rows are so large that the memory of each is taken from the operating
system and returned to it again: 1,024 rows beside 100 observations took 3.4 ms at once and 1.5 ms in two halves, to the same
bits."""


@dataclass(frozen=True)
class Criterion:
    """An acquisition function over the cube, with its gradient."""

    models: Sequence[Model]
    incumbents: Sequence[Array] | None
    """None: no feasible point is known, so there is nothing to improve on."""
    with_budget: Callable[[Array], Array]
    constraints: Sequence[LogProbability] = ()
    confidence: float | None = None
    """The weight of a lower confidence bound, used instead of expected improvement."""

    def score(self, rows: Array) -> Array:
        """Return the value at each row."""
        return in_parts(lambda part: self._at(part, gradient=False)[0], rows)

    def with_gradient(self, rows: Array) -> tuple[Array, Array]:
        """Return the value at each row and its gradient with respect to the row."""
        return self._at(rows, gradient=True)

    def _at(self, rows: Array, *, gradient: bool) -> tuple[Array, Array]:
        if self.incumbents is None:
            value, slope = np.zeros(len(rows)), np.zeros_like(rows)
        else:
            value, slope = self._improvement(rows, gradient)
            if self.confidence is not None and self.constraints:
                value, share = _log_softplus(value + np.mean([each.mean() for each in self.incumbents]))
                slope = slope * share[:, None]
        return with_constraints(value, slope, self.constraints, rows, gradient)

    def _improvement(self, rows: Array, gradient: bool) -> tuple[Array, Array]:
        assert self.incumbents is not None
        inputs = self.with_budget(rows)
        values, slopes = [], []
        for model, incumbent in zip(self.models, self.incumbents, strict=True):
            at = model.predict(inputs)
            if self.confidence is None:
                value, derivatives = log_expected_improvement(at.mean, at.variance, incumbent)
            else:
                value, derivatives = negative_lower_bound(at.mean, at.variance, self.confidence)
            values.append(value)
            if gradient:
                assert at.to_left is not None, "asked for a gradient that the surrogate does not have"
                slopes.append(at.to_left(*derivatives())[:, : rows.shape[1]])
        if len(values) == 1:
            return values[0], slopes[0] if gradient else np.zeros_like(rows)
        stacked = np.array(values)
        if self.confidence is not None:
            return stacked.mean(axis=0), np.mean(slopes, axis=0) if gradient else np.zeros_like(rows)
        top = stacked.max(axis=0)
        parts = np.exp(stacked - top)
        total = parts.sum(axis=0)
        share = parts / total
        slope = np.einsum("sn,snw->nw", share, np.array(slopes)) if gradient else np.zeros_like(rows)
        return top + np.log(total / len(values)), slope


def in_parts(score: Callable[[Array], Array], rows: Array) -> Array:
    """Score rows, at most ``AT_ONCE`` of them at a time."""
    if len(rows) <= AT_ONCE:
        return score(rows)
    return np.concatenate([score(rows[begin : begin + AT_ONCE]) for begin in range(0, len(rows), AT_ONCE)])


def with_constraints(
    value: Array, slope: Array, constraints: Sequence[LogProbability], rows: Array, gradient: bool
) -> tuple[Array, Array]:
    """Add log p(feasible) and its gradient."""
    for constraint in constraints:
        own, back = constraint(rows)
        value = value + own
        if gradient:
            assert back is not None, "asked for a gradient that a constraint does not have"
            slope = slope + back(np.ones(len(rows)))
    return value, slope


def _log_softplus(x: Array) -> tuple[Array, Array]:
    """Return log log(1 + eˣ), which approaches x far below 0, and its derivative."""
    safe = np.maximum(x, -30.0)
    positive = np.logaddexp(0.0, safe)
    return np.log(positive) + (x - safe), np.exp(safe - positive) / positive


# ---------------------------------------------------------------- expected improvement


def log_h(u: Array) -> Array:
    """Return log(φ(u) + u Φ(u)) for any u."""
    if u.size and u.min() > -1.0:  # as at most of the points of local optimisation
        return _near(u)
    near = u > -1.0
    made, deep = np.empty_like(u), u <= -1e5
    made[near] = _near(u[near])
    if deep.any():
        v = u[deep]
        made[deep] = -0.5 * v * v - LOG_SQRT_2PI - 2.0 * np.log(-v)
    middle = ~(near | deep)
    v = -u[middle]
    # 1 - v·m(v) loses digits as v·m(v) approaches 1, about v² units of rounding: at v = 1e5, six digits are left.
    made[middle] = -0.5 * v * v - LOG_SQRT_2PI + np.log1p(-v * ROOT_HALF_PI * erfcx(v / np.sqrt(2.0)))
    return made


def _near(u: Array) -> Array:
    """Return the same above -1."""
    made: Array = np.log(np.exp(-0.5 * u * u - LOG_SQRT_2PI) + u * ndtr(u))
    return made


def log_expected_improvement(mean: Array, variance: Array, incumbent: Array) -> tuple[Array, Slopes]:
    """Return log EI averaged over fantasies (N,), and a function for its derivatives by ``mean`` (N, M) and
    ``variance`` (N,)."""
    std = np.sqrt(variance)
    u = (incumbent - mean) / std[:, None]
    logs = log_h(u)
    share: Array | None = None  # of each fantasy in the average
    if logs.shape[1] == 1:
        value = np.log(std) + logs[:, 0]
    else:
        top = logs.max(axis=1, keepdims=True)
        parts = np.exp(logs - top)
        total = parts.sum(axis=1, keepdims=True)
        share = parts / total
        value = np.log(std) + top[:, 0] + np.log(total[:, 0] / logs.shape[1])

    def slopes() -> tuple[Array, Array]:
        slope = _log_h_slope(u, logs)
        if share is not None:
            slope *= share
        d_std = (1.0 - np.add.reduce(slope * u, 1)) / std
        return -slope / std[:, None], d_std * 0.5 / std

    return value, slopes


def _log_h_slope(u: Array, logs: Array) -> Array:
    """Return d log h / du = Φ(u)/h(u), as a difference of logarithms: both may underflow.

    Far below 0, where that difference loses its digits (all of them at u = -1e8), the derivative is -u: the next term, -2/u, is
    below rounding.
    """
    if not u.size or u.min() > -1e5:
        made: Array = np.exp(log_ndtr(u) - logs)
        return made
    deep = u <= -1e5
    return np.where(deep, -u, np.exp(np.where(deep, 0.0, log_ndtr(u) - logs)))


# ---------------------------------------------------------------- lower confidence bounds


def confidence_weight(dimensions: int, observations: int) -> float:
    """Return √(0.2 d log(2t)), GP-UCB's factor in the form d log t.

    The constant is that of Kandasamy et al. (2015, Section 5).
    """
    return float(np.sqrt(0.2 * max(dimensions, 1) * np.log(2.0 * max(observations, 1))))


def negative_lower_bound(mean: Array, variance: Array, weight: float) -> tuple[Array, Slopes]:
    """Return -(mean - weight·std), averaged over fantasies, to be maximised, and its derivatives as for EI."""
    std = np.sqrt(variance)
    value = weight * std - mean.mean(axis=1)
    return value, lambda: (np.full_like(mean, -1.0 / mean.shape[1]), 0.5 * weight / std)


# ---------------------------------------------------------------- constraints


def below(model: Model, bound: float) -> LogProbability:
    """Return log p(a constraint metric, including noise, is at most ``bound``) under a model of that metric."""

    def log_probability(rows: Array) -> tuple[Array, ToRows | None]:
        at = model.predict(rows)
        std = np.sqrt(at.variance + model.noise)
        u = (bound - at.mean[:, 0]) / std
        value = log_ndtr(u)
        to_left = at.to_left
        if to_left is None:
            return value, None

        def back(w: Array) -> Array:
            # d log Φ(u) / du = φ/Φ. Far below 0 this is -u; there the difference of logarithms loses all digits.
            deep = u <= -1e5
            d_u = w * np.where(deep, -u, np.exp(np.where(deep, 0.0, -0.5 * u * u - LOG_SQRT_2PI - value)))
            return to_left((-d_u / std)[:, None], -0.5 * d_u * u / std**2)

        return value, back

    return log_probability


def averaged(parts: list[LogProbability]) -> LogProbability:
    """Return the logarithm of the mean of the probabilities."""

    def log_probability(rows: Array) -> tuple[Array, ToRows | None]:
        found = [part(rows) for part in parts]
        stacked = np.array([value for value, _ in found])
        top = stacked.max(axis=0)
        share = np.exp(stacked - top)
        total = share.sum(axis=0)
        share /= total
        ways = [own for _, own in found if own is not None]
        if len(ways) < len(found):
            return top + np.log(total / len(parts)), None

        def back(w: Array) -> Array:
            made: Array = sum(own(w * each) for own, each in zip(ways, share, strict=True))  # type: ignore[assignment]
            return made

        return top + np.log(total / len(parts)), back

    return log_probability
