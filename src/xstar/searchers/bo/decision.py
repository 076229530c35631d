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

from xstar.journal import History
from xstar.journal.trial import Config, Origin, Suggestion
from xstar.models.kernels import Array
from xstar.models.linalg import NotPositiveDefinite, single_threaded
from xstar.models.model import JointModel
from xstar.searchers.acquisition.criterion import Criterion, LogProbability, confidence_weight
from xstar.searchers.acquisition.hypervolume import HypervolumeCriterion
from xstar.searchers.acquisition.optimise import SMALL_SPACE, candidates, every_row, maximise
from xstar.searchers.acquisition.thompson import JOINT_CANDIDATES, thompson_scores
from xstar.searchers.bo.learner import PROBABLY, AcquisitionInputs, Learner
from xstar.searchers.bo.networks import NetworkEvolution, with_networks

LARGE_IMPROVEMENT = 1.0
"""The improvement that exploring suggestions aim for, in standard deviations of the losses. Expected improvement keeps refining
the incumbent."""


@dataclass
class DecisionTrace:
    """What a decision was made of. Who wants one explained puts a trace into ``history.memo`` before it is made again."""

    learner: Learner | None = None
    criterion: AnyCriterion | None = None
    inputs: AcquisitionInputs | None = None
    feasible: Sequence[LogProbability] = ()
    """The models of constraints, and of what fails."""
    leading: list[tuple[Config, float]] = field(default_factory=list)
    """The best untried configurations that were compared, with their acquisition values."""


MOST_LEADING = 6
APART = 0.05
"""The share of a parameter's range by which runners-up differ: the optimiser ends at the same point from many starts."""


AnyCriterion = Criterion | HypervolumeCriterion
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


