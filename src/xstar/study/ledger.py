"""Decide, append, fold: the one way in which anything changes.

A program that died, or gave no sign of life for too long, leaves its runs behind. They are recorded as lost, so that somebody
runs them again (``Leases``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from typing import Any, TypeVar, cast

from xstar.core.environment import environment_and_host
from xstar.core.words import shortened
from xstar.errors import JournalConflict
from xstar.journal import Event, History, Journal, SharedJournal, events as ev
from xstar.journal.state import State
from xstar.journal.trial import Trial
from xstar.storage.leases import Heartbeat

T = TypeVar("T")  # some kinds of event, or None


class Ledger:
    """A journal and its fold, kept together; threads take turns."""

    def __init__(self, journal: Journal, history: History, rest: Iterable[Event]) -> None:
        self.journal = journal
        self.history = history
        self.lock = threading.RLock()
        self._shared = journal if isinstance(journal, SharedJournal) else None
        self._place: int | None = None
        history.memo.shared = self._shared
        history.extend(rest)

    def catch_up(self) -> None:
        """Fold what others appended."""
        self.history.extend(self.journal.read(self.history.seen))

    @property
    def environment(self) -> int:
        """The place of this program's environment among those of the journal: where it is, or will be."""
        if self._place is None:
            parts, known = environment_and_host(), self.history.environments
            if parts not in known:
                return len(known)
            self._place = known.index(parts)
        return self._place

    def settle(self, decide: Callable[..., T], *about: Any) -> T:
        """Append the event that ``decide(*about)`` makes from the history, and fold it; ``None`` leaves all as it is.

        The event stands whatever others appended meanwhile; that is folded before it.
        """
        with self.lock:
            while True:
                event = decide(*about)
                with suppress(JournalConflict):  # of an environment alone
                    self._append(event, None)
                    return event
                self.catch_up()

    def reserve(self, decide: Callable[..., T], *about: Any) -> T:
        """The same for an event that only one program may append: one that takes a trial's number or starts a run.

        ``decide`` is asked when no other program is deciding, on a history that holds everything. If someone who did not wait
        came first, it is asked again.
        """
        while True:
            with self.lock, suppress(JournalConflict), self._alone() as missed:
                self.history.extend(missed)
                event = decide(*about)
                self._append(event, self.history.claims)
                return event

    def _alone(self) -> Any:
        journal, seen = self._shared, self.history.seen
        return nullcontext(self.journal.read(seen)) if journal is None else journal.deciding(seen)

    def _append(self, event: object, claims: int | None) -> None:
        if event is None:
            return
        history, events = self.history, [cast("Event", event)]
        # Whoever ran a lost trial may be alive and report meanwhile, which takes no claim: then it does not wait any more.
        exact = isinstance(event, ev.Started) and event.trial in history.waiting
        if isinstance(event, ev.Asked | ev.Started | ev.Reported) and event.by == len(history.environments):
            events.insert(0, ev.Environment(environment_and_host(), event.at))
            exact = True  # or another one gets its place
        if self._shared is not None and exact:
            self._shared.append(events, history.seen, claims, exact=True)
        else:
            history.extend(self.journal.append(events, history.seen, claims))
        history.extend(events)


# ---------------------------------------------------------------- runs


class Leases:
    """Which trials this program runs, and in which attempt, with their leases; and what other programs have left."""

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
