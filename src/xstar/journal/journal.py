"""Where events are kept: two methods, and one rule that makes sharing safe.

The rule is *compare and append*: the caller says how many events it knew when it decided; if someone else appended in the
meantime nothing is written and :class:`~xstar.errors.JournalConflict` is raised. The caller then reads what is new, decides
again and appends again. No decision is ever recorded after events that it would have had to take into account.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from xstar.errors import JournalConflict
from xstar.journal.events import Event


class Journal(Protocol):
    """An append-only list of events, numbered from 0 without gaps."""

    def read(self, since: int) -> Iterable[Event]:
        """All events from sequence number ``since`` on."""
        ...

    def append(self, events: Sequence[Event], after: int) -> int:
        """Write ``events`` as numbers ``after``, ``after + 1``, …: all or none. Returns the new length.

        Raises :class:`~xstar.errors.JournalConflict` if the journal does not have exactly ``after`` events.
        """
        ...


@runtime_checkable
class LeasedJournal(Journal, Protocol):
    """A journal that several programs share: each running trial is held by one of them, on a lease it has to renew."""

    lease_seconds: float

    def renew(self, now: float) -> None:
        """Heartbeat: all trials held through this object are alive."""
        ...

    def abandoned(self, now: float) -> Sequence[tuple[int, str]]:
        """Trials whose holder is dead, each with what is known about it."""
        ...

    def forget(self, trial: int) -> None:
        """Drop the lease of a trial that no longer runs."""
        ...


class MemoryJournal:
    """A journal that ends with the process."""

    def __init__(self, events: Sequence[Event] = ()) -> None:
        self._events: list[Event] = list(events)

    def read(self, since: int) -> Sequence[Event]:
        return self._events[since:]

    def append(self, events: Sequence[Event], after: int) -> int:
        if len(self._events) != after:
            raise JournalConflict(f"the journal has {len(self._events)} events, not {after}")
        self._events.extend(events)
        return len(self._events)
