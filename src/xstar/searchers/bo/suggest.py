"""One suggestion with any surrogate, from top to bottom:

    data → posterior → incumbents → constraints → acquisition → candidates → the first that was not tried → origin

The acquisition function is the same for all: the logarithm of expected improvement, averaged over posteriors and fantasies,
times the probability of feasibility (``acquisition/criterion.py``). What is special to a method is in its surrogate and its
``Settings`` (``surrogate.py``).

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
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xstar.journal.trial import Config, Done, Origin, Suggestion
from xstar.models.kernels import Array
from xstar.models.linalg import NotPositiveDefinite, single_threaded
from xstar.models.model import JointModel
from xstar.searchers.acquisition.criterion import (
    Criterion,
    LogProbability,
    confidence_weight,
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
from xstar.searchers.bo.incumbents import known_of
from xstar.searchers.bo.networks import NetworkEvolution, with_networks
from xstar.searchers.bo.surrogate import PROBABLY, Data, Known, Settings, Surrogate

LARGE_IMPROVEMENT = 1.0
"""The improvement that exploring suggestions aim for, in standard deviations of the losses. Expected improvement keeps refining
the incumbent."""
MOST_LEADING = 6
APART = 0.05
"""The share of a parameter's range by which runners-up differ: the optimiser ends at the same point from many starts."""

AnyCriterion = Criterion | HypervolumeCriterion


@dataclass
class DecisionTrace:
    """What a decision was made of. Who wants one explained puts a trace into ``history.memo`` before it is made again."""

    data: Data | None = None
    settings: Settings | None = None
    known: Known | None = None
    criterion: AnyCriterion | None = None
    feasible: Sequence[LogProbability] = ()
    """The models of constraints, and of what fails."""
    leading: list[tuple[Config, float]] = field(default_factory=list)
    """The best untried configurations that were compared, with their acquisition values."""

    @property
    def thompson(self) -> bool:
        """Whether candidates were compared by a draw of the function."""
        return self.settings is not None and self.settings.acquisition == "thompson"


def suggest(data: Data, surrogate: Surrogate, settings: Settings, rng: np.random.Generator) -> Suggestion | Done:
    """Suggest what the surrogate expects most of; or a random configuration, and the reason."""
    try:
        with single_threaded():
            made = _suggested(data, surrogate, settings, rng)
    except NotPositiveDefinite as error:
        made = f"{settings.name} failed at n={data.observed.count}, {error}"
    return made if isinstance(made, Suggestion) else at_random(data.history, rng, made)


def _suggested(data: Data, surrogate: Surrogate, settings: Settings, rng: np.random.Generator) -> Suggestion | str:
    history, observed = data.history, data.observed
    trace = history.memo.get(DecisionTrace)

    # The posteriors, and what is to be improved on.
    known = known_of(data, surrogate, settings, rng) if observed.count >= 2 else Known()

    # What probably has a value and is within all bounds.
    feasible = (settings.constraints or constraints_of)(data, surrogate, () if known.improvable else data.pending, rng)
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
        found = _evolved(data, settings, known, criterion, rng)
        if trace is not None:
            trace.leading = found[:MOST_LEADING]
        if not found:
            return "all configurations that evolution found were tried"
        config, value = found[0]
    else:
        rows, values = _candidates(data, settings, known, criterion, rng)
        order = np.argsort(-values, kind="stable")
        if improves and settings.safe and feasible:
            order = safe_first(order, sum((each(rows)[0] for each in feasible), np.zeros(len(rows))), settings.safe)
        if trace is not None:
            trace.leading = _leading(data, rows[order], values[order])
        decoded = ((observed.cube.decode(rows[index]), float(values[index])) for index in order)
        first = next((each for each in decoded if history.tried(each[0]) is None), None)
        if first is None:
            return f"all of the {len(rows)} best configurations were tried"
        config, value = first

    if trace is not None:
        trace.data, trace.settings, trace.known = data, settings, known
        trace.criterion, trace.feasible = criterion, feasible
    return Suggestion(config, _origin(data, settings, known, value, explores))


def _nothing_known(data: Data) -> str:
    """Return the reason why there is neither a loss to improve on nor a constraint to satisfy."""
    if bounds := data.history.created.constraints:
        where = " at a rung" if len(data.history.levels) > 1 else ""
        return f"not two trials have reported {', '.join(bounds)}{where} yet"
    return "no model and no constraint yet"


# ---------------------------------------------------------------- the acquisition function and its maximisation


def _criterion(data: Data, settings: Settings, known: Known, constraints: Sequence[LogProbability]) -> AnyCriterion:
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
    data: Data, settings: Settings, known: Known, criterion: AnyCriterion, rng: np.random.Generator
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


def _evolved(
    data: Data, settings: Settings, known: Known, criterion: AnyCriterion, rng: np.random.Generator
) -> list[tuple[Config, float]]:
    """Maximise over architectures by evolution (NASBOT, B.2)."""
    observed, started = data.observed, len(data.history.trials)
    starts: Sequence[int] = ()
    if known.fitted is not None:
        starts = np.unique(observed.trial if known.fitted.seen is None else observed.trial[known.fitted.seen]).tolist()
    scores = with_networks(observed, criterion, settings.has_gradients)
    options = settings.modifiers, settings.exact_neighbours
    evolution = NetworkEvolution(data.history, observed, scores, *options, rng)
    return evolution.maximise(starts, range(max(0, started - data.limit), started))


def safe_first(order: NDArray[np.intp], log_p: Array, safe: float) -> NDArray[np.intp]:
    """Return ``order`` with those of a probability of at least ``safe`` first, then those that would probably have a value."""
    unlikely = (log_p < np.log(safe)).astype(int) + (log_p < np.log(PROBABLY))
    return order[np.argsort(unlikely[order], kind="stable")]


def _leading(data: Data, rows: Array, values: Array) -> list[tuple[Config, float]]:
    """Return the best untried configurations that are not next to a better one, from rows in descending order."""
    found: list[tuple[Config, float]] = []
    taken: list[Array] = []
    for row, value in zip(rows, values.tolist(), strict=True):
        if len(found) < MOST_LEADING and all(float(np.abs(row - other).max()) > APART for other in taken):
            config = data.observed.cube.decode(row)
            if data.history.tried(config) is None:
                found.append((config, value))
                taken.append(row)
    return found


def _origin(data: Data, settings: Settings, known: Known, value: float, explores: bool) -> Origin:
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
