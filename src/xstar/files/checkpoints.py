"""Which checkpoints stay: those that a paused, waiting or running trial may still need, and those of the best few."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable

from sortedcontainers import SortedList

from xstar.core.checks import whole_number
from xstar.files.folders import Folders
from xstar.journal import History
from xstar.trial import State, Trial

DEFAULT_CHECKPOINTS = 5
"""The best model is usually wanted, a few runners-up for an ensemble; a thousand others would fill the disk."""

Retired = Callable[[History, Trial], Iterable[int]]
"""A scheduler's ``retired``: the paused trials that can no longer be promoted since a trial reported."""


def check_kept(checkpoints: int) -> int:
    """How many of the best trials keep their checkpoint, as a whole number."""
    return whole_number("checkpoints", checkpoints, least=0, remedy="None keeps all of them")


class Checkpoints:
    """Removes checkpoints as soon as nothing can need them any more."""

    def __init__(self, folders: Folders, history: History, retired: Retired, best: int) -> None:
        self._folders = folders
        self._history = history
        self._retired = retired
        self._best = check_kept(best)
        complete = (trial for trial in history.trials if trial.state is State.COMPLETE)
        ranked = heapq.nsmallest(self._best, ((trial.score, trial.number) for trial in complete))
        self._kept: SortedList[tuple[float, int]] = SortedList(ranked)

    def clean_up(self, number: int) -> None:
        """Look at a trial whose run on this machine has just ended."""
        trial = self._history.trials[number]
        if trial.state is State.PAUSED:
            for retired in self._retired(self._history, trial):
                self._folders.drop_checkpoint(self._history.trials[retired])
        elif trial.state is State.COMPLETE:
            place = (trial.score, number)
            if place not in self._kept:
                self._kept.add(place)
            while len(self._kept) > self._best:
                self._folders.drop_checkpoint(self._history.trials[self._kept.pop()[1]])
        elif trial.state.over:
            self._folders.drop_checkpoint(trial)
