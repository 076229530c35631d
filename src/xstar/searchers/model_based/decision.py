"""Compute one suggestion with any surrogate.

    observations → posteriors → incumbents → constraints → candidates → the best one that was not tried

The learner (``learner.py``) provides the posteriors and constraints. The acquisition function is the same for all: the
logarithm of expected improvement, averaged over posteriors and fantasies, times the probability of feasibility
(``acquisition/criterion.py``).

This module is separate from the searchers because SciPy's optimiser and LAPACK take as long to import as the rest of
xstar; it is imported when the first model is fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from xstar.acquisition.confidence import confidence_weight
from xstar.acquisition.criterion import Criterion, LogProbability
from xstar.acquisition.maximise import SMALL_SPACE, candidates, every_row, maximise
from xstar.acquisition.model import JointModel
from xstar.acquisition.thompson import JOINT_CANDIDATES, thompson_scores
from xstar.journal import History
from xstar.models.blas import single_threaded
from xstar.models.cholesky import NotPositiveDefinite
from xstar.models.kernels import Array
from xstar.searchers.model_based.away import away_from_copies
from xstar.searchers.model_based.exhaustion import REPEATED
from xstar.searchers.model_based.learner import PROBABLY, Known, Learner
from xstar.searchers.model_based.networks import NetworkEvolution, with_networks
from xstar.trial import Config, Origin, Suggestion

NAMES = {"ei": "log EI", "ucb": "-LCB", "thompson": "-draw"}
LARGE_IMPROVEMENT = 1.0
"""The improvement that exploring suggestions aim for, in standard deviations of the losses. Expected improvement keeps
refining the incumbent. Over 20 seeds of 100 trials, one such suggestion in four reduces the mean regret of Levy6 from
1.47 to 0.52 and of Ackley10 from 7.9 to 6.3, and increases that of Rosenbrock4 from 1.9 to 5.6; NAS-Bench-201
(ImageNet16) stays at 0.12, 0.11."""

MODEST_IMPROVEMENT = 0.1
"""What suggestions aim for where the best place is exhausted, in standard deviations of the losses. Compared before noise had
to be confirmed (``exhaustion.py``), on four noisy problems with six seeds: the losses after 100 trials were lower than without
the rule in 17 searches and higher in 5; with the larger of this and the noise's standard deviation, in 10 and 11."""


@dataclass
class Witness:
    """What a decision was made of. Who wants one explained puts a witness into ``history.memo`` before it is made again."""

    learner: Learner | None = None
    criterion: Criterion | None = None
    known: Known | None = None
    leading: list[tuple[Config, float]] = field(default_factory=list)
    """The best untried configurations that were compared, with their acquisition values."""


MOST_LEADING = 6
APART = 0.05
"""The share of a parameter's range by which runners-up differ: the optimiser ends at the same point from many starts."""


Order = Callable[[Array, Array], NDArray[np.intp]]
"""Maps rows and their acquisition values to their indices in the order in which they are preferred."""


def best_first(rows: Array, values: Array) -> NDArray[np.intp]:
    """Return the indices of rows in descending order of the acquisition function."""
    return np.argsort(-values, kind="stable")


def decide(learner: Learner, rng: np.random.Generator) -> Suggestion | str:
    """Return a suggestion, or the reason why there is none."""
    try:
        with single_threaded():
            return Decision(learner, rng).suggestion()
    except NotPositiveDefinite as error:
        return f"{learner.name} failed at n={learner.data.count}, {error}"


def is_noisy(learner: Learner) -> bool:
    """Return whether much of the losses is unexplained, or no model is to be had."""
    try:
        with single_threaded():
            return learner.noisy
    except NotPositiveDefinite:
        return True


def explains_nothing(learner: Learner) -> bool:
    """Return whether nearly all that losses differ by is noise to the model."""
    try:
        with single_threaded():
            return learner.explains_nothing
    except NotPositiveDefinite:
        return False


