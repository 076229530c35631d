"""Where events are kept: two methods, and one rule that makes sharing safe.

Most events are facts or say what they had seen (``seen``), so they stand whatever others appended meanwhile: they are
appended without a condition. Only *claims* (:data:`~xstar.journal.events.CLAIMS`: taking a trial's number, starting a run) are
conditional: the caller says how many claims it knew when it decided; if someone else made one in the meantime nothing is
written and :class:`~xstar.errors.JournalConflict` is raised. The caller then reads what is new, decides again and appends
again. So a new trial has always seen the configurations of all trials before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

from xstar.errors import JournalConflict
from xstar.journal.events import CLAIMS, Event
from xstar.journal.memo import SharedCache


class Readable(Protocol):
    """A journal, to read: an append-only list of events, numbered from 0 without gaps."""

    def read(self, since: int) -> Iterable[Event]:
        """All events from sequence number ``since`` on."""


class Journal(Readable, Protocol):
    """A journal, to append to."""

    def append(self, events: Sequence[Event], since: int, claims: int | None = None) -> Sequence[Event]:
        """Write ``events`` at the end: all or none, next to each other, each once.

        Returns the events from number ``since`` on that stand before them: what others appended, and the caller has not seen.
        With ``claims``, raises :class:`~xstar.errors.JournalConflict` if the journal does not hold exactly so many claims.
        """


@runtime_checkable
class SharedJournal(Journal, SharedCache, Protocol):
    """A journal that several programs share: each running trial is held by one of them, on a lease it has to renew."""

    lease_seconds: float

    def append(
        self, events: Sequence[Event], since: int, claims: int | None = None, *, exact: bool = False
    ) -> Sequence[Event]:
        """As :meth:`Journal.append`. With ``exact``, raises :class:`~xstar.errors.JournalConflict` if the journal does not hold
        exactly ``since`` events.
        """

    def deciding(self, since: int) -> AbstractContextManager[Sequence[Event]]:
        """Wait until no other program is deciding what to start; gives the events from number ``since`` on.

        It lasts until a claim is appended, or the block is left. Nothing rests on it: it saves programs from making decisions
        that conflict, and a holder that hangs is not waited for.
        """

    def renew(self, now: float) -> None:
        """Heartbeat: all trials held through this object are alive."""

    def renewal(self) -> dict[str, Any]:
        """What ``storage/renewer.py`` needs to renew them, as JSON. It may hold a password."""

    def abandoned(self, now: float, running: Collection[int] | None) -> Sequence[tuple[int, str, bool]]:
        """Those of the ``running`` trials whose holder is dead or silent, or that have none: (trial, what is known about it,
        whether the holder may still live). ``None``: all that have a holder.
        """


class MemoryJournal:
    """A journal that ends with the process."""

    def __init__(self, events: Sequence[Event] = ()) -> None:
        self._events: list[Event] = list(events)
        self._claims = sum(isinstance(event, CLAIMS) for event in events)

    def read(self, since: int) -> Sequence[Event]:
        return self._events[since:]

    def append(self, events: Sequence[Event], since: int, claims: int | None = None) -> Sequence[Event]:
        if claims is not None and claims != self._claims:
            raise JournalConflict(f"the journal has {self._claims} claims, not {claims}")
        missed = self._events[since:]
        self._events.extend(events)
        self._claims += sum(isinstance(event, CLAIMS) for event in events)
        return missed
