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
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import exc

from xstar.errors import CorruptJournal, JournalConflict, StudyExists, UnknownStudy
from xstar.journal import SCHEMA, Tally, event_json
from xstar.journal import events as ev
from xstar.journal.events import Event
from xstar.storage import tables
from xstar.storage.database import Database
from xstar.storage.lease_holder import LeaseHolder
from xstar.storage.line import Entry, Line, Refused, Row

T = TypeVar("T")

BATCH = 5_000
"""Events fetched per query when a whole journal is read: short transactions, bounded memory."""

LEASE_SECONDS = 60.0
"""A holder that has not renewed for this long is taken for dead.

Longer than any pause a healthy process makes (garbage collection, a slow network file system, a busy database), and than
the difference between the clocks of machines that share a study. A dead process on the same machine is noticed at once.
"""

RENEW_OUTSIDE = "UPDATE xstar_leases SET expires = ? WHERE study = ? AND holder = ?"


@dataclass(frozen=True, slots=True)
class StudyInfo:
    """A line of the list of studies."""

    name: str
    trials: int
    events: int


class SqlStorage:
    """All studies of one database."""

    def __init__(self, storage: str | os.PathLike[str], patience: float | None = None) -> None:
        self.database = Database(storage, patience)
        self.url = self.database.url

    def exists(self, name: str) -> bool:
        return self._id(name) is not None

    def create(self, name: str, first: Sequence[Event]) -> SqlJournal:
        """A new study whose journal begins with ``first``."""

        def work(connection: sa.Connection) -> int:
            claims = sum(isinstance(event, ev.CLAIMS) for event in first)
            study = {"name": name, "events": len(first), "claims": claims}
            key = connection.execute(sa.insert(tables.studies).values(study)).inserted_primary_key
            assert key is not None
            connection.execute(sa.insert(tables.events), _rows(key[0], first))
            return int(key[0])

        try:
            return SqlJournal(self.database, self.database.write(work), name)
        except exc.IntegrityError:
            raise StudyExists(
                f"{self.url} already has a study {name!r}; open it, delete it, or choose another name"
            ) from None

    def open(self, name: str) -> SqlJournal:
        found = self._id(name)
        if found is None:
            names = [info.name for info in self.list()]
            raise UnknownStudy(f"{self.url} has no study {name!r}; it has: {', '.join(names) or 'none'}")
        return SqlJournal(self.database, found, name)

    def list(self) -> list[StudyInfo]:
        """All studies, by name."""
        opens = sa.case((tables.events.c.kind.in_(("asked", "added")), 1), else_=0)
        query = (
            sa.select(tables.studies.c.name, sa.func.sum(opens), sa.func.count(tables.events.c.seq))
            .join(tables.events, tables.events.c.study == tables.studies.c.id)
            .group_by(tables.studies.c.name)
            .order_by(tables.studies.c.name)
        )
        return [StudyInfo(*row) for row in self.database.read(lambda connection: connection.execute(query).all())]

    def rename(self, old: str, new: str) -> None:
        change = sa.update(tables.studies).where(tables.studies.c.id == self.open(old).study).values(name=new)
        try:
            self.database.write(lambda connection: connection.execute(change))
        except exc.IntegrityError:
            raise StudyExists(f"{self.url} already has a study {new!r}; choose another name") from None

    def delete(self, name: str) -> None:
        """Remove the study with all its events. There is no way back."""
        study = self.open(name).study

        def work(connection: sa.Connection) -> None:
            for table in (tables.fits, tables.leases, tables.events):
                connection.execute(sa.delete(table).where(table.c.study == study))
            connection.execute(sa.delete(tables.studies).where(tables.studies.c.id == study))

        self.database.write(work)

    def backup(self, target: str | os.PathLike[str]) -> None:
        """Copy all of it, as it is at one moment, into a new SQLite file; programs may go on meanwhile."""
        self.database.backup(Path(target).expanduser())

    def close(self) -> None:
        self.database.close()

    def _id(self, name: str) -> int | None:
        query = sa.select(tables.studies.c.id).where(tables.studies.c.name == name)
        return self.database.read(lambda connection: connection.execute(query).scalar())


