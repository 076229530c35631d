"""The records of a rung that still stand: without those of trials that have diverged since (``journal/divergence.py``).

A trial that was good at a rung and diverged on its way to the next would keep a place among the best that no other can have.
Where many do, as where high learning rates are ahead until their loss explodes, hardly any trial that trains well would be
promoted. So they no longer count at the rungs below.
"""

from __future__ import annotations

from sortedcontainers import SortedList

from xstar.journal import History
from xstar.journal.divergence import Divergence

Records = SortedList[tuple[float, int]]
"""(loss, trial number), the best first."""


def all_records(history: History, budget: int, bracket: int) -> Records:
    """All records of a rung."""
    return history.rung(budget, bracket).records


class Standing:
    """A fold of the history: the rungs below the full budget without these records.

    Until a trial diverges there is nothing to keep, and the records are those of the history.
    """

    def __init__(self) -> None:
        self._diverged = 0
        self._taken = 0
        self._rungs: dict[tuple[int, int], Records] = {}
        """By budget and bracket."""

    def records(self, history: History, budget: int, bracket: int) -> Records:
        """What stands of a rung."""
        if not self._diverged:
            return all_records(history, budget, bracket)
        return self._rungs.setdefault((budget, bracket), SortedList())

    def catch_up(self, history: History) -> None:
        divergence = history.memo.fold(Divergence, history)
        if not divergence.order:
            return
        new = divergence.order[self._diverged :]
        self._diverged = len(divergence.order)
        below = history.levels[:-1]
        for number, budget, loss in history.observed[self._taken :]:
            if (bracket := history.trials[number].bracket) >= 0 and budget in below:
                self.records(history, budget, bracket).add((loss, number))
        self._taken = len(history.observed)
        for number in new:
            self._drop(history, number, divergence.at[number])

    def _drop(self, history: History, number: int, below: int) -> None:
        """Drop the records of a trial at the rungs below a budget."""
        trial = history.trials[number]
        for report in trial.reports:
            if report.budget < below and report.budget in history.levels:
                self.records(history, report.budget, trial.bracket).discard((history.loss_of(report.metrics), number))
