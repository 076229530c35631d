"""The trials of a history, by state."""

from __future__ import annotations

from xstar.journal.state import State
from xstar.journal.trial import Trial


class TrialsByState:
    """The trials of a history that may still change, by number, and how many are in each state: the one place that changes
    it."""

    __slots__ = ("_counts", "_members", "paused", "running", "waiting")

    def __init__(self) -> None:
        self.running: dict[int, Trial] = {}
        self.paused: dict[int, Trial] = {}
        self.waiting: dict[int, Trial] = {}
        self._counts: dict[State, int] = dict.fromkeys(State, 0)
        self._members = {State.RUNNING: self.running, State.PAUSED: self.paused, State.WAITING: self.waiting}

    def count(self, *states: State) -> int:
        """How many trials are in any of ``states``."""
        return sum(self._counts[state] for state in states)

    def begin(self, trial: Trial) -> None:
        """A new trial runs."""
        self.running[trial.number] = trial
        self._counts[State.RUNNING] += 1

    def move(self, trial: Trial, state: State) -> None:
        """A trial changes its state."""
        self._counts[trial.state] -= 1
        self._counts[state] += 1
        if (old := self._members.get(trial.state)) is not None:
            old.pop(trial.number, None)
        if (new := self._members.get(state)) is not None:
            new[trial.number] = trial
        trial.state = state
