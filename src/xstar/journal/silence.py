"""Rungs that say nothing: the losses of all trials there are the same, or differ by little more than noise.

Accuracy may be at chance for the first epochs, a reward around 0, the learning rate still warming up. What differs there is
noise, and neither a comparison at such a rung nor a model of its losses tells which trial will be good. That it was noise, the
rungs above tell. A rung with ``FEWEST`` trials or more says nothing if all their losses are *equal*, or if it is *narrow*:

    s(rung) < ``NARROW`` · s(a higher rung with at least ``FEWEST_ABOVE`` trials),    s = q_0.75 − q_0

where q_p is the p-quantile of the losses there, of trials that had not diverged. The lowest loss is one end of it, because a
few trials that have got ahead of all others say something. On the development tasks of ``benchmarks/budgets.py`` s is 0.37 of
that above or more, mostly more than it (three seeds); where the first epochs are at chance, give or take 0.005, it is 0.03 to
0.07.
"""

from __future__ import annotations

from sortedcontainers import SortedList

from xstar.journal.divergence import Divergence, most_lie_behind
from xstar.journal.history import History

FEWEST = 9
"""η² with the usual η."""
FEWEST_ABOVE = 4
NARROW = 0.15


class Silence:
    """A fold of the history: the losses at each rung."""

    def __init__(self) -> None:
        self._taken = 0
        self._losses: dict[int, SortedList[float]] = {}
        self._levels: tuple[int, ...] = ()

    @property
    def rungs(self) -> frozenset[int]:
        """The rungs that say nothing; never the full budget."""
        return frozenset(level for level in self._levels[:-1] if self._has_equal(level) or self.is_narrow(level))

    def catch_up(self, history: History) -> None:
        observed, self._levels = history.observed, history.levels
        if self._taken == len(observed):
            return
        diverged = history.memo.fold(Divergence, history).at
        for number, budget, loss in observed[self._taken :]:
            if budget in self._levels and budget < diverged.get(number, budget + 1):
                self._losses.setdefault(budget, SortedList()).add(loss)
        self._taken = len(observed)

    def is_narrow(self, level: int) -> bool:
        """Whether losses at a rung differ by little more than noise, but do."""
        losses = self._losses.get(level)
        if losses is None or len(losses) < FEWEST or losses[0] == losses[-1]:
            return False
        own = most_lie_behind(losses)
        above = (self._losses[each] for each in self._levels if each > level and each in self._losses)
        return any(own < NARROW * most_lie_behind(each) for each in above if len(each) >= FEWEST_ABOVE)

    def _has_equal(self, level: int) -> bool:
        losses = self._losses.get(level)
        return losses is not None and len(losses) >= FEWEST and bool(losses[0] == losses[-1])
