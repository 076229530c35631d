"""Decide, append, fold: the one way in which anything changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from xstar.errors import JournalConflict
from xstar.journal import Event, History, Journal

T = TypeVar("T")  # some kinds of event, or None


class Ledger:
    """A journal and its fold, kept together; threads take turns."""

    def __init__(self, journal: Journal, history: History, rest: Iterable[Event]) -> None:
        self.journal = journal
        self.history = history
        self.lock = threading.RLock()
        self.history.extend(rest)

    def catch_up(self) -> None:
        """Fold what others appended."""
        self.history.extend(self.journal.read(self.history.seen))

    def settle(self, decide: Callable[..., T], *about: Any) -> T:
        """Append the event that ``decide(*about)`` makes from the history, and fold it; ``None`` leaves all as it is.

        If someone else appended first, their events are folded and ``decide`` is asked again.
        """
        while (event := decide(*about)) is not None:
            try:
                self.journal.append([cast("Event", event)], self.history.seen)
            except JournalConflict:
                self.catch_up()
                continue
            self.history.fold(cast("Event", event))
            break
        return event
