"""What a history keeps of the rungs of a scheduler's ladder."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from sortedcontainers import SortedList

from xstar.core.goals import DEFAULT, Goals, Losses
from xstar.trial import Trial


class Rung:
    """The records at one budget, kept in order: (loss, trial number), so ties go to the earlier trial."""

    __slots__ = ("closed", "dropped", "paused", "records")

    def __init__(self) -> None:
        self.closed = 0
        """Trials that ended at this very budget, and so cannot go on from it."""
        self.dropped = 0
        """Trials on their way here that ended before: they failed, or their objective had nothing more to train."""
        self.records: SortedList[tuple[Any, int]] = SortedList()
        """Every trial that reported at this budget."""
        self.paused: SortedList[tuple[Any, int]] = SortedList()
        """Those of them that pause here."""

    def promising(self, places: int) -> int | None:
        """The best trial that pauses here, if it is among the best ``places`` records or equal to one of them."""
        if not self.paused or not places:
            return None
        loss, number = self.paused[0]
        return number if loss <= self.records[places - 1][0] else None

    def would_stand(self, losses: Losses, places: int) -> bool:
        """Whether a trial with these losses, which are no record yet, would be among the first ``places`` with itself."""
        # One look-up and one comparison: finding its rank compares it with twenty records, each a miss of the cache among a
        # million (87,000 against 359,000 verdicts/s).
        return bool(losses[0] <= self.records[places - 1][0])

    def standing(self) -> list[int]:
        """The trials that pause here, best first."""
        return [number for _, number in self.paused]

    def rank(self, trial: int) -> int:
        """How many records stand before that of a trial, without those that are equal to it."""
        loss = next(loss for loss, number in self.records if number == trial)
        return self.records.bisect_left((loss, -1))


class RungOfFronts(Rung):
    """The same for several objectives. Records stand by fronts (``core/pareto.py``): an order that changes with every record,
    and is therefore made when somebody asks for it."""

    __slots__ = ("_goals", "_order")

    def __init__(self, goals: Goals) -> None:
        super().__init__()
        self._goals = goals
        self._order: list[tuple[Losses, int]] = []

    @property
    def _ordered(self) -> list[tuple[Losses, int]]:
        if len(self._order) != len(self.records):
            records = list(self.records)
            order = self._goals.ordered([losses for losses, _ in records])
            self._order = [records[place] for place in order.tolist()]
        return self._order

    def promising(self, places: int) -> int | None:
        if not self.paused:
            return None
        return next((record[1] for record in self._ordered[:places] if record in self.paused), None)

    def would_stand(self, losses: Losses, places: int) -> bool:
        order = self._goals.ordered([*(own for own, _ in self.records), losses])
        return len(self.records) in order[:places].tolist()

    def standing(self) -> list[int]:
        return [record[1] for record in self._ordered if record in self.paused]

    def rank(self, trial: int) -> int:
        return next(place for place, (_, number) in enumerate(self._ordered) if number == trial)


class Rungs:
    """All rungs, of every bracket. A trial of no bracket (one that was added) is compared with none."""

    __slots__ = ("_above", "by_place", "goals", "levels", "touched")

    def __init__(self, levels: tuple[int, ...]) -> None:
        self.levels = levels
        self.goals = DEFAULT
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

    def record(self, trial: Trial, budget: int, losses: Losses) -> None:
        """A trial reported at a rung."""
        if trial.bracket >= 0:
            self._of(trial, budget).records.add((self._key(losses), trial.number))
            self.touched.append(trial.bracket)

    def pause(self, trial: Trial) -> None:
        """A trial pauses where it reported last."""
        self._of(trial, trial.budget).paused.add((self._key(trial.known_losses), trial.number))

    def resume(self, trial: Trial) -> None:
        """A trial that paused runs again."""
        self.at(trial.budget, trial.bracket).paused.discard((self._key(trial.known_losses), trial.number))

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
            rung = RungOfFronts(self.goals) if self.goals.several else Rung()
            self.by_place[trial.bracket, budget] = rung
        return rung

    def _key(self, losses: Losses) -> float | Losses:
        return losses if self.goals.several else losses[0]


_EMPTY = Rung()
