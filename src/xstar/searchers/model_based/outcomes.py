"""Which trials have a value and which have none, and their bounded metrics, as tables that grow with a history."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from xstar.journal import History
from xstar.searchers.model_based.observations import Array, Observations
from xstar.trial import State


@dataclass
class Table:
    """Rows that are only ever appended: amortised O(1) for each."""

    count: int = 0
    _rows: Array | None = None

    @property
    def rows(self) -> Array:
        assert self._rows is not None
        return self._rows[: self.count]

    def append(self, rows: Array) -> None:
        """Some more."""
        need = self.count + len(rows)
        if self._rows is None or need > len(self._rows):
            grown = np.empty((max(64, 2 * need), rows.shape[1]))
            if self._rows is not None:
                grown[: self.count] = self.rows
            self._rows = grown
        self._rows[self.count : need] = rows
        self.count = need


@dataclass
class Settled:
    """Trials with a value and without, as tables of inputs in the order in which it was known of them; and bounded metrics."""

    whole: Table = field(default_factory=Table)
    broken: Table = field(default_factory=Table)
    """With the budget that each was to reach in one more column; 0 if none was said."""
    infeasible: Table = field(default_factory=Table)
    """The ``broken`` ones that did not fail."""
    told: Table = field(default_factory=Table)
    """Inputs and constraint metrics of the trials that reported all of them."""

    @classmethod
    def of(cls, history: History, data: Observations) -> Settled:
        """Those of ``history``, brought up to date."""
        kept = history.memo.get(Settled, data.in_numbers) or history.memo.put(cls(), data.in_numbers)
        new = list(islice(reversed(data.whole), len(data.whole) - kept.whole.count))[::-1]
        kept.whole.append(data.rows(history.trials[number] for number in new))
        broken = [history.trials[number] for number in data.broken[kept.broken.count :]]
        rows = np.hstack([data.rows(broken), np.array([[each.target or 0.0] for each in broken]).reshape(-1, 1)])
        failed = np.array([each.state is State.FAILED for each in broken], dtype=bool)
        kept.broken.append(rows)
        kept.infeasible.append(rows[~failed])
        if history.created.constraints:
            told = data.told[kept.told.count :]
            values = np.array([data.whole[number] for number in told])
            values = values.reshape(len(told), len(history.created.constraints))
            kept.told.append(np.hstack([data.rows(history.trials[number] for number in told), values]))
        return kept
