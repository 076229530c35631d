"""One suggestion with any surrogate, from top to bottom:

    data → posterior → incumbents → constraints → acquisition → candidates → the first that was not tried → origin

The acquisition function is the same for all: the logarithm of expected improvement, averaged over posteriors and fantasies,
times the probability of feasibility (``acquisition/criterion.py``). What is special to a method is in its surrogate and its
``DecisionSettings`` (``surrogate.py``).

Notation

===============  ====================================================================================  ==========
symbol           meaning                                                                               shape
===============  ====================================================================================  ==========
``tried``        encoded configurations that may be the incumbent                                      (k, width)
``models``       posteriors over which the acquisition is averaged: networks, draws of hyperparameters
``incumbents``   for each model, the loss to improve on under each fantasy                             (M,)
===============  ====================================================================================  ==========

This module and those of surrogates are imported when the first model is fitted: they load SciPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xstar.journal.trial import Done, Origin, Suggestion
from xstar.models.kernels import Array
from xstar.models.linalg import NotPositiveDefinite, single_threaded
from xstar.models.model import JointModel, Model
from xstar.searchers.acquisition.criterion import (
    Criterion,
    LogProbability,
    confidence_weight,
    log_expected_improvement,
)
from xstar.searchers.acquisition.hypervolume import HypervolumeCriterion
from xstar.searchers.acquisition.optimise import (
    CANDIDATES,
    FEWER_CANDIDATES,
    LARGE_MODEL,
    SMALL_SPACE,
    candidates,
    every_row,
    maximise,
)
from xstar.searchers.acquisition.thompson import JOINT_CANDIDATES, thompson_scores
from xstar.searchers.base import at_random
from xstar.searchers.bo.constraints import constraints_of
from xstar.searchers.bo.fronts import fronts_of
from xstar.searchers.bo.networks import NetworkEvolution, with_networks
from xstar.searchers.bo.surrogate import LOCAL_CENTRES, PROBABLY, Data, DecisionSettings, Known, Surrogate
from xstar.searchers.bo.trace import MOST_LEADING, AnyCriterion, DecisionTrace
from xstar.searchers.bo.transfer import Shifted

LARGE_IMPROVEMENT = 1.0
"""The improvement that exploring suggestions aim for, in standard deviations of the losses. Expected improvement keeps refining
the incumbent."""


def suggest(
    data: Data, surrogate: Surrogate, settings: DecisionSettings, rng: np.random.Generator
) -> Suggestion | Done:
    """Suggest what the surrogate expects most of; or a random configuration, and the reason."""
    try:
        with single_threaded():
            made = _suggested(data, surrogate, settings, rng)
    except NotPositiveDefinite as error:
        made = f"{settings.name} failed at n={data.observed.count}, {error}"
    return made if isinstance(made, Suggestion) else at_random(data.history, rng, made)


def _suggested(
    data: Data, surrogate: Surrogate, settings: DecisionSettings, rng: np.random.Generator
) -> Suggestion | str:
    history, observed, trace = data.history, data.observed, data.history.memo.get(DecisionTrace)

    # The posteriors, and what is to be improved on.
    known = known_of(data, surrogate, settings, rng) if observed.count >= 2 else Known()

    # What probably has a value and is within all bounds.
    feasible: list[LogProbability] = []
    if observed.has_failed or len(observed.measured) >= 2:
        doubtful = () if known.improvable else data.pending
        feasible = (settings.constraints or constraints_of)(data, surrogate, doubtful, rng)
    if not known.improvable and not feasible:
        return _nothing_known(data)

    # The acquisition function.
    criterion = _criterion(data, settings, known, [*feasible, *settings.terms])
    # Over architectures nothing explores: four runs that did were inconclusive.
    improves = known.improvable and settings.acquisition == "ei" and not observed.catalogues
    explores = improves and settings.explores and known.noise > settings.least_noise
    if explores:
        criterion = _lowered(criterion, LARGE_IMPROVEMENT)

    # Candidates, best first, and the first of them that was not tried.
    if observed.catalogues:
        scores = with_networks(observed, criterion, settings.has_gradients)
        evolution = NetworkEvolution(history, observed, scores, settings.modifiers, settings.exact_neighbours, rng)
        found = evolution.maximise(known.trials(observed), range(len(history.trials))[-data.most_trials :])
        if trace is not None:
            trace.leading = found[:MOST_LEADING]
        if not found:
            return "all configurations that evolution found were tried"
        config, value = found[0]
    else:
        rows, values = _candidates(data, settings, known, criterion, rng)
        order = np.argsort(-values, kind="stable")
        if improves and settings.least_probability and feasible:
            order = safe_first(
                order, sum((each(rows)[0] for each in feasible), np.zeros(len(rows))), settings.least_probability
            )
        if trace is not None:
            trace.compared(data, rows[order], values[order])
        decoded = ((observed.cube.decode(rows[index]), float(values[index])) for index in order)
        first = next((each for each in decoded if history.tried(each[0]) is None), None)
        if first is None:
            return f"all of the {len(rows)} best configurations were tried"
        config, value = first

    if trace is not None:
        trace.data, trace.settings, trace.known = data, settings, known
        trace.criterion, trace.feasible = criterion, feasible
    return Suggestion(config, _origin(data, settings, known, value, explores))


# ---------------------------------------------------------------- posteriors and incumbents


def known_of(data: Data, surrogate: Surrogate, settings: DecisionSettings, rng: np.random.Generator) -> Known:
    """Return the posteriors given what is pending, and what is to be improved on."""
    observed, goals = data.observed, data.observed.goals
    fits = [surrogate.fit(data, data.losses(goal)) for goal in range(observed.losses.shape[1])]
    fitted = fits[goals.learned[0]]
    seen = [each.seen for each in fits if each.seen is not None]
    possible = observed.feasible(data.history, np.unique(np.concatenate(seen)) if seen else None)
    tried = observed.X[possible]
    if data.over_budgets and len(tried):
        tried = tried[distinct_rows(tried)]
    waiting = data.inputs_of(data.pending if settings.pending is None else settings.pending)
    running = observed.rows(data.history.running.values() if settings.running is None else settings.running)
    if goals.several:
        return Known(fitted, **fronts_of(data, settings, fits, waiting, tried, running, rng))
    models, rows = fitted.models, tried
    everywhere = np.vstack([tried, running]) if len(tried) else tried
    if settings.ranks_pending:
        models, rows = _given(models, waiting, settings, rng), everywhere
    if not len(tried):
        return Known(fitted, models, posteriors=_unshifted(models))
    means = [model.means(data.with_budget(rows)) for model in models]
    most = settings.most_fantasised if data.over_budgets else 0
    if not settings.ranks_pending:
        order = _ranked(means)
        models = _given(models, np.vstack([waiting, data.with_budget(tried[order[:most]])]), settings, rng)
        centres = tried[order[:LOCAL_CENTRES]]
        means = [model.means(data.with_budget(everywhere)) for model in models]
    else:
        if most:
            pairs = zip(models, means, strict=True)
            models = [_fantasised(*pair, data.with_budget(rows), most, settings.fantasies, rng) for pair in pairs]
            means = [model.means(data.with_budget(rows)) for model in models]
        centres = rows[_ranked(means)[:LOCAL_CENTRES]]
    # The incumbent is the lowest posterior mean at observed and running configurations, not a lucky noisy value.
    incumbents = [each.min(axis=0) for each in means]
    if settings.lowest_observed and not data.over_budgets:
        lowest = fitted.targets(observed.loss[possible]).min()
        incumbents = [np.minimum(lowest, _drawn(model, waiting).min(axis=0, initial=np.inf)) for model in models]
    return Known(fitted, models, incumbents, centres=centres, posteriors=_unshifted(models))


def _given(
    models: Sequence[Model], pending: Array, settings: DecisionSettings, rng: np.random.Generator
) -> Sequence[Model]:
    """Condition the models on fantasies of pending inputs.

    A trial paused below the acquisition's budget can be resumed at any time, so a new configuration must improve on
    its possible outcome. That outcome is therefore pending, too (noisy expected improvement, Letham et al. 2019).
    Without this, an observation far below that budget leaves the acquisition function nearly unchanged, and almost
    the same point is suggested again and again.
    """
    return [model.fantasised(pending, settings.fantasies, rng) for model in models] if len(pending) else models


def _unshifted(models: Sequence[Model]) -> list[Model]:
    """Return the models themselves, of residuals where other studies are learned from."""
    return [each.model if isinstance(each, Shifted) else each for each in models]


def _ranked(means: Sequence[Array]) -> NDArray[np.intp]:
    """Return the order of rows by their means over all models and fantasies, lowest first."""
    return np.argsort(np.mean([each.mean(axis=1) for each in means], axis=0), kind="stable")


def _fantasised(model: Model, mean: Array, inputs: Array, most: int, fantasies: int, rng: np.random.Generator) -> Model:
    """Condition a model on fantasies of the tried configurations that may improve most on the incumbent."""
    if len(inputs) > most:
        at = model.predict(inputs)
        value, _ = log_expected_improvement(at.mean, at.variance, mean.min(axis=0))
        inputs = inputs[np.sort(np.argsort(-value, kind="stable")[:most])]
    return model.fantasised(inputs, fantasies, rng)


def _drawn(model: Model, waiting: Array) -> Array:
    """Return the drawn outcomes of pending trials (J, M), of models that have them; otherwise none: (0, 1)."""
    inner = model.model if isinstance(model, Shifted) else model
    drawn: Array | None = getattr(inner, "fantasies", None)
    if drawn is None:
        return np.empty((0, 1))
    return drawn + model.shift(waiting)[:, None] if isinstance(model, Shifted) else drawn


def distinct_rows(X: Array) -> NDArray[np.intp]:
    """Return the index of the first of each set of equal rows, in ascending order."""
    return np.sort(np.unique(X, axis=0, return_index=True)[1])


def _nothing_known(data: Data) -> str:
    """Return the reason why there is neither a loss to improve on nor a constraint to satisfy."""
    if bounds := data.history.created.constraints:
        where = " at a rung" if len(data.history.levels) > 1 else ""
        return f"not two trials have reported {', '.join(bounds)}{where} yet"
    return "no model and no constraint yet"


# ---------------------------------------------------------------- the acquisition function and its maximisation


def _criterion(
    data: Data, settings: DecisionSettings, known: Known, constraints: Sequence[LogProbability]
) -> AnyCriterion:
    if known.fronts is not None:
        assert known.reference is not None
        return HypervolumeCriterion(known.models, known.fronts, known.reference, data.with_budget, constraints)
    weight = confidence_weight(len(data.observed.cube.labels), data.observed.count)
    bound = weight if settings.acquisition == "ucb" else None
    return Criterion(known.models, known.incumbents, data.with_budget, constraints, bound)


def _lowered(criterion: AnyCriterion, by: float) -> AnyCriterion:
    """Return the acquisition function that asks for an improvement by at least ``by``."""
    if isinstance(criterion, HypervolumeCriterion):
        return replace(criterion, fronts=[[front - by for front in each] for each in criterion.fronts])
    assert criterion.incumbents is not None
    return replace(criterion, incumbents=[each - by for each in criterion.incumbents])


def _candidates(
    data: Data, settings: DecisionSettings, known: Known, criterion: AnyCriterion, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return rows of the cube and their acquisition values: all of a small space, or those that a search went through."""
    observed, cube = data.observed, data.observed.cube
    centres = np.empty((0, observed.width)) if known.centres is None else known.centres
    listed = data.history.space.size <= SMALL_SPACE
    if settings.acquisition == "thompson" and known.incumbents is not None:
        rows = every_row(cube) if listed else candidates(cube, centres, rng)
        if listed:
            untried = [i for i, row in enumerate(rows) if data.history.tried(cube.decode(row)) is None]
            rows = rows[untried] if untried else rows
        rows = rows[rng.permutation(len(rows))[:JOINT_CANDIDATES]]
        models = [model for model in known.models if isinstance(model, JointModel)]
        return rows, thompson_scores(models, rows, data.with_budget, criterion.constraints, rng)
    if listed or not settings.optimises:
        rows = every_row(cube) if listed else candidates(cube, centres, rng)
        return rows, criterion.score(rows)
    count = FEWER_CANDIDATES if known.rows >= LARGE_MODEL else CANDIDATES
    gradient = criterion.with_gradient if settings.has_gradients else None
    return maximise(cube, criterion.score, gradient, centres, rng, count)


