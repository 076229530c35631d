"""What a journal asks of a database, in the driver's own terms: one connection, a few statements, few round trips.

``sqlite.py`` and ``postgresql.py`` append in ways of their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xstar.journal import event_json, events as ev
from xstar.journal.trial import Verdict
from xstar.storage.connections import Connections, Frozen

Row = tuple[int, int, str, str]
"""An event as it is stored: sequence number, schema, kind, body."""

READ = "SELECT seq, schema, kind, body FROM xstar_events WHERE study = ? AND seq >= ? ORDER BY seq LIMIT ?"
WRITTEN = "SELECT seq FROM xstar_events WHERE study = ? AND seq >= ? AND token = ? ORDER BY seq LIMIT 1"
READ_CACHE = "SELECT body FROM xstar_fits WHERE study = ? AND name = ? AND key = ?"


class Refused(Exception):
    """The study does not hold as many claims, or events, as the writer knew, or does not exist any more."""

    def __init__(self, claims: int | None) -> None:
        super().__init__(claims)
        self.claims = claims
        """How many it holds; ``None``: there is no such study."""


class StudyConnection(ABC):
    """One study's rows through one connection, made at first use and after each :meth:`drop`. Raises the driver's errors."""

    def __init__(self, source: Connections, study: int, holder: str) -> None:
        self._source = source
        self._study = study
        self._holder = holder
        self._open: Any = None

    @abstractmethod
    def _connection(self) -> Any:
        """The connection; made if there is none."""

    @abstractmethod
    def append(self, entry: Entry) -> int:
        """Commit an entry; the number of its first event. Raises :class:`Refused`."""

    @abstractmethod
    def lock(self, since: int, limit: int) -> Sequence[Row]:
        """Wait until no other program decides, or not, if it hangs; at most ``limit`` events from number ``since`` on."""

    @abstractmethod
    def unlock(self) -> None:
        """Let others decide, unless an append has."""

    @abstractmethod
    def write_cache(self, name: str, key: str, text: str) -> None:
        """Leave a text for other programs, which see it once this one has decided; nothing if the study is gone."""

    @abstractmethod
    def drop(self, *, forked: bool = False) -> None:
        """Close the connection; after a fork, in the child, let go of it without a word to the database."""

    def read(self, since: int, limit: int) -> Sequence[Row]:
        """At most ``limit`` events from number ``since`` on."""
        rows: list[Row] = self._query(READ, self._study, since, limit).fetchall()
        if isinstance(self._open, Frozen):
            self.drop()
        return rows

    def append_again(self, entry: Entry) -> int:
        """The same over a new connection: the one that broke may have committed."""
        found = self.place(entry)
        return self.append(entry) if found is None else found

    def place(self, entry: Entry) -> int | None:
        """What :meth:`append` returned, or would have, if the entry was committed; else ``None``."""
        found = self._query(WRITTEN, self._study, entry.since, entry.token).fetchone()
        return None if found is None else int(found[0])

    def read_cache(self, name: str, key: str) -> str | None:
        """The text that another program left under ``name``, if it was made from ``key``."""
        found = self._query(READ_CACHE, self._study, name, key).fetchone()
        return None if found is None else str(found[0])

    def _query(self, statement: str, *values: object) -> Any:
        return self._connection().execute(self._source.written(statement), values)


@dataclass(frozen=True, slots=True)
class Entry:
    """What one append writes."""

    since: int
    claims: int | None
    """The append is refused unless the study holds so many claims."""
    token: str
    kinds: list[str]
    bodies: list[str]
    claimed: int
    """How many of the events are claims."""
    taken: list[tuple[int, int, float]]
    """Leases that begin: trial, attempt, expiry."""
    ended: list[tuple[int, int]]
    """Runs that end, and their leases with them: trial, attempt."""
    exact: bool = False
    """The append is refused unless the study has ``since`` events."""

    @classmethod
    def of(
        cls,
        events: Sequence[ev.Event],
        since: int,
        claims: int | None,
        token: str,
        lease: float,
        *,
        exact: bool = False,
    ) -> Entry:
        """The entry of ``events``; leases last ``lease`` seconds."""
        taken: dict[int, tuple[int, int, float]] = {}
        ended: list[tuple[int, int]] = []
        for event in events:
            if isinstance(event, ev.Asked | ev.Started):
                attempt = event.attempt if isinstance(event, ev.Started) else 0
                taken[event.trial] = (event.trial, attempt, event.at + lease)
            elif isinstance(event, ev.Lost | ev.Completed | ev.Failed) or (
                isinstance(event, ev.Reported) and (event.final or event.verdict is not Verdict.CONTINUE)
            ):
                if taken.get(event.trial, (0, -1))[1] == event.attempt:
                    del taken[event.trial]
                ended.append((event.trial, event.attempt))
        return cls(
            since,
            claims,
            token,
            [ev.kind_of(event) for event in events],
            [event_json.dump(event) for event in events],
            sum(isinstance(event, ev.CLAIMS) for event in events),
            list(taken.values()),
            ended,
            exact,
        )
