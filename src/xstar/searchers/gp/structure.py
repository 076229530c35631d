"""The structure of a GP's kernel: the product over all parameters, or that with a term for each parameter alone.

The product kernel learns nothing about one place from another that differs in many parameters. Where the loss is nearly a sum
over the parameters, each of them can be learned from all observations. Neither is right for all problems, so both are fitted
and the one with the higher posterior probability is used. The comparison costs a fit of each, and is made rarely: whenever the
observations have grown by a quarter.

Measured on the development set of ``benchmarks/generality.py`` (36 problems of at most 20 parameters, one seed; 13 of them with
two), losses after 100 trials: lower in 11 searches, higher in 8, equal in 30, where the product was kept. On the five sums over
parameters, medians: Rastrigin 15.7 → 10.3, Alpine 0.21 → 0.08, Styblinski–Tang 21 → 14, Schwefel 119 → 119, Michalewicz −2.95 →
−4.65. Together with the first trial in the middle (``GPSettings.middle``): lower in 26, higher in 17; after 25 trials lower
in 29, higher in 14. A suggestion takes 1.3 times as long on average, and twice where the terms are used.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import lru_cache, partial

import numpy as np

from xstar.core.randomness import Streams
from xstar.journal import History
from xstar.models.gp import fit
from xstar.models.kernels import Array
from xstar.models.likelihood import log_posterior
from xstar.models.priors import Prior
from xstar.models.standardise import Targets
from xstar.models.subset import choose
from xstar.models.surrogate import Inputs, Plain, at_full_budget, with_own_terms
from xstar.searchers.gp.settings import GPSettings
from xstar.searchers.model_based.schedule import last_refit
from xstar.searchers.model_based.shelved import shelved
from xstar.searchers.model_based.sources import SourceMeans

GROWTH = {"thorough": 4, "lean": 2}
FEWEST = 8
MOST = 200
"""The comparison is made from 8 observations on, when they have grown by a quarter or by a half, and on at most 200 of them."""

MARGIN = 3.0
"""How much higher the logarithm of the posterior has to be with the own terms: the prior is 20 to 1 for the product. With a
margin of 0, two noisy functions took noise for structure: the loss after 100 trials was 3.3 instead of 1.1, and 12.9 instead of
3.2 (one seed)."""
Pair = tuple[Plain, Plain]
"""The product alone, and with own terms."""
ROUNDING = 1e-6
"""By how much it has to be above what is needed, so that it still is after rounding."""
MOST_PARAMETERS = 20
"""With 20 to 50 parameters the evidence never favoured the terms within 100 trials, and fitting them takes long."""


@lru_cache(maxsize=16)
def pair_of(inputs: Inputs, shape: str, warp: bool, least_noise: float | None, length: Prior) -> Pair:
    """Return the surrogates at full budget; the same ones for all suggestions, so that they prepare once what they need."""
    plain = at_full_budget(inputs, shape=shape, warp=warp, least_noise=least_noise, length=length)
    return plain, with_own_terms(plain, inputs)


@dataclass(frozen=True)
class Data:
    """The data that a model is fitted to."""

    X: Array
    y: Array
    budget: Array
    spread: Callable[[Array], Array] = field(default=lambda X: X)
    """Maps ``X`` to coordinates in which distances between inputs can be measured."""
    sources: SourceMeans | None = None


@dataclass(frozen=True)
class Structure:
    """Whether the own terms are used, and the number of observations from which this was decided."""

    last: int
    own_terms: bool


def structured(
    history: History, key: Hashable, own: Pair, compared: Pair, parameters: int, data: Data, settings: GPSettings
) -> Plain:
    """Return the first of ``own``, or the surrogate with own terms where the settings or the evidence say so.

    ``compared`` are the surrogates whose evidence is compared. Their length scales are independent: with a factor in common
    the product explains sums for longer, and a Michalewicz function was no longer taken for one.
    """
    plain, rich = own
    if settings.structure == "product" or not 2 <= parameters <= MOST_PARAMETERS:
        return plain
    if settings.structure == "additive":
        return rich
    last = last_refit(len(data.y), GROWTH[settings.effort], MOST)
    if last < FEWEST:
        return plain
    kept = history.memo.get(Structure, key)
    if kept is None or kept.last != last:

        def compare() -> Array:
            X, t = observed(data, last, settings)
            rng = partial(Streams(history.seed).generator, last, "gp structure")
            needed = evidence(compared[0], X, t, rng()) + MARGIN
            return np.array([evidence(compared[1], X, t, rng(), needed) > needed], dtype=np.float64)

        made_from = (settings, last, compared[1].names, compared[1].priors, data.X[:last], data.y[:last])
        own_terms = shelved(history, "gp structure", made_from, compare)
        kept = history.memo.put(Structure(last, bool(own_terms.any())), key)
    return rich if kept.own_terms else plain


def observed(data: Data, last: int, settings: GPSettings) -> tuple[Array, Array]:
    """Return those of the first ``last`` observations that structures are compared on: inputs and targets."""
    X, y = data.X[:last], data.y[:last]
    places = choose(data.spread(X) if last > MOST else X, y, data.budget[:last], MOST)
    targets = Targets.of(y[places], straighten=settings.straighten, lower=settings.penalties == "lower")
    return X[places], targets(y[places])


def evidence(surrogate: Plain, X: Array, t: Array, rng: np.random.Generator, needed: float = np.inf) -> float:
    """Return the highest log posterior of the hyperparameters given targets ``t`` at ``X``.

    Where it is above ``needed``, that is all there is to know, and the search for it ends: its steps lead upwards only.

    Every prior is a standard normal distribution in its own units, so that their normalisation cancels between surrogates
    up to the width of the posterior (Laplace), which is left out.
    """
    found = fit(surrogate, X, t, rng, enough=needed + ROUNDING)
    return log_posterior(surrogate, found, X, t)
