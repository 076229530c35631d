"""Outcomes of trials (values, failures, constraint metrics), and the classifier that learns where trials fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from xstar.journal import History
from xstar.journal.trial import State, Trial
from xstar.models.feasibility import LENGTHS, Feasibility
from xstar.searchers.bo.inputs import of_positions
from xstar.searchers.bo.observations import Observations, Table, last_refit


@dataclass
class Outcomes:
    """Inputs of trials with and without a value, in the order in which that became known, and constraint metrics."""

    evaluated: Table
    failed: Table
    """The last column is the budget that each trial was to reach; 0 if none was specified."""
    infeasible: Table
    """The ``failed`` trials that ended as infeasible."""
    measured: Table
    """Inputs and constraint metrics of the trials that reported all of them."""

    @classmethod
    def of(cls, history: History, data: Observations) -> Outcomes:
        """Return the outcomes of ``history``, brought up to date."""
        kept = history.memo.get(Outcomes, data.networks_by_index)
        if kept is None:
            widths = (data.width, data.width + 1, data.width + 1, data.width + len(history.created.constraints or ()))
            kept = history.memo.put(cls(*map(Table, widths)), data.networks_by_index)
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


# ---------------------------------------------------------------- the feasibility classifier


@dataclass(frozen=True)
class ChosenLength:
    """The length scale of a classifier, and the number of trials from which it was chosen."""

    last: int
    length: float


@dataclass(frozen=True)
class Failures:
    """The classifier of trials with a value and failed trials, for one decision."""

    history: History
    data: Observations
    limit: int
    """Maximum number of trials to fit: the latest ones."""

    @cached_property
    def classifier(self) -> Feasibility:
        """The classifier of the known outcomes; its last inputs are the failed trials."""
        return self.counting(())

    def counting(self, doubtful: Sequence[Trial]) -> Feasibility:
        """Return the classifier with ``doubtful`` trials counted as failed.

        Its length scale is chosen at the counts of the schedule, from the trials that had ended by then. The order in
        which trials end never changes, unlike the order in which their first observations arrive.
        """
        history, data, limit = self.history, self.data, self.limit
        inputs = of_positions(data)
        # The latest of both kinds, ``limit`` in total: each kind may use the share that the other does not need.
        failed = data.failed
        latest = list(islice(reversed(data.evaluated), limit - min(len(failed), limit // 2)))[::-1]
        evaluated = [number for number in latest if number not in data.has_failed]
        known = [history.trials[number] for number in (*evaluated, *failed[len(evaluated) - limit :])]
        X = data.positions(data.rows([*known, *doubtful]))
        feasible = np.arange(len(X)) < len(evaluated)
        return Feasibility.fit(X, feasible, inputs.groups, inputs.labels, (self._length(),))

    def _length(self) -> float:
        history, data = self.history, self.data
        last = min(last_refit(len(history.ended)), len(history.ended))
        if not last:  # pending trials count as failed, and none is over yet
            return LENGTHS[len(LENGTHS) // 2]
        kept = history.memo.get(ChosenLength, self.limit)
        if kept is None or kept.last != last:
            inputs = of_positions(data)
            over = history.ended[max(0, last - self.limit) : last]
            X = data.positions(data.rows(history.trials[number] for number in over))
            feasible = np.array([number not in data.has_failed for number in over], dtype=bool)
            length = Feasibility.fit(X, feasible, inputs.groups, inputs.labels, LENGTHS).length
            kept = history.memo.put(ChosenLength(last, length), self.limit)
        return kept.length

    def expected(self) -> list[Trial]:
        """Return the trials that count as bad values: infeasible trials, and failures that the classifier expects.

        Random failures are excluded: an exact bad value next to the best point ruins a model. With a tenth of the
        trials failing at random, 45 trials of a sphere in four dimensions ended at 0.001 (geometric mean of 4 seeds)
        instead of 1e-6. A noisy bad value also avoids that, but if the optimum lies on the boundary of the failing
        region, 12 of 14 suggestions cross it instead of 6.
        """
        failed = [self.history.trials[number] for number in self.data.failed[-(self.limit // 2) :]]
        expected = self.classifier.without_each(len(failed)) < 0.0
        return [each for each, fails in zip(failed, expected, strict=True) if fails or each.state is State.INFEASIBLE]
