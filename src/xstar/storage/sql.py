"""Studies in a database: one table of events keyed by (study, sequence number), and a lease for every running trial.

Leases ride on the journal: the transaction that appends ``asked`` or ``started`` also writes the lease, the one that ends
the run also deletes it. A running trial without a lease therefore cannot exist, whenever a process is killed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import sqlalchemy as sa
from sqlalchemy import exc

from xstar.errors import CorruptJournal, JournalConflict, StudyExists, UnknownStudy
from xstar.journal import SCHEMA
from xstar.journal import events as ev
from xstar.journal.events import Event
from xstar.storage import tables
from xstar.storage.database import Database
from xstar.storage.lease_holder import LeaseHolder
from xstar.trial import Verdict

BATCH = 5_000
"""Events fetched per query when a whole journal is read: short transactions, bounded memory."""

LEASE_SECONDS = 60.0
"""A holder that has not renewed for this long is taken for dead.

Longer than any pause a healthy process makes (garbage collection, a slow network file system, a busy database), and than
the difference between the clocks of machines that share a study. A dead process on the same machine is noticed at once.
"""


@dataclass(frozen=True, slots=True)
class StudyInfo:
    """A line of the list of studies."""

    name: str
    trials: int
    events: int


class SqlStorage:
    """All studies of one database."""

    def __init__(self, storage: str | os.PathLike[str]) -> None:
        self.database = Database(storage)
        self.url = self.database.url

    def exists(self, name: str) -> bool:
        return self._id(name) is not None

    def create(self, name: str, first: Sequence[Event]) -> SqlJournal:
        """A new study whose journal begins with ``first``."""

        def work(connection: sa.Connection) -> int:
            key = connection.execute(sa.insert(tables.studies).values(name=name)).inserted_primary_key
            assert key is not None
            connection.execute(sa.insert(tables.events), _rows(key[0], first, 0))
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
            for table in (tables.leases, tables.events):
                connection.execute(sa.delete(table).where(table.c.study == study))
            connection.execute(sa.delete(tables.studies).where(tables.studies.c.id == study))

        self.database.write(work)

    def close(self) -> None:
        self.database.close()

    def _id(self, name: str) -> int | None:
        query = sa.select(tables.studies.c.id).where(tables.studies.c.name == name)
        return self.database.read(lambda connection: connection.execute(query).scalar())


class SqlJournal:
    """The journal of one study, and the leases of its running trials."""

    def __init__(self, database: Database, study: int, name: str, lease_seconds: float = LEASE_SECONDS) -> None:
        self.database = database
        self.study = study
        self.name = name
        self.holder = str(LeaseHolder.new())
        self.lease_seconds = lease_seconds
        self._held: dict[int, int] = {}  # trials this holder took → the attempt it took them for
        events, leases, here = tables.events, tables.leases, tables.events.c.study == study
        self._read = database.prepare(
            sa.select(events.c.seq, events.c.schema, events.c.kind, events.c.body)
            .where(here, events.c.seq >= sa.bindparam("since", type_=sa.Integer))
            .order_by(events.c.seq)
            .limit(BATCH)
        )
        self._last = database.prepare(sa.select(sa.func.max(events.c.seq)).where(here))
        self._insert = database.prepare(sa.insert(events))
        self._take = database.prepare(sa.insert(leases))
        of_trial = (leases.c.study == study, leases.c.trial == sa.bindparam("number", type_=sa.Integer))
        self._give_back = database.prepare(sa.delete(leases).where(*of_trial, leases.c.holder == self.holder))
        self._take_away = database.prepare(sa.delete(leases).where(*of_trial))

    # ------------------------------------------------------------ the journal

    def read(self, since: int) -> Iterator[Event]:
        while True:
            rows = self._batch(since)
            for seq, schema, kind, body in rows:
                where = f"event {seq} of study {self.name!r}"
                if seq != since:
                    raise CorruptJournal(
                        f"{where}: number {since} is missing; restore the study from an export or a backup"
                    )
                yield ev.load(kind, body, schema, where)
                since += 1
            if len(rows) < BATCH:
                return

    def _batch(self, since: int) -> Sequence[Any]:
        return self.database.read(lambda connection: self._read.run(connection, {"since": since}).all())

    def append(self, events: Sequence[Event], after: int) -> int:
        rows = _rows(self.study, events, after)
        tries = 0

        def work(connection: sa.Connection) -> None:
            nonlocal tries
            tries += 1
            last = self._last.run(connection).scalar()
            if last is None:
                raise UnknownStudy(f"{self.database.url}: study {self.name!r} was deleted while it was in use")
            if last + 1 != after:
                # A connection that broke while committing may have committed: then what stands there is ours.
                if tries > 1 and last + 1 >= after + len(rows) and self._stands(connection, rows):
                    return
                raise JournalConflict(f"study {self.name!r} has {last + 1} events, not {after}")
            self._insert.run(connection, *rows)
            for event in events:
                self._lease(connection, event)

        try:
            self.database.write(work)
        except exc.IntegrityError:
            raise JournalConflict(f"study {self.name!r}: number {after} was taken at the same moment") from None
        for event in events:
            if _ends_run(event) and self._held.get(event.trial) == event.attempt:
                del self._held[event.trial]
        return after + len(events)

    def _stands(self, connection: sa.Connection, rows: list[dict[str, Any]]) -> bool:
        table = tables.events
        query = (
            sa.select(table.c.body)
            .where(table.c.study == self.study, table.c.seq >= rows[0]["seq"])
            .order_by(table.c.seq)
        )
        return list(connection.execute(query.limit(len(rows))).scalars()) == [row["body"] for row in rows]

    # ------------------------------------------------------------ leases

    def _lease(self, connection: sa.Connection, event: Event) -> None:
        """Take or give back the lease of the trial that ``event`` starts or ends."""
        if isinstance(event, ev.Asked | ev.Started):
            if isinstance(event, ev.Started):
                self._take_away.run(connection, {"number": event.trial})
            self._held[event.trial] = event.attempt if isinstance(event, ev.Started) else 0
            expires = event.at + self.lease_seconds
            self._take.run(
                connection, {"study": self.study, "trial": event.trial, "holder": self.holder, "expires": expires}
            )
        elif isinstance(event, ev.Lost):
            self._take_away.run(connection, {"number": event.trial})
        elif _ends_run(event) and self._held.get(event.trial) == event.attempt:
            # Only that of this very run: a late end must not take the lease of the run that replaced it, here or elsewhere.
            self._give_back.run(connection, {"number": event.trial})

    def renew(self, now: float) -> None:
        """Heartbeat: all trials of this holder are alive."""
        table = tables.leases
        change = sa.update(table).where(table.c.study == self.study, table.c.holder == self.holder)
        self.database.write(lambda connection: connection.execute(change.values(expires=now + self.lease_seconds)))

    def abandoned(self, now: float) -> list[tuple[int, str]]:
        """Trials whose holder is dead: (trial, reason)."""
        table = tables.leases
        query = sa.select(table.c.trial, table.c.holder, table.c.expires).where(table.c.study == self.study)
        rows = self.database.read(lambda connection: connection.execute(query.order_by(table.c.trial)).all())
        found = []
        for trial, holder, expires in rows:
            if holder == self.holder:
                continue
            known = LeaseHolder.parse(holder)
            where = "another machine" if known is None else known.host
            if known is not None and known.is_dead():
                found.append((trial, f"the program running it on {where} ended"))
            elif expires < now:
                found.append((trial, f"no sign of life from {where} for {now - expires + self.lease_seconds:.0f} s"))
        return found

    def forget(self, trial: int) -> None:
        """Drop a lease that is of no use: someone else ended the trial before its holder died."""
        self.database.write(lambda connection: self._take_away.run(connection, {"number": trial}))


def _ends_run(event: Event) -> TypeGuard[ev.Reported | ev.Completed | ev.Failed]:
    if isinstance(event, ev.Reported):
        return event.final or event.verdict is not Verdict.CONTINUE
    return isinstance(event, ev.Completed | ev.Failed)


def _rows(study: int, events: Sequence[Event], first: int) -> list[dict[str, Any]]:
    return [
        {"study": study, "seq": first + i, "schema": SCHEMA, "kind": ev.kind_of(event), "body": ev.dump(event)}
        for i, event in enumerate(events)
    ]
