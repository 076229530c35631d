"""Studies in a database: one table of events keyed by (study, sequence number), and a lease for every running trial.

Leases ride on the journal: the transaction that appends ``asked`` or ``started`` also writes the lease, the one that ends
the run also deletes it. A running trial without a lease therefore cannot exist, whenever a process is killed.
"""

from __future__ import annotations

import itertools
import math
import os
import threading
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from xstar.errors import RESTORE, CorruptJournal, InvalidArgument, JournalConflict, StudyExists, UnknownStudy
from xstar.journal import SCHEMA, event_json, events as ev
from xstar.journal.events import Event
from xstar.storage import copies
from xstar.storage.address import Address
from xstar.storage.connections import Statements
from xstar.storage.database import Database
from xstar.storage.entry import Entry, Refused, Row, StudyConnection
from xstar.storage.leases import LeaseHolder

T = TypeVar("T")

BATCH = 5_000
"""Events fetched per query when a whole journal is read: short transactions, bounded memory."""

LEASE_SECONDS = 60.0
"""A holder that has not renewed for this long is taken for dead.

Longer than any pause a healthy process makes (garbage collection, a slow network file system, a busy database), and than
the difference between the clocks of machines that share a study. A dead process on the same machine is noticed at once.
"""

FIND = "SELECT id FROM xstar_studies WHERE name = ?"
LIST = """
SELECT name, sum(CASE WHEN kind IN ('asked', 'added') THEN 1 ELSE 0 END), count(*)
FROM xstar_studies JOIN xstar_events ON study = id GROUP BY name ORDER BY name"""
CREATE = "INSERT INTO xstar_studies (name, events, claims) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING"
INSERT = "INSERT INTO xstar_events (study, seq, schema, kind, body) VALUES (?, ?, ?, ?, ?)"
RENAME = "UPDATE xstar_studies SET name = ? WHERE id = ? AND NOT EXISTS (SELECT 1 FROM xstar_studies WHERE name = ?)"
RENEW = "UPDATE xstar_leases SET expires = ? WHERE study = ? AND holder = ?"
HELD = "SELECT trial, holder, expires FROM xstar_leases WHERE study = ? ORDER BY trial"


@dataclass(frozen=True, slots=True)
class StudyInfo:
    """A line of the list of studies."""

    name: str
    trials: int
    events: int


DEFAULT_STORAGE = "xstar.db"


class SqlStorage:
    """All studies of one database."""

    def __init__(self, storage: str | os.PathLike[str], *, make: bool = True) -> None:
        """``make=False`` refuses a file that is not there or holds no studies."""
        self.database = Database(storage, make=make)
        self.url = self.database.url

    def exists(self, name: str) -> bool:
        return self._id(name) is not None

    def create(self, name: str, first: Sequence[Event]) -> SqlJournal:
        """A new study whose journal begins with ``first``."""

        claims = sum(isinstance(event, ev.CLAIMS) for event in first)

        def work(database: Statements) -> int:
            if not database.execute(CREATE, (name, len(first), claims)).rowcount:
                raise self._taken(name, "open it, delete it, or choose another name")
            study: int = database.value(FIND, (name,))
            rows = [(study, seq, SCHEMA, ev.kind_of(event), event_json.dump(event)) for seq, event in enumerate(first)]
            database.execute_for_each(INSERT, rows)
            return study

        return SqlJournal(self.database, self.database.write(work), name)

    def open(self, name: str) -> SqlJournal:
        found = self._id(name)
        if found is None:
            names = [info.name for info in self.list()]
            raise UnknownStudy(f"{self.url} has no study {name!r}; it has: {', '.join(names) or 'none'}")
        return SqlJournal(self.database, found, name)

    def list(self) -> list[StudyInfo]:
        """All studies, by name."""
        return [StudyInfo(*row) for row in self.database.read(lambda database: database.rows(LIST))]

    def rename(self, old: str, new: str) -> None:
        study = self.open(old).study
        if not self.database.write(lambda database: database.execute(RENAME, (new, study, new)).rowcount):
            raise self._taken(new, "choose another name")

    def delete(self, name: str) -> None:
        """Remove the study with all its events. There is no way back."""
        study = self.open(name).study

        def work(database: Statements) -> None:
            for table in ("fits", "leases", "events"):
                database.execute(f"DELETE FROM xstar_{table} WHERE study = ?", (study,))
            database.execute("DELETE FROM xstar_studies WHERE id = ?", (study,))

        self.database.write(work)

    def backup(self, target: str | os.PathLike[str]) -> dict[str, int]:
        """Copy all of it, as it is at one moment, into a new SQLite file; programs may go on meanwhile.

        Returns the number of events of each study in the copy, which was checked.
        """
        return copies.backup(self.database, Path(target).expanduser())

    def close(self) -> None:
        self.database.close()

    def _id(self, name: str) -> int | None:
        found: int | None = self.database.read(lambda database: database.value(FIND, (name,)))
        return found

    def _taken(self, name: str, remedy: str) -> StudyExists:
        return StudyExists(f"{self.url} already has a study {name!r}; {remedy}")


