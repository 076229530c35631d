"""Decide, append, fold: the one way in which anything changes.

Where suggestions do not depend on each other (random search, Sobol points), a program need not follow what others do. It takes
its turn, is told how many events and trials there are, and appends the next trial, which counts them as seen: what they hold
changes nothing about it. So a trial costs a program the same however many share the study. It reads the rest when somebody
looks at the history, and at once when there is an event that does change what is decided: a configuration is enqueued, a trial
is lost or fails, the space becomes wider, the study is held. The database says whether there is one.

A program that died, or gave no sign of life for too long, leaves its runs behind. They are recorded as lost, so that somebody
runs them again (``Leases``).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from xstar.core.environment import environment_and_host
from xstar.core.words import shortened
from xstar.errors import JournalConflict
from xstar.journal import Event, History, Journal, SharedJournal, events as ev
from xstar.journal.trial import State, Trial
from xstar.storage.leases import Heartbeat

T = TypeVar("T")  # some kinds of event, or None


class Ledger:
    """A journal and its fold, kept together; threads take turns."""

    def __init__(self, journal: Journal, history: History, rest: Iterable[Event]) -> None:
        self.journal = journal
        self.history = history
        """What was read so far."""
        self.lock = threading.RLock()
        self._shared = journal if isinstance(journal, SharedJournal) else None
        self._crowded = True
        """Whether someone else appended something between the last two claims, as far as is known."""
        history.memo.shared = self._shared
        self._quiet = 0
        """The events that were not read are known to be quiet up to this number."""
        self._here: int | None = None
        self._begun: dict[int, tuple[Trial, int]] = {}
        """Trials of this program that the history does not hold, as they began, and the numbers of the events after it."""
        self.history.extend(rest)

    @property
    def is_behind(self) -> bool:
        """Whether there is something that was not read, on purpose."""
        return self.history.unread > 0

    def catch_up(self) -> None:
        """Fold what others appended."""
        self._fold(self.journal.read(self.history.seen))

    def _fold(self, events: Iterable[Event]) -> None:
        self.history.extend(events)
        self.history.unread = self.history.unread_trials = 0
        self._begun.clear()

    def read(self) -> History:
        """The history, with what was left unread."""
        if self.is_behind:
            with self.lock:
                self.catch_up()
        return self.history

    def settle(self, decide: Callable[..., T], *about: Any) -> T:
        """Append the event that ``decide(*about)`` makes from the history, and fold it; ``None`` leaves all as it is.

        The event stands whatever others appended meanwhile; that is folded before it.
        """
        with self.lock:
            self.read()
            event = decide(*about)
            if event is not None:
                self._append(cast("Event", event), None)
            return event

    def here(self, clock: Callable[[], float]) -> int:
        """The place of this program's environment among those of the journal, which gets an event if it is a new one."""
        if self._here is None:
            parts = environment_and_host()
            self.settle(lambda: None if parts in self.history.environments else ev.Environment(parts, clock()))
            self._here = self.history.environments.index(parts)
        return self._here

    def claim(self, decide: Callable[..., T], *about: Any, alone: bool = False) -> T:
        """The same for an event that only one program may append: one that takes a trial's number or starts a run.

        ``decide`` is asked when this program has its turn, on a history that holds everything. If someone who did not wait for
        a turn came first, it is asked again. With ``alone``, quiet events need not be read for a new trial.
        """
        while True:
            with self.lock, contextlib.suppress(JournalConflict):
                if self._shared is None:
                    self.catch_up()
                    return self._claim(decide, *about)
                brief = alone and self._is_plain()
                event = self._claim_at_once(self._shared, decide, *about) if brief and not self._crowded else None
                return self._claim_in_turn(self._shared, brief, decide, *about) if event is None else event

    def _claim_at_once(self, journal: SharedJournal, decide: Callable[..., T], *about: Any) -> T | None:
        """Where nobody else was seen: decide without a turn, and append if there is still nothing to read."""
        self._crowded = True  # unless this succeeds
        event = decide(*about)
        if event is not None:
            journal.append([cast("Event", event)], self.history.seen, exact=True)
            self.history.fold(cast("Event", event))
            self._crowded = False
        return event

    def _is_plain(self) -> bool:
        """Whether quiet events change no decision: a late report may complete a trial that waits, a trial empties the queue."""
        return not self.history.waiting and not self.history.queue and self.history.hold == "go"

    def _claim_in_turn(self, journal: SharedJournal, brief: bool, decide: Callable[..., T], *about: Any) -> T:
        history = self.history
        with journal.turn(max(self._quiet, history.seen), brief=brief) as turn:
            self._crowded = turn.events > history.seen
            if brief and self._crowded and turn.quiet:
                self._quiet = turn.events
                history.unread, history.unread_trials = turn.events - history.seen, turn.claims - history.claims
                event = decide(*about)
                if isinstance(event, ev.Asked):
                    journal.append([event], None, turn.claims)
                    self._begun[event.trial] = history.begun(event), journal.length
                    return event
            # Nobody else appended anything, or something that matters, or there is nothing to start.
            if self._crowded:
                self.catch_up()
            return self._claim(decide, *about)

    def _claim(self, decide: Callable[..., T], *about: Any) -> T:
        event = decide(*about)
        if isinstance(event, ev.Started) and self._shared is not None and event.trial in self.history.waiting:
            # Whoever ran it may be alive and report meanwhile, which takes no claim: then it does not wait any more.
            self._shared.append([event], self.history.seen, exact=True)
            self.history.fold(event)
        elif event is not None:
            self._append(cast("Event", event), self.history.claims)
        return event

    def _append(self, event: Event, claims: int | None) -> None:
        self.history.extend(self.journal.append([event], self.history.seen, claims))
        self.history.fold(event)

    # ------------------------------------------------------------ trials that were begun without reading

    def trial(self, number: int) -> Trial:
        """A trial that this program has begun."""
        return UnreadTrial(number, self._look) if number in self._begun else self.history.trials[number]

    def _look(self, number: int) -> Trial:
        begun = self._begun.get(number)
        return self.read().trials[number] if begun is None else begun[0]

    def end(self, number: int, decide: Callable[..., Event], *about: Any) -> bool:
        """Append the end of a trial that the history does not hold; false if there is no such trial.

        ``decide(history, trial, seen, *about)`` is given the trial as it began and after how many events that was. If someone
        else has ended it since, the history will say so: then this event changes nothing.
        """
        begun = self._begun.get(number)
        if begun is None or self._shared is None:
            return False
        self._shared.append([decide(self.history, *begun, *about)], None)
        del self._begun[number]
        return True


class UnreadTrial(Trial):
    """Shows what ``look`` finds: the trial as it began, then its row in the history, which is read for it."""

    __slots__ = ("_look",)

    def __init__(self, number: int, look: Callable[[int], Trial]) -> None:
        # All other slots stay empty, so that Python asks ``__getattr__`` for them.
        self.number = number
        self._look = look

    def __getattr__(self, name: str) -> Any:
        if name == "_look":  # while it is copied
            raise AttributeError(name)
        return getattr(self._look(self.number), name)

    def __eq__(self, other: object) -> bool:
        return other is self or (isinstance(other, Trial) and other is self._look(self.number))

    __hash__ = Trial.__hash__

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._look(self.number).__reduce_ex__(protocol)


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
