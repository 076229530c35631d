"""What a history keeps of the rungs of a scheduler's ladder."""

from __future__ import annotations

from itertools import pairwise

from sortedcontainers import SortedList

from xstar.trial import Trial


class Rung:
    """The records at one budget, kept in order: (loss, trial number), so ties go to the earlier trial."""

    __slots__ = ("closed", "dropped", "paused", "records")

    def __init__(self) -> None:
        self.closed = 0
        """Trials that ended at this very budget, and so cannot go on from it."""
        self.dropped = 0
        """Trials on their way here that ended before: they failed, or their objective had nothing more to train."""
        self.records: SortedList[tuple[float, int]] = SortedList()
        """Every trial that reported at this budget."""
        self.paused: SortedList[tuple[float, int]] = SortedList()
        """Those of them that pause here."""


class Rungs:
    """All rungs, of every bracket. A trial of no bracket (one that was added) is compared with none."""

    __slots__ = ("_above", "by_place", "levels", "touched")

    def __init__(self, levels: tuple[int, ...]) -> None:
        self.levels = levels
        self.by_place: dict[tuple[int, int], Rung] = {}
        """By bracket and budget, those that a trial has reached or was on its way to."""
        self.touched: list[int] = []
        """The bracket of every trial that reached a rung or ended, in that order."""
        self._above = dict(pairwise(levels))

    def at(self, budget: int, bracket: int) -> Rung:
        """The rung of a budget in a bracket, to look at."""
        return self.by_place.get((bracket, budget), _EMPTY)

    def above(self, trial: Trial) -> int | None:
        """Where a trial that goes on at its target trains to next."""
        return None if trial.target is None else self._above.get(trial.target, trial.target)

    def record(self, trial: Trial, budget: int, loss: float) -> None:
        """A trial reported at a rung."""
        if trial.bracket >= 0:
            self._of(trial, budget).records.add((loss, trial.number))
            self.touched.append(trial.bracket)

    def pause(self, trial: Trial) -> None:
        """A trial pauses where it reported last."""
        self._of(trial, trial.budget).paused.add((trial.known_loss, trial.number))

    def resume(self, trial: Trial) -> None:
        """A trial that paused runs again."""
        self.at(trial.budget, trial.bracket).paused.discard((trial.known_loss, trial.number))

    def end(self, trial: Trial) -> None:
        """A trial is over: at its target, or on its way there."""
        if self.levels and trial.target is not None and trial.bracket >= 0:
            rung = self._of(trial, trial.target)
            if trial.budget < trial.target:
                rung.dropped += 1
            else:
                rung.closed += 1
            self.touched.append(trial.bracket)

    def _of(self, trial: Trial, budget: int) -> Rung:
        rung = self.by_place.get((trial.bracket, budget))
        if rung is None:
            rung = self.by_place[trial.bracket, budget] = Rung()
        return rung


_EMPTY = Rung()