class SqlJournal:
    """The journal of one study, and the leases of its running trials."""

    def __init__(self, database: Database, study: int, name: str) -> None:
        self.database = database
        self.study = study
        self.name = name
        holder = LeaseHolder.new()
        self.holder = str(holder)
        self.lease_seconds = LEASE_SECONDS
        self._connection = database.study(study, self.holder)
        self._lock = threading.RLock()
        self._tokens = (f"{holder.unique}-{number}" for number in itertools.count())
        self._outages = database.outages
        self._lenient_until = -math.inf
        # Whoever forgets to close a study does not leave a connection behind.
        weakref.finalize(self, self._connection.drop)
        if hasattr(os, "register_at_fork"):
            connection = weakref.ref(self._connection)
            os.register_at_fork(after_in_child=lambda: _drop_after_fork(connection()))

    # ------------------------------------------------------------ the journal

    def read(self, since: int) -> Iterator[Event]:
        while True:
            rows = self._call(lambda connection, since=since: connection.read(since, BATCH))  # type: ignore[misc]
            yield from self._events(rows, since)
            since += len(rows)
            if len(rows) < BATCH:
                return

    def append(
        self, events: Sequence[Event], since: int, claims: int | None = None, *, exact: bool = False
    ) -> Sequence[Event]:
        entry = Entry.of(events, since, claims, next(self._tokens), self.lease_seconds, exact=exact)
        try:
            first = self._call(
                lambda connection: connection.append(entry), lambda connection: connection.append_again(entry)
            )
        except Refused as refused:
            if refused.claims is None:
                raise self._gone() from None
            if entry.exact:
                raise JournalConflict(f"study {self.name!r} has more than {since} events") from None
            raise JournalConflict(f"study {self.name!r} has {refused.claims} claims, not {claims}") from None
        if first == since:
            return []
        return list(self._events(self._call(lambda connection: connection.read(since, first - since)), since))

    @contextmanager
    def deciding(self, since: int) -> Iterator[Sequence[Event]]:
        with self._lock:
            try:
                rows = self._call(lambda connection: connection.lock(since, BATCH))
                yield list(self._events(rows, since))
            finally:
                self._call(lambda connection: connection.unlock())

    def read_cache(self, name: str, key: str) -> str | None:
        return self._call(lambda connection: connection.read_cache(name, key))

    def write_cache(self, name: str, key: str, text: str) -> None:
        self._call(lambda connection: connection.write_cache(name, key, text))

    def _gone(self) -> UnknownStudy:
        return UnknownStudy(f"{self.database.url}: study {self.name!r} was deleted while it was in use")

    def _events(self, rows: Sequence[Row], since: int) -> Iterator[Event]:
        for expected, (seq, schema, kind, body) in enumerate(rows, start=since):
            if seq != expected:
                raise CorruptJournal(
                    f"event {seq} of study {self.name!r}: number {expected} is missing; "
                    f"use a backup ({RESTORE}) or an export"
                )
            yield event_json.load(kind, body, schema, f"event {seq} of study {self.name!r}")

    def _call(self, work: Callable[[StudyConnection], T], again: Callable[[StudyConnection], T] | None = None) -> T:
        """Do something over the connection; if an outage ends it, over a new one (``again``)."""
        connection, repeat = self._connection, again or work
        with self._lock:
            return self.database.patiently(
                lambda attempt: repeat(connection) if attempt else work(connection), connection.drop
            )

    def close(self) -> None:
        """Let go of the connection; it is made anew when it is needed."""
        with self._lock:
            self._connection.drop()

    # ------------------------------------------------------------ leases

    def renew(self, now: float) -> None:
        """Heartbeat: all trials of this holder are alive."""
        values = now + self.lease_seconds, self.study, self.holder
        self.database.write(lambda database: database.execute(RENEW, values))

    def renewal(self) -> dict[str, Any]:
        return {
            **self.database.connections.outside(),
            "statement": RENEW.replace("?", "?" if self.database.path is not None else "%s"),
            "lease": self.lease_seconds,
            "study": self.study,
            "holder": self.holder,
        }

    def abandoned(self, now: float, running: Collection[int] | None) -> list[tuple[int, str, bool]]:
        held, started = self.database.read(
            lambda database: (database.rows(HELD, (self.study,)), _server_start(database))
        )
        if self.database.outages != self._outages:
            self._outages, self._lenient_until = self.database.outages, now + self.lease_seconds
        # Nobody could renew a lease during an outage. After it everyone gets the time of a lease to do so.
        lenient = now < self._lenient_until or started <= now < started + self.lease_seconds
        leased = {row[0] for row in held}
        found = [(trial, "nobody held it", True) for trial in running or () if trial not in leased]
        for trial, holder, expires in held:
            if holder == self.holder or (running is not None and trial not in running):
                continue
            known = LeaseHolder.parse(holder)
            where = "another machine" if known is None else known.host
            if known is not None and known.is_dead():
                found.append((trial, f"the program running it on {where} ended", False))
            elif expires < now and not lenient:
                silent = now - expires + self.lease_seconds
                found.append((trial, f"no sign of life from {where} for {silent:.0f} s", True))
        return sorted(found)


def _server_start(database: Statements) -> float:
    """When the database server started, in seconds since the epoch; long ago if there is no server."""
    if not database.is_server:
        return -math.inf
    return float(database.value("SELECT extract(epoch FROM pg_postmaster_start_time())"))


def _drop_after_fork(connection: StudyConnection | None) -> None:
    if connection is not None:
        connection.drop(forked=True)


def open_storage(storage: str | os.PathLike[str] | None, *, make: bool = True) -> SqlStorage:
    """The database at a path or URL (default ``xstar.db``); made if it is not there, unless ``make`` is false."""
    if storage is not None and os.fspath(storage) == ":memory:":
        rule, remedy = "must name a file or a server", "leave out storage and the study's name for a study in memory"
        raise InvalidArgument("storage", rule, storage, remedy)
    return SqlStorage(DEFAULT_STORAGE if storage is None else storage, make=make)


def check_there(name: str, storage: str | os.PathLike[str] | None) -> None:
    """Refuse a file that is missing where a study should be: to open it would make an empty one."""
    path = Address.of(DEFAULT_STORAGE if storage is None else storage).path
    if path is not None and not path.exists():
        raise UnknownStudy(f"there is no study {name!r}: there is no storage {path}; check the path")
