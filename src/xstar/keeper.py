"""Which checkpoints stay: those a paused, waiting or running trial may still need, and those of the best few."""

from __future__ import annotations

import heapq

from sortedcontainers import SortedList

from xstar.errors import InvalidArgument
from xstar.study import Study
from xstar.trial import State

DEFAULT_CHECKPOINTS = 5
"""The best model is usually wanted, a few runners-up for an ensemble; a thousand others would fill the disk."""


class Keeper:
    """Removes checkpoints as soon as nothing can need them any more."""

    def __init__(self, study: Study, best: int) -> None:
        if isinstance(best, bool) or not isinstance(best, int) or best < 0:
            raise InvalidArgument("checkpoints", "must be a whole number of at least 0, or None", best)
        self._study = study
        self._best = best
        complete = (trial for trial in study.history.trials if trial.state is State.COMPLETE)
        ranked = heapq.nsmallest(best, ((trial.known_loss, trial.number) for trial in complete))
        self._kept: SortedList[tuple[float, int]] = SortedList(ranked)

    def tidy(self, number: int) -> None:
        """Look at a trial whose run on this machine has just ended."""
        trial = self._study.history.trials[number]
        if trial.state is State.PAUSED:
            for retired in self._study.scheduler.retired(self._study.history, trial):
                self._study.files.drop_checkpoint(retired)
        elif trial.state is State.COMPLETE:
            place = (trial.known_loss, number)
            if place not in self._kept:
                self._kept.add(place)
            while len(self._kept) > self._best:
                self._study.files.drop_checkpoint(self._kept.pop()[1])
        elif trial.state.over:
            self._study.files.drop_checkpoint(number)