@dataclass(frozen=True)
class Decision:
    """The computation of one suggestion."""

    learner: Learner
    rng: np.random.Generator

    def suggestion(self) -> Suggestion | str:
        """Return a suggestion, or the reason why there is none."""
        learner = self.learner
        known = self._known()
        feasible = learner.constraints(self.rng, feasible_known=known.incumbents is not None)
        if known.incumbents is None and not feasible:
            return _nothing_known(learner.history)
        weight = confidence_weight(len(learner.data.cube.labels), learner.data.count)
        criterion = Criterion(
            known.models,
            known.incumbents,
            learner.lift,
            [*feasible, *learner.spacing(), *learner.beliefs(), *self._away()],
            weight if learner.acquisition == "ucb" else None,
        )
        how, criterion, found = self._chosen(criterion, known, feasible)
        if (witness := self._witness) is not None:
            witness.learner, witness.criterion, witness.known = learner, criterion, known
        return found if isinstance(found, str) else Suggestion(found[0], self._origin(known, found[1], how))

    def _chosen(
        self, plain: Criterion, known: Known, feasible: Sequence[LogProbability]
    ) -> tuple[str, Criterion, tuple[Config, float] | str]:
        """Return how the suggestion was chosen, the acquisition function that it maximises, and what was found."""
        if known.incumbents is None or not self._may_aim_higher:
            return "", plain, self._maximise(plain, known)
        order = partial(self._in_order, feasible if self.learner.safe else ())
        if self.learner.explores:
            exploring = _lowered(plain, LARGE_IMPROVEMENT)
            return "exploring", exploring, self._maximise(exploring, known, order)
        if self.learner.over_budgets:
            return "", plain, self._maximise(plain, known)
        found = self._maximise(plain, known, order)
        if not self._is_exhausted(plain, known, found):
            return "", plain, found
        beyond = _lowered(plain, MODEST_IMPROVEMENT)
        return "the best place being exhausted", beyond, self._maximise(beyond, known, order, apart=True)

    @property
    def _witness(self) -> Witness | None:
        return self.learner.history.memo.get(Witness)

    def _away(self) -> list[LogProbability]:
        learner = self.learner
        if not learner.avoids_copies or len(learner.history.levels) <= 1 or learner.data.networks:
            return []
        return away_from_copies(learner.history, learner.data)

    # ------------------------------------------------------------ posteriors and incumbents

    def _known(self) -> Known:
        learner, data = self.learner, self.learner.data
        if data.count < 2:
            return Known()
        tried = data.X[learner.answers()]
        if learner.over_budgets and len(tried):
            tried = tried[_distinct_rows(tried)]
        return learner.known(tried, self.rng)

    @property
    def _may_aim_higher(self) -> bool:
        """Whether a suggestion may aim for more than the least improvement. Not over architectures, where four runs were
        inconclusive."""
        return self.learner.acquisition == "ei" and not self.learner.data.networks

    def _in_order(self, feasible: Sequence[LogProbability], rows: Array, values: Array) -> NDArray[np.intp]:
        """Return the indices of rows, best first: those that are ``safe``, then those that would probably have a value."""
        order = best_first(rows, values)
        if not feasible:
            return order
        log_p = sum((each(rows)[0] for each in feasible), np.zeros(len(rows)))
        doubts = (log_p < np.log(self.learner.safe)).astype(int) + (log_p < np.log(PROBABLY))
        return order[np.argsort(doubts[order], kind="stable")]

    def _is_exhausted(self, plain: Criterion, known: Known, found: tuple[Config, float] | str) -> bool:
        """Whether the noise hides what there is to gain at the best place: another observation would tell nothing."""
        if isinstance(found, str):
            return False
        value = found[1]
        if plain.constraints:
            row = self.learner.data.encoded([found[0]])
            value = float(replace(plain, constraints=()).score(row)[0])
        return value < self.learner.log_exhausted(known, value)

    # ------------------------------------------------------------ maximisation of the acquisition function

    def _maximise(
        self, criterion: Criterion, known: Known, in_order: Order = best_first, *, apart: bool = False
    ) -> tuple[Config, float] | str:
        """Return the best untried configuration and its acquisition value, or the reason why there is none.

        ``apart``: one that is not next to a trial, if there is one.
        """
        learner, cube = self.learner, self.learner.data.cube
        if learner.data.networks:
            return self._evolved(criterion, known)
        promising = np.empty((0, learner.data.width)) if known.promising is None else known.promising
        listed = learner.history.space.size <= SMALL_SPACE
        if learner.acquisition == "thompson" and known.incumbents is not None:
            rows = self._untried(every_row(cube)) if listed else candidates(cube, promising, self.rng)
            rows = rows[self.rng.permutation(len(rows))[:JOINT_CANDIDATES]]
            models = [model for model in known.models if isinstance(model, JointModel)]
            values = thompson_scores(models, rows, learner.lift, criterion.constraints, self.rng)
        elif listed:
            rows = every_row(cube)
            values = criterion.score(rows)
        elif not learner.climbs:
            rows = candidates(cube, promising, self.rng)
            values = criterion.score(rows)
        else:
            gradient = criterion.with_gradient if learner.has_gradients else None
            count, by_itself = known.candidates, learner.climbs_apart
            rows, values = maximise(cube, criterion.score, gradient, promising, self.rng, count, apart=by_itself)
        return self._first_untried(rows, values, in_order(rows, values), apart)

    def _evolved(self, criterion: Criterion, known: Known) -> tuple[Config, float] | str:
        """Maximise over architectures by evolution (NASBOT, B.2)."""
        learner = self.learner
        started = len(learner.history.trials)
        starts = learner.starts if learner.data.count >= 2 else ()
        scores = with_networks(learner.data, criterion, learner.has_gradients)
        evolution = NetworkEvolution(learner.history, learner.data, scores, learner.modifiers, self.rng)
        found = evolution.maximise(starts or range(max(0, started - learner.limit), started))
        if (witness := self._witness) is not None:
            witness.leading = found[:MOST_LEADING]
        return found[0] if found else "all configurations that evolution found were tried"

    def _untried(self, rows: Array) -> Array:
        """Return those of ``rows`` that were not tried; all of them if every row was tried."""
        learner = self.learner
        places = [i for i, row in enumerate(rows) if learner.history.tried(learner.data.cube.decode(row)) is None]
        return rows[places] if places else rows

    def _first_untried(
        self, rows: Array, values: Array, order: NDArray[np.intp], apart: bool
    ) -> tuple[Config, float] | str:
        learner = self.learner
        if (witness := self._witness) is not None:
            witness.leading = self._leading(rows[order], values[order])
        tried = learner.data.tried(learner.history) if apart else rows[:0]
        beside: tuple[Config, float] | None = None
        for place in order:
            config = learner.data.cube.decode(rows[place])
            if learner.history.tried(config) is not None:
                continue
            if not (np.abs(tried - rows[place]).max(axis=1) < REPEATED).any():
                return config, float(values[place])
            beside = beside or (config, float(values[place]))
        return beside or f"all of the {len(rows)} best configurations were tried"

    def _leading(self, rows: Array, values: Array) -> list[tuple[Config, float]]:
        """Return the best untried configurations that are not next to a better one, from rows in descending order."""
        found: list[tuple[Config, float]] = []
        taken: list[Array] = []
        for row, value in zip(rows, values.tolist(), strict=True):
            if len(found) < MOST_LEADING and all(float(np.abs(row - other).max()) > APART for other in taken):
                config = self.learner.data.cube.decode(row)
                if self.learner.history.tried(config) is None:
                    found.append((config, value))
                    taken.append(row)
        return found

    def _origin(self, known: Known, value: float, how: str) -> Origin:
        learner = self.learner
        detail = (NAMES[learner.acquisition] if known.incumbents is not None else "log p") + " {value:.3g}"
        numbers = {"value": value, **known.numbers}
        if learner.acquisition_budget is not None and known.models:
            detail += " at budget {budget}"
            numbers["budget"] = round(learner.acquisition_budget * learner.history.levels[-1])
        if how:
            detail += f", {how}"
        return Origin(learner.method, detail + known.detail, **numbers)


def _lowered(criterion: Criterion, by: float) -> Criterion:
    """Return the acquisition function that asks for an improvement by at least ``by``."""
    assert criterion.incumbents is not None
    return replace(criterion, incumbents=[each - by for each in criterion.incumbents])


def _nothing_known(history: History) -> str:
    """Return the reason why there is neither a loss to improve on nor a constraint to satisfy."""
    if bounds := history.created.constraints:
        where = " at a rung" if len(history.levels) > 1 else ""
        return f"not two trials have reported {', '.join(bounds)}{where} yet"
    return "no model and no constraint yet"


def _distinct_rows(X: Array) -> NDArray[np.intp]:
    """Return the index of the first of each set of equal rows, in ascending order."""
    return np.sort(np.unique(X, axis=0, return_index=True)[1])