def safe_first(order: NDArray[np.intp], log_p: Array, safe: float) -> NDArray[np.intp]:
    """Return ``order`` with those of a probability of at least ``safe`` first, then those that would probably have a value."""
    unlikely = (log_p < np.log(safe)).astype(int) + (log_p < np.log(PROBABLY))
    return order[np.argsort(unlikely[order], kind="stable")]


def _origin(data: Data, settings: DecisionSettings, known: Known, value: float, explores: bool) -> Origin:
    detail = known.acquisition(settings) + " {value:.3g}"
    numbers: dict[str, Any] = {"value": value}
    if data.over_budgets and known.models:
        detail += " at budget {budget}"
    if explores:
        detail += ", exploring"
    if (fitted := known.fitted) is None:
        detail += ", nothing is known to be feasible"
    else:
        detail, numbers = detail + fitted.detail, numbers | {"n": data.observed.count} | dict(fitted.numbers)
        if jitter := max((getattr(each, "jitter", 0.0) for each in known.posteriors), default=0.0):
            detail += ", not positive definite: {jitter:.0e} added to the diagonal"
            numbers["jitter"] = jitter
        if fitted.weight is not None:
            detail += ", sources weigh {weight:.2g}"
            numbers["weight"] = fitted.weight
    if data.over_budgets and known.models:
        numbers["budget"] = round(data.acquisition_budget * data.history.levels[-1])
    return Origin(settings.name, detail, **numbers)
