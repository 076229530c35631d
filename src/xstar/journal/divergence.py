"""Trials that diverged: their loss rose so far from one rung to a later one that what they had reported before says nothing.

A training may do well until its loss explodes, or falls back to that of chance, and go on to report. A trial counts as diverged
if its loss has risen since its last rung by more than most trials lie behind the best:

    y_(k+1) − y_k > q_0.75 − q_0

where q_p is the p-quantile of all losses observed before, at any rung, of trials that had not diverged. There are at least
``LEAST`` of them, and they are not all equal. The upper quartile stands for the largest loss, which may be anything. In 200
searches of the development tasks of ``benchmarks/budgets.py`` three had such a trial.
"""

from __future__ import annotations

import math

from sortedcontainers import SortedList

from xstar.journal.history import History

LEAST = 4
"""The first trials that go up are among the first to diverge. With 9 instead, searches that differed ended lower in 6 and
higher in 11 (seven kinds of ``benchmarks/kinds.py``, 13 seeds; not on record)."""
QUARTILE = 0.75


class Divergence:
    """A fold of the history: which trials diverged, and where."""

    def __init__(self) -> None:
        self.at: dict[int, int] = {}
        """The budget of the first report after it, for each diverged trial."""
        self.order: list[int] = []
        """These trials, in the order in which they diverged."""
        self._taken = 0
        self._before: dict[int, float] = {}
        self._losses: SortedList[float] = SortedList()

    def catch_up(self, history: History) -> None:
        observed = history.observed
        if len(history.levels) < 2:
            return
        for place in range(self._taken, len(observed)):
            number, budget, loss = observed[place]
            if number in self.at:
                continue
            before = self._before.get(number)
            if before is not None and loss > before and loss - before > self._usual:
                self.at[number] = budget
                self.order.append(number)
            else:
                self._before[number] = loss
                self._losses.add(loss)
        self._taken = len(observed)

    @property
    def _usual(self) -> float:
        return (most_lie_behind(self._losses) or math.inf) if len(self._losses) >= LEAST else math.inf


def most_lie_behind(losses: SortedList[float]) -> float:
    """How far three quarters of the losses lie behind the best, at most."""
    return float(losses[int(QUARTILE * (len(losses) - 1))] - losses[0])
