"""What became of trials: a value, a failure, a constraint metric; and the classifier that learns where trials fail."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from xstar.core.table import Table
from xstar.journal import History
from xstar.models.feasibility import LENGTHS, Feasibility
from xstar.searchers.model_based.columns import of_positions
from xstar.searchers.model_based.observations import Array, Observations, within
from xstar.searchers.model_based.schedule import last_refit
from xstar.trial import State, Trial


@dataclass
class Outcomes:
    """Inputs of trials with a value and without, in the order in which it was known of them; and constraint metrics."""

    evaluated: Table
    failed: Table
    """With the budget that each was to reach in one more column; 0 if none was said."""
    infeasible: Table
    """The ``failed`` ones that ended as infeasible."""
    measured: Table
    """Inputs and constraint metrics of the trials that reported all of them."""

    @classmethod
    def of(cls, history: History, data: Observations) -> Outcomes:
        """Those of ``history``, brought up to date."""
        kept = history.memo.get(Outcomes, data.in_numbers)
        if kept is None:
            widths = (data.width, data.width + 1, data.width + 1, data.width + len(history.created.constraints or ()))
            kept = history.memo.put(cls(*map(Table, widths)), data.in_numbers)
        kept._catch_up(history, data)
        return kept

    def _catch_up(self, history: History, data: Observations) -> None:
        new = list(islice(reversed(data.evaluated), len(data.evaluated) - self.evaluated.count))[::-1]
        self.evaluated.append(data.rows(history.trials[number] for number in new))
        failed = [history.trials[number] for number in data.failed[self.failed.count :]]
        aims = np.array([[each.target or 0.0] for each in failed]).reshape(-1, 1)
        rows = np.hstack([data.rows(failed), aims])
        self.failed.append(rows)
        self.infeasible.append(rows[[each.state is not State.FAILED for each in failed]])
        if history.created.constraints:
            measured = data.measured[self.measured.count :]
            values = np.array([data.evaluated[number] for number in measured])
            values = values.reshape(len(measured), len(history.created.constraints))
            self.measured.append(np.hstack([data.rows(history.trials[number] for number in measured), values]))


def feasible_places(history: History, data: Observations, places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Those of some observations that may be the answer: their trial did not fail later and keeps the constraints."""
    if data.failed:
        places = places[[number not in data.has_failed for number in data.trial[places].tolist()]]
    if history.created.constraints:
        metrics = [data.evaluated[number] for number in data.trial[places].tolist()]
        places = places[[values is not None and within(history, values) for values in metrics]]
    return places


# ---------------------------------------------------------------- where trials fail


@dataclass(frozen=True)
class ChosenLength:
    """The length scale of a classifier, and after how many trials it was chosen."""

    last: int
    length: float


@dataclass(frozen=True)
class Failures:
    """The classifier of trials with a value and trials that failed, in one decision."""

    history: History
    data: Observations
    limit: int
    """Trials that it sees, the latest ones."""
    key: Hashable
    """Under which its length scale is kept."""

    @cached_property
    def classifier(self) -> Feasibility:
        """Of what is known; its last inputs are those that failed."""
        return self.counting(())

    def counting(self, doubtful: Sequence[Trial]) -> Feasibility:
        """The classifier with ``doubtful`` trials counting as failed.

        Its length scale is chosen at counts of the schedule, from the trials that were over by then: unlike those of which
        something is known, they come in an order that never changes.
        """
        history, data, limit = self.history, self.data, self.limit
        inputs = of_positions(data)
        # The latest of both kinds, ``limit`` in all: either may fill what the other leaves of it.
        latest = list(islice(reversed(data.evaluated), limit - min(len(data.failed), limit // 2)))[::-1]
        evaluated = [number for number in latest if number not in data.has_failed]
        known = [history.trials[number] for number in (*evaluated, *data.failed[len(evaluated) - limit :])]
        X = data.positions(data.rows([*known, *doubtful]))
        feasible = np.arange(len(X)) < len(evaluated)
        return Feasibility.fit(X, feasible, inputs.groups, inputs.labels, (self._length(),))

    def _length(self) -> float:
        history, data = self.history, self.data
        last = min(last_refit(len(history.ended)), len(history.ended))
        kept = history.memo.get(ChosenLength, self.key)
        if kept is None or kept.last != last:
            inputs = of_positions(data)
            over = history.ended[max(0, last - self.limit) : last]
            X = data.positions(data.rows(history.trials[number] for number in over))
            feasible = np.array([number not in data.has_failed for number in over])
            length = Feasibility.fit(X, feasible, inputs.groups, inputs.labels, LENGTHS).length
            kept = history.memo.put(ChosenLength(last, length), self.key)
        return kept.length

    def expected(self) -> list[Trial]:
        """The trials that count as bad values: infeasible ones, and of those that failed the ones that were to be expected to.

        Not those that failed by chance: an exact bad value beside the best point makes nonsense of a model. With a tenth of the
        trials failing at random, 45 trials of a sphere in four dimensions ended at 0.001 (geometric mean of 4 seeds) instead of
        1e-6. A bad value with some noise mends that as well, but goes beyond the border of what fails 12 times in 14 if the
        optimum lies there, not 6 times.
        """
        if not self.data.failed:
            return []
        failed = [self.history.trials[number] for number in self.data.failed[-(self.limit // 2) :]]
        expected = self.classifier.without_each(len(failed)) < 0.0
        return [each for each, fails in zip(failed, expected, strict=True) if fails or each.state is State.INFEASIBLE]


def aims(history: History, trials: Sequence[Trial]) -> Array:
    """The budget that each trial runs or ran to; the full one if none was said."""
    full = history.levels[-1] if history.levels else 1
    return np.array([trial.target or full for trial in trials], dtype=np.float64)