class SqlJournal:
    """The journal of one study, and the leases of its running trials."""

    def __init__(self, database: Database, study: int, name: str) -> None:
        self.database = database
        self.study = study
        self.name = name
        holder = LeaseHolder.new()
        self.holder = str(holder)
        self.lease_seconds = LEASE_SECONDS
        self._line = database.line(study, self.holder)
        self._lock = threading.RLock()
        self._tokens = (f"{holder.unique}-{number}" for number in itertools.count())
        self._tallied = 0
        """How many events there were at the last tally; what is put comes later."""
        self._outages = database.outages
        self._lenient_until = -math.inf
        # Whoever forgets to close a study does not leave a connection behind.
        weakref.finalize(self, self._line.drop)
        if hasattr(os, "register_at_fork"):
            line = weakref.ref(self._line)
            os.register_at_fork(after_in_child=lambda: _drop_after_fork(line()))

    # ------------------------------------------------------------ the journal

    def read(self, since: int) -> Iterator[Event]:
        while True:
            rows = self._patiently(lambda line, _, since=since: line.read(since, BATCH))  # type: ignore[misc]
            yield from self._events(rows, since)
            since += len(rows)
            if len(rows) < BATCH:
                return

    def append(self, events: Sequence[Event], since: int, claims: int | None = None) -> Sequence[Event]:
        entry = Entry.of(events, since, claims, next(self._tokens), self.lease_seconds)
        rows = self._write(entry, lambda line: line.append(entry), lambda line: line.written(entry))
        return list(self._events(rows, since))

    def _write(self, entry: Entry, write: Callable[[Line], T], written: Callable[[Line], T | None]) -> T:
        def work(line: Line, attempt: int) -> T:
            # A connection that broke while committing may have committed.
            if attempt and (found := written(line)) is not None:
                return found
            return write(line)

        try:
            return self._patiently(work)
        except Refused as refused:
            if refused.claims is None:
                raise self._gone() from None
            if entry.exact:
                raise JournalConflict(f"study {self.name!r} has more than {entry.since} events") from None
            raise JournalConflict(f"study {self.name!r} has {refused.claims} claims, not {entry.claims}") from None

    def turn(self, since: int) -> AbstractContextManager[Sequence[Event]]:
        return self._until_left(lambda line, _: line.enter(since), since)

    def stand_by(self, since: int) -> AbstractContextManager[Sequence[Event]]:
        return self._until_left(lambda line, _: line.stand_by(since), since)

    @contextmanager
    def _until_left(self, enter: Callable[[Line, int], Sequence[Row]], since: int) -> Iterator[Sequence[Event]]:
        with self._lock:
            rows = self._patiently(enter)
            try:
                yield list(self._events(rows, since))
            finally:
                self._patiently(lambda line, _: line.leave())

    @contextmanager
    def tally(self, since: int) -> Iterator[Tally]:
        with self._lock:
            try:
                found = self._patiently(lambda line, _: line.tally(since))
                self._tallied = found[0]
                yield Tally(*found)
            except Refused:
                raise self._gone() from None
            finally:
                self._patiently(lambda line, _: line.leave())

    def put(self, event: Event, claims: int | None = None, since: int | None = None) -> int:
        known = self._tallied if since is None else since
        entry = Entry.of([event], known, claims, next(self._tokens), self.lease_seconds, exact=since is not None)
        return self._write(entry, lambda line: line.put(entry), lambda line: line.place(entry))

    def borrow(self, name: str, key: str) -> str | None:
        return self._patiently(lambda line, _: line.borrow(name, key))

    def lend(self, name: str, key: str, text: str) -> None:
        self._patiently(lambda line, _: line.lend(name, key, text))

    def _gone(self) -> UnknownStudy:
        return UnknownStudy(f"{self.database.url}: study {self.name!r} was deleted while it was in use")

    def _events(self, rows: Sequence[Row], since: int) -> Iterator[Event]:
        for expected, (seq, schema, kind, body) in enumerate(rows, start=since):
            if seq != expected:
                raise CorruptJournal(
                    f"event {seq} of study {self.name!r}: number {expected} is missing; "
                    "restore the study from an export or a backup"
                )
            yield event_json.load(kind, body, schema, f"event {seq} of study {self.name!r}")

    def _patiently(self, work: Callable[[Line, int], T]) -> T:
        """Do something on the line, again and over a new connection if an outage ends it."""

        def guarded(attempt: int) -> T:
            if attempt:
                self._line.drop()
            return work(self._line, attempt)

        with self._lock:
            return self.database.patiently(guarded)

    def close(self) -> None:
        """Let go of the connection; it is made anew when it is needed."""
        with self._lock:
            self._line.drop()

    # ------------------------------------------------------------ leases

    def renew(self, now: float) -> None:
        """Heartbeat: all trials of this holder are alive."""
        table = tables.leases
        change = sa.update(table).where(table.c.study == self.study, table.c.holder == self.holder)
        self.database.write(lambda connection: connection.execute(change.values(expires=now + self.lease_seconds)))

    def renewal(self) -> dict[str, Any]:
        return {
            **self.database.outside(),
            "statement": RENEW_OUTSIDE.replace("?", "?" if self.database.path is not None else "%s"),
            "lease": self.lease_seconds,
            "study": self.study,
            "holder": self.holder,
        }

    def abandoned(self, now: float, running: Collection[int] | None) -> list[tuple[int, str, bool]]:
        table = tables.leases
        query = sa.select(table.c.trial, table.c.holder, table.c.expires).where(table.c.study == self.study)
        held, started = self.database.read(
            lambda connection: (connection.execute(query.order_by(table.c.trial)).all(), _server_start(connection))
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


def _server_start(connection: sa.Connection) -> float:
    """When the database server started, in seconds since the epoch; long ago if there is no server."""
    if connection.dialect.name != "postgresql":
        return -math.inf
    return float(connection.execute(sa.text("SELECT extract(epoch FROM pg_postmaster_start_time())")).scalar() or 0.0)


def _drop_after_fork(line: Line | None) -> None:
    if line is not None:
        line.drop(forked=True)


def _rows(study: int, events: Sequence[Event]) -> list[dict[str, Any]]:
    return [
        {"study": study, "seq": seq, "schema": SCHEMA, "kind": ev.kind_of(event), "body": event_json.dump(event)}
        for seq, event in enumerate(events)
    ]
