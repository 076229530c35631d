"""The models of a GP searcher: fitted at counts fixed by a schedule, extended by rows in between.

Notation: ``count`` observations there are; ``last`` the count of the last refit; ``X`` inputs, the budget as a share of the
largest in the last column if the model is over budgets; ``y`` losses; targets are losses on the model's scale.

A model is a function of the first ``count`` observations and nothing else: its hyperparameters come from the first ``last`` of
them, the others are rows below its Cholesky factor. Whoever resumes or audits a study computes the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xstar.core.randomness import Streams
from xstar.journal import History
from xstar.models.feasibility import LENGTHS, Feasibility
from xstar.models.gp import Posterior, fit, sample_fits
from xstar.models.kernels import Array
from xstar.models.standardise import Targets
from xstar.models.subset import choose
from xstar.models.surrogate import Surrogate
from xstar.searchers.model_based.observations import Observations

FIRST = 2
"""A model is fitted from so many observations on."""
GROWTH = 10
"""Refits happen when the data have grown by a tenth, and after every observation up to 20."""

MOST_NEW = 100
"""But after so many new observations at the latest: they are rows below a factor of at most ``limit`` rows, and at 100,000
trials a tenth would be 10,000 of them."""


def last_refit(count: int) -> int:
    """The largest count of the schedule that is not above ``count``."""
    at = FIRST
    while at < GROWTH * MOST_NEW and (after := at + max(1, at // GROWTH)) <= count:
        at = after
    if at >= GROWTH * MOST_NEW:
        at += (count - at) // MOST_NEW * MOST_NEW
    return at


def last_full_refit(count: int, at_full: NDArray[np.bool_]) -> int:
    """The same, but no refit while nothing new has reached the full budget (MOBSTER, A.1).

    Always refit up to 20, and when ``GROWTH * MOST_NEW`` observations have come since.
    """
    at = last = FIRST
    while (after := at + max(1, min(at // GROWTH, MOST_NEW))) <= count:
        at = after
        if at <= 2 * GROWTH or at_full[last:at].any() or at - last >= GROWTH * MOST_NEW:
            last = at
    return last


@dataclass(frozen=True)
class Fitted:
    """A model after its last refit."""

    last: int
    targets: Targets
    places: NDArray[np.intp]
    """Which of the ``last`` observations it was fitted to."""
    posteriors: tuple[Posterior, ...]
    """One; or one per draw of the hyperparameters."""


def fitted(
    history: History,
    key: Hashable,
    surrogate: Surrogate,
    last: int,
    X: Array,
    y: Array,
    budget: Array,
    *,
    straighten: bool,
    samples: int,
    starts: int,
    limit: int,
    positions: Callable[[Array], Array] = lambda X: X,
) -> Fitted:
    """The model fitted to the first ``last`` observations: the one in ``history.memo``, if it is that one.

    ``positions`` makes of ``X`` what a spread of the inputs can be measured in.
    """
    kept = history.memo.get(Fitted, key)
    if kept is not None and kept.last == last:
        return kept
    places = choose(positions(X[:last]) if last > limit else X[:last], y[:last], budget[:last], limit)
    targets = Targets.of(y[places], straighten=straighten)
    inputs, outputs = X[places], targets(y[places])
    rng = Streams(history.seed).generator(last, "gp fit")
    thetas = [fit(surrogate, inputs, outputs, rng, starts)] if samples == 0 else None
    if thetas is None:
        thetas = sample_fits(surrogate, inputs, outputs, rng, samples)
    posteriors = tuple(Posterior.of(surrogate, theta, inputs, outputs) for theta in thetas)
    return history.memo.put(Fitted(last, targets, places, posteriors), key)


@dataclass(frozen=True)
class ChosenLength:
    """The length scale of a classifier, and after how many trials it was chosen."""

    last: int
    length: float


def classifier(
    history: History,
    key: Hashable,
    last: int,
    settled: tuple[Array, NDArray[np.bool_]],
    known: tuple[Array, NDArray[np.bool_]],
    groups: tuple[int, ...],
    labels: tuple[str, ...],
) -> Feasibility:
    """The probability of being feasible, from the inputs that are ``known`` to be or not to be.

    Its length scale is chosen at counts of the schedule, from the ``last`` trials that were over by then (``settled``): unlike
    those of which something is known, they come in an order that never changes.
    """
    kept = history.memo.get(ChosenLength, key)
    if kept is None or kept.last != last:
        kept = history.memo.put(ChosenLength(last, Feasibility.fit(*settled, groups, labels, LENGTHS).length), key)
    return Feasibility.fit(*known, groups, labels, (kept.length,))


FAR = 1.0
"""By how much, in standard deviations of the losses, the suggestions that explore seek to improve. Expected improvement goes
on polishing what it has: over 20 seeds of 100 trials, one such suggestion in four brings the mean regret of Levy6 from 1.47 to
0.52, of Ackley10 from 7.9 to 6.3, and of Rosenbrock4 up from 1.9 to 5.6; NAS-Bench-201 (ImageNet16) stays at 0.12, 0.11. Over
budgets, where paused trials are fantasised, it changed nothing (16 problems, two seeds)."""


def explores(history: History, data: Observations, every: int) -> bool:
    """Whether the next suggestion is one of those that seek to improve by ``FAR``."""
    if every == 0 or len(history.levels) > 1 or data.networks:
        return False
    return len(history.trials) % every == 0


def nothing_known(history: History) -> str:
    """Why there is neither something to improve on nor a constraint to meet."""
    if bounds := history.created.constraints:
        where = " at a rung" if len(history.levels) > 1 else ""
        return f"not two trials have reported {', '.join(bounds)}{where} yet"
    return "no model and no constraint yet"


def lifted(budget: float | None) -> Callable[[Array], Array]:
    """Rows with the budget added as a last column; as they are if the model is not over budgets."""
    if budget is None:
        return lambda rows: rows
    return lambda rows: np.hstack([rows, np.full((len(rows), 1), budget)])


def distinct_rows(X: Array) -> NDArray[np.intp]:
    """The place of the first of each set of equal rows, ascending."""
    return np.sort(np.unique(X, axis=0, return_index=True)[1])
