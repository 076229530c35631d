"""The acquisition function for two and three objectives: the logarithm of expected hypervolume improvement.

Notation

===========  ========================================================================================  =========
symbol       meaning                                                                                   shape
===========  ========================================================================================  =========
``m``        the number of objectives, whose posteriors are independent
``front``    losses that nothing dominates: of posterior means at tried configurations                 (f, m)
``r``        the reference point                                                                       (m,)
``l``, ``u`` corners of boxes that together fill what lies below r and is not dominated; l may be −∞    (K, m)
``μ``, ``σ`` the posterior of each objective at N rows; a column of μ for each fantasy
===========  ========================================================================================  =========

A point y adds to the hypervolume what it dominates of each box,

    HVI(y) = Σ_k Π_j (u_kj − max(l_kj, y_j))₊

and as the objectives are independent, so its expectation is a sum of products (Emmerich et al. 2011; Yang et al. 2019):

    E (u − max(l, Y))₊ = E (u − Y)₊ − E (l − Y)₊ = σ [h((u − μ)/σ) − h((l − μ)/σ)],    h(z) = φ(z) + z Φ(z)

All of it is computed in logarithms: where an improvement is improbable, the products underflow and their gradient vanishes
exactly where the search needs a direction (Ament et al. 2023, Section 4.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xstar.core.compiled import log_ndtr
from xstar.core.pareto import non_dominated
from xstar.models.kernels import Array
from xstar.models.model import Model
from xstar.searchers.acquisition.criterion import LOG_SQRT_2PI, LogProbability, in_parts, log_h, with_constraints

Boxes = tuple[Array, Array]
"""The lower and the upper corners, (K, m) each."""


def boxes(front: Array, r: Array) -> Boxes:
    """Return boxes that fill what lies below ``r`` and is not dominated by the front; for two or three objectives.

    >>> lower, upper = boxes(np.array([[1.0, 2.0]]), np.array([3.0, 3.0]))
    >>> upper.tolist()
    [[1.0, 3.0], [3.0, 2.0]]
    """
    front = front[(front < r).all(axis=1)]
    front = np.unique(front[non_dominated(front)], axis=0)
    made = _strips(front, r) if len(r) == 2 else _slabs(front, r)
    return made[:, 0], made[:, 1]


def _strips(front: Array, r: Array) -> Array:
    """Of two objectives: one strip left of the front, and one below each of its points. Ascending in the first: (K, 2, 2)."""
    edges = np.concatenate([[-np.inf], front[:, 0], [r[0]]])
    heights = np.append(r[1], front[:, 1])
    made = np.full((len(front) + 1, 2, 2), -np.inf)
    made[:, 0, 0], made[:, 1, 0], made[:, 1, 1] = edges[:-1], edges[1:], heights
    return made


def _slabs(front: Array, r: Array) -> Array:
    """Of three objectives: in the order of the third, each point changes some of the strips of the first two; a strip that
    stays makes one box with those of the slabs above it. About 2f + 1 boxes."""
    front = front[np.argsort(front[:, 2], kind="stable")]
    open_since: dict[tuple[float, ...], float] = {tuple(_strips(front[:0, :2], r[:2]).ravel()): -np.inf}
    made: list[Array] = []

    def close(strip: tuple[float, ...], end: float) -> None:
        begin = open_since.pop(strip)
        if begin < end:
            flat = np.array(strip).reshape(2, 2)
            made.append(np.column_stack([flat, [begin, end]]))

    for count, height in enumerate(front[:, 2].tolist(), 1):
        below = front[:count, :2]
        below = np.unique(below[non_dominated(below)], axis=0)
        strips = {tuple(strip.ravel()) for strip in _strips(below, r[:2])}
        for strip in [strip for strip in open_since if strip not in strips]:
            close(strip, height)
        for strip in strips:
            open_since.setdefault(strip, height)
    for strip in list(open_since):
        close(strip, float(r[2]))
    return np.array(made)


@dataclass(frozen=True)
class HypervolumeCriterion:
    """The acquisition function over the cube, with its gradient. It stands where :class:`Criterion` does for one objective."""

    models: Sequence[Sequence[Model]]
    """For each draw of the hyperparameters a posterior of each objective."""
    fronts: Sequence[Sequence[Array]]
    """For each draw the front under each fantasy."""
    reference: Array
    with_budget: Callable[[Array], Array]
    constraints: Sequence[LogProbability] = ()

    @cached_property
    def _boxes(self) -> list[list[Boxes]]:
        return [[boxes(front, self.reference) for front in each] for each in self.fronts]

    def score(self, rows: Array) -> Array:
        """Return the value at each row."""
        return in_parts(lambda part: self._at(part, gradient=False)[0], rows)

    def with_gradient(self, rows: Array) -> tuple[Array, Array]:
        """Return the value at each row and its gradient with respect to the row."""
        return self._at(rows, gradient=True)

    def _at(self, rows: Array, *, gradient: bool) -> tuple[Array, Array]:
        inputs = self.with_budget(rows)
        values, slopes = [], []
        for models, under in zip(self.models, self._boxes, strict=True):
            at = [model.predict(inputs) for model in models]
            means, deviations = [each.mean for each in at], [np.sqrt(each.variance) for each in at]
            value, derivatives = log_improvement(means, deviations, under, gradient)
            values.append(value)
            if gradient:
                each = (p.gradient(*d)[:, : rows.shape[1]] for p, d in zip(at, derivatives, strict=True))
                slopes.append(np.sum(list(each), axis=0))
        value, share = _mean_of_logs(np.array(values))
        slope = np.einsum("sn,snw->nw", share, np.array(slopes)) if gradient else np.zeros_like(rows)
        return with_constraints(value, slope, self.constraints, rows, gradient)


def log_improvement(
    means: Sequence[Array], deviations: Sequence[Array], under: Sequence[Boxes], gradient: bool
) -> tuple[Array, list[tuple[Array, Array]]]:
    """Return log E HVI averaged over fantasies (N,), and its derivatives by means (N, M) and variances (N,) of each objective.

    ``under`` has the boxes of each fantasy; models without fantasies have one column of means.
    """
    parts = [_of_boxes([mean[:, c] for mean in means], deviations, each, gradient) for c, each in enumerate(under)]
    value, share = _mean_of_logs(np.array([part[0] for part in parts]))  # share: (M, N)
    if not gradient:
        return value, []
    made = []
    for j, std in enumerate(deviations):
        by_mean = np.column_stack([w * part[1][j][0] for w, part in zip(share, parts, strict=True)])
        by_std = np.sum([w * part[1][j][1] for w, part in zip(share, parts, strict=True)], axis=0)
        made.append((by_mean, 0.5 * by_std / std))
    return value, made


def _of_boxes(
    means: Sequence[Array], deviations: Sequence[Array], box: Boxes, gradient: bool
) -> tuple[Array, list[tuple[Array, Array]]]:
    """Return log E HVI (N,) under one fantasy, and its derivatives by the mean and the standard deviation of each objective."""
    lower, upper = box
    logs: list[Array] = []  # log of the factor of each objective: (N, K)
    slopes: list[tuple[Array, Array]] = []
    for mean, std, low, high in zip(means, deviations, lower.T, upper.T, strict=True):
        zu = (high - mean[:, None]) / std[:, None]
        bounded = np.isfinite(low)
        zl = (np.where(bounded, low, 0.0) - mean[:, None]) / std[:, None]
        log_u, log_l = log_h(zu), np.where(bounded, log_h(zl), -np.inf)
        log_d = log_u + np.log1p(-np.exp(np.minimum(log_l - log_u, -1e-15)))  # of the factor over σ
        logs.append(np.log(std)[:, None] + log_d)
        if gradient:
            up, down = log_ndtr(zu), np.where(bounded, log_ndtr(zl), -np.inf)
            by_mean = -(np.exp(up - log_d) - np.exp(down - log_d))
            density = np.where(bounded, -0.5 * zl * zl - LOG_SQRT_2PI, -np.inf)
            by_std = np.exp(-0.5 * zu * zu - LOG_SQRT_2PI - log_d) - np.exp(density - log_d)
            slopes.append((by_mean / std[:, None], by_std / std[:, None]))
    total = np.sum(logs, axis=0)
    top = total.max(axis=1, keepdims=True)
    weights = np.exp(total - top)
    norm = weights.sum(axis=1)
    value = top[:, 0] + np.log(norm)
    weights /= norm[:, None]
    return value, [((weights * a).sum(axis=1), (weights * b).sum(axis=1)) for a, b in slopes]


def _mean_of_logs(values: Array) -> tuple[Array, Array]:
    """Return the logarithm of the mean over the first axis, and the share of each part in it."""
    top = values.max(axis=0)
    parts = np.exp(values - top)
    total = parts.sum(axis=0)
    return top + np.log(total / len(values)), parts / total