@dataclass(frozen=True)
class Decision:
    """The computation of one suggestion."""

    learner: Learner
    rng: np.random.Generator

    def suggestion(self) -> Suggestion | str:
        """Return a suggestion, or the reason why there is none."""
        learner = self.learner
        inputs = self._inputs()
        feasible = learner.constraints(self.rng, feasible_known=inputs.improvable)
        if not inputs.improvable and not feasible:
            return _nothing_known(learner.history)
        criterion = self._criterion(inputs, [*feasible, *learner.spacing(), *learner.user_prior()])
        # Over architectures nothing explores: four runs that did were inconclusive.
        improves = inputs.improvable and learner.acquisition == "ei" and not learner.data.catalogues
        explores = improves and learner.explores
        if explores:
            criterion = _lowered(criterion, LARGE_IMPROVEMENT)
        order = partial(self._safe_first, feasible) if improves and learner.safe else best_first
        found = self._maximise(criterion, inputs, order)
        if (trace := self._trace) is not None:
            trace.learner, trace.criterion, trace.inputs, trace.feasible = learner, criterion, inputs, feasible
        return found if isinstance(found, str) else Suggestion(found[0], self._origin(inputs, found[1], explores))

    def _criterion(self, inputs: AcquisitionInputs, constraints: Sequence[LogProbability]) -> AnyCriterion:
        learner = self.learner
        if inputs.fronts is not None:
            assert inputs.reference is not None
            return HypervolumeCriterion(
                inputs.models, inputs.fronts, inputs.reference, learner.with_budget, constraints
            )
        weight = confidence_weight(len(learner.data.cube.labels), learner.data.count)
        bound = weight if learner.acquisition == "ucb" else None
        return Criterion(inputs.models, inputs.incumbents, learner.with_budget, constraints, bound)

    @property
    def _trace(self) -> DecisionTrace | None:
        return self.learner.history.memo.get(DecisionTrace)

    # ------------------------------------------------------------ posteriors and incumbents

    def _inputs(self) -> AcquisitionInputs:
        learner, data = self.learner, self.learner.data
        if data.count < 2:
            return AcquisitionInputs()
        tried = data.X[learner.possible_incumbents()]
        if learner.over_budgets and len(tried):
            tried = tried[_distinct_rows(tried)]
        return learner.acquisition_inputs(tried, self.rng)

    def _safe_first(self, feasible: Sequence[LogProbability], rows: Array, values: Array) -> NDArray[np.intp]:
        """Return the indices of rows, best first: those that are ``safe``, then those that would probably have a value."""
        order = best_first(rows, values)
        if not feasible:
            return order
        log_p = sum((each(rows)[0] for each in feasible), np.zeros(len(rows)))
        unlikely = (log_p < np.log(self.learner.safe)).astype(int) + (log_p < np.log(PROBABLY))
        return order[np.argsort(unlikely[order], kind="stable")]

    # ------------------------------------------------------------ maximisation of the acquisition function

    def _maximise(
        self, criterion: AnyCriterion, inputs: AcquisitionInputs, in_order: Order = best_first
    ) -> tuple[Config, float] | str:
        """Return the best untried configuration and its acquisition value, or the reason why there is none."""
        learner, cube = self.learner, self.learner.data.cube
        if learner.data.catalogues:
            return self._evolved(criterion, inputs)
        centres = np.empty((0, learner.data.width)) if inputs.centres is None else inputs.centres
        listed = learner.history.space.size <= SMALL_SPACE
        if learner.acquisition == "thompson" and inputs.incumbents is not None:
            rows = self._untried(every_row(cube)) if listed else candidates(cube, centres, self.rng)
            rows = rows[self.rng.permutation(len(rows))[:JOINT_CANDIDATES]]
            models = [model for model in inputs.models if isinstance(model, JointModel)]
            values = thompson_scores(models, rows, learner.with_budget, criterion.constraints, self.rng)
        elif listed or not learner.optimises:
            rows = every_row(cube) if listed else candidates(cube, centres, self.rng)
            values = criterion.score(rows)
        else:
            gradient = criterion.with_gradient if learner.has_gradients else None
            rows, values = maximise(cube, criterion.score, gradient, centres, self.rng, inputs.candidates)
        return self._first_untried(rows, values, in_order(rows, values))

    def _evolved(self, criterion: AnyCriterion, inputs: AcquisitionInputs) -> tuple[Config, float] | str:
        """Maximise over architectures by evolution (NASBOT, B.2)."""
        learner = self.learner
        started = len(learner.history.trials)
        starts = learner.starts if learner.data.count >= 2 else ()
        scores = with_networks(learner.data, criterion, learner.has_gradients)
        options = learner.modifiers, learner.exact_neighbours
        evolution = NetworkEvolution(learner.history, learner.data, scores, *options, self.rng)
        found = evolution.maximise(starts or range(max(0, started - learner.limit), started))
        if (trace := self._trace) is not None:
            trace.leading = found[:MOST_LEADING]
        return found[0] if found else "all configurations that evolution found were tried"

    def _untried(self, rows: Array) -> Array:
        """Return those of ``rows`` that were not tried; all of them if every row was tried."""
        learner = self.learner
        indices = [i for i, row in enumerate(rows) if learner.history.tried(learner.data.cube.decode(row)) is None]
        return rows[indices] if indices else rows

    def _first_untried(self, rows: Array, values: Array, order: NDArray[np.intp]) -> tuple[Config, float] | str:
        learner = self.learner
        if (trace := self._trace) is not None:
            trace.leading = self._leading(rows[order], values[order])
        for index in order:
            config = learner.data.cube.decode(rows[index])
            if learner.history.tried(config) is None:
                return config, float(values[index])
        return f"all of the {len(rows)} best configurations were tried"

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

    def _origin(self, inputs: AcquisitionInputs, value: float, explores: bool) -> Origin:
        learner = self.learner
        detail = (inputs.named(learner.acquisition) if inputs.improvable else "log p") + " {value:.3g}"
        numbers = {"value": value, **inputs.numbers}
        if learner.acquisition_budget is not None and inputs.models:
            detail += " at budget {budget}"
            numbers["budget"] = round(learner.acquisition_budget * learner.history.levels[-1])
        if explores:
            detail += ", exploring"
        return Origin(learner.method, detail + inputs.detail, **numbers)


def _lowered(criterion: AnyCriterion, by: float) -> AnyCriterion:
    """Return the acquisition function that asks for an improvement by at least ``by``."""
    if isinstance(criterion, HypervolumeCriterion):
        return replace(criterion, fronts=[[front - by for front in each] for each in criterion.fronts])
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
