"""Which checkpoints stay: those that a paused, waiting or running trial may still need, and those of the best few."""

from __future__ import annotations

from collections.abc import Callable, Iterable

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
        self._kept = [trial.number for trial in history.trials if trial.state is State.COMPLETE]
        self._beyond()

    def clean_up(self, number: int) -> None:
        """Look at a trial whose run on this machine has just ended."""
        trial = self._history.trials[number]
        if trial.state is State.PAUSED:
            for retired in self._retired(self._history, trial):
                self._folders.drop_checkpoint(self._history.trials[retired])
        elif trial.state is State.COMPLETE:
            if number not in self._kept:
                self._kept.append(number)
            for dropped in self._beyond():
                self._folders.drop_checkpoint(self._history.trials[dropped])
        elif trial.state.over:
            self._folders.drop_checkpoint(trial)

    def _beyond(self) -> list[int]:
        """The trials that are not among the best any more. All of a front stay: who leaves it has left it
        for good."""
        history, most = self._history, self._best
        kept = sorted(self._kept)
        if len(kept) <= most:
            return []
        if most and len(history.fronts) >= most:
            front = set(history.fronts.in_order)
            self._kept = [number for number in kept if number in front]
            return [number for number in kept if number not in front]
        order = history.goals.ordered([history.trials[number].scores for number in kept]).tolist()
        self._kept = [kept[index] for index in order[:most]]
        return [kept[index] for index in order[most:]]
