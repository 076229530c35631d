"""The runs of trials that this program holds, with their leases; and those that other programs have left.

A program that died, or gave no sign of life for too long, leaves its runs behind. They are recorded as lost, so that somebody
runs them again.
"""

from __future__ import annotations

from collections.abc import Callable

from xstar.core.reasons import shortened
from xstar.journal import Journal, SharedJournal, events as ev
from xstar.storage.heartbeat import Heartbeat
from xstar.study.ledger import Ledger
from xstar.trial import State, Trial


class Leases:
    """Which trials this program runs, and in which attempt."""

    def __init__(
        self, ledger: Ledger, journal: Journal, clock: Callable[[], float], stopwatch: Callable[[], float]
    ) -> None:
        self.attempts: dict[int, int] = {}
        """Trial → attempt."""
        self.last: dict[int, int] = {}
        """The same of all trials that it ever ran: the last attempt."""
        self.heartbeat = Heartbeat.of(journal, self.attempts, clock, stopwatch)
        self._ledger = ledger
        self._shared = journal if isinstance(journal, SharedJournal) else None
        self._clock = clock

    def take(self, trial: Trial) -> None:
        """This program runs a trial from now on."""
        self.attempts[trial.number] = self.last[trial.number] = trial.attempt
        if self.heartbeat is not None:
            self.heartbeat.start()

    def ran(self, trial: Trial) -> bool:
        """Whether it was this program that ran the last attempt of a trial."""
        return self.last.get(trial.number) == trial.attempt

    def attempt(self, trial: Trial) -> int:
        """Which attempt a report of this program is about."""
        return self.attempts.get(trial.number, trial.attempt)

    def forget(self, number: int, attempt: int) -> None:
        """A run has ended."""
        if self.attempts.get(number) == attempt:  # a trial promoted at once may have a newer run here
            del self.attempts[number]

    def release(self, reason: str, trial: int | None = None) -> None:
        """Give up all runs, or that of one trial, on purpose."""
        with self._ledger.lock:
            given_up = {number: attempt for number, attempt in self.attempts.items() if trial in (None, number)}
            for number, attempt in given_up.items():
                self._lose(number, shortened(reason), attempt, released=True, may_live=False)
                del self.attempts[number]

    def reclaim_if_due(self) -> None:
        """From time to time: :meth:`reclaim`."""
        if self.heartbeat is not None and self.heartbeat.due():
            self.reclaim()

    def reclaim(self) -> None:
        """Record as lost what other programs have left."""
        if self._shared is not None:
            with self._ledger.lock:
                for number, reason, attempt, may_live in self._abandoned(self._shared):
                    self._lose(number, reason, attempt, released=False, may_live=may_live)

    def _abandoned(self, journal: SharedJournal) -> list[tuple[int, str, int, bool]]:
        """Trial, reason, attempt, and whether its holder may live; if there are any, the history holds what there is."""
        ledger = self._ledger
        if ledger.is_behind and not journal.abandoned(self._clock(), None):
            return []  # all leases are alive: no reason to read what was left unread
        ledger.catch_up()
        # Noted before the leases are read: a run that someone starts in between is none of those found dead.
        runs = {number: trial.attempt for number, trial in ledger.history.running.items()}
        found = journal.abandoned(self._clock(), runs)
        # A lease comes and goes with its run: a run without one has ended since, or is nobody's.
        ledger.catch_up()
        return [(number, reason, runs[number], may_live) for number, reason, may_live in found]

    def _lose(self, number: int, reason: str, attempt: int, *, released: bool, may_live: bool) -> None:
        def event() -> ev.Lost | None:
            trial = self._ledger.history.trials[number]
            if trial.state is not State.RUNNING or trial.attempt != attempt:
                return None  # someone ended or lost it before
            return ev.Lost(number, reason, self._clock(), attempt, released, may_live)

        self._ledger.settle(event)

    def close(self) -> None:
        """Stop renewing leases."""
        if self.heartbeat is not None:
            self.heartbeat.stop()
