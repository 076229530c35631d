"""Decide, append, fold: the one way in which anything changes."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from xstar.errors import JournalConflict
from xstar.journal import Event, History, Journal, LeasedJournal

T = TypeVar("T")  # some kinds of event, or None


class Ledger:
    """A journal and its fold, kept together; threads take turns."""

    def __init__(self, journal: Journal, history: History, rest: Iterable[Event]) -> None:
        self.journal = journal
        self.history = history
        self.lock = threading.RLock()
        self._shared = journal if isinstance(journal, LeasedJournal) else None
        self.history.extend(rest)

    def catch_up(self) -> None:
        """Fold what others appended."""
        self.history.extend(self.journal.read(self.history.seen))

    def settle(self, decide: Callable[..., T], *about: Any) -> T:
        """Append the event that ``decide(*about)`` makes from the history, and fold it; ``None`` leaves all as it is.

        The event stands whatever others appended meanwhile; that is folded before it.
        """
        with self.lock:
            event = decide(*about)
            if event is not None:
                self._append(cast("Event", event), None)
            return event

    def claim(self, decide: Callable[..., T], *about: Any) -> T:
        """The same for an event that only one program may append: one that takes a trial's number or starts a run.

        ``decide`` is asked when this program has its turn, on a history that holds everything. If someone who did not wait for
        a turn came first, it is asked again.
        """
        while True:
            with self.lock, contextlib.suppress(JournalConflict):
                if self._shared is None:
                    self.catch_up()
                    return self._claim(decide, *about)
                with self._shared.turn(self.history.seen) as events:
                    self.history.extend(events)
                    return self._claim(decide, *about)

    def _claim(self, decide: Callable[..., T], *about: Any) -> T:
        event = decide(*about)
        if event is not None:
            self._append(cast("Event", event), self.history.claims)
        return event

    def _append(self, event: Event, claims: int | None) -> None:
        self.history.extend(self.journal.append([event], self.history.seen, claims))
        self.history.fold(event)
