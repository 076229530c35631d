"""Appending to a study in SQLite: one short write transaction.

SQLite admits one writer at a time and has no queue: its own busy handler sleeps longer the longer it has waited, so who comes
late goes first. Here writers wait in a queue of our own (``locks.py``) before they begin. Who decides what to start has a lock
besides, so that a model may take its time while reports are written.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xstar.journal import SCHEMA
from xstar.storage import connections
from xstar.storage.connections import Connections
from xstar.storage.entry import Entry, Refused, Row, StudyConnection
from xstar.storage.locks import ByteLock, Queue, pauses

TURN_SECONDS = 10.0
"""A turn that does not come within this time is not waited for: whoever has it may hang."""

COUNTED = "SELECT events, claims FROM xstar_studies WHERE id = ?"
COUNT = "UPDATE xstar_studies SET events = ?, claims = ? WHERE id = ?"
INSERT = "INSERT INTO xstar_events (study, seq, schema, kind, body, token) VALUES (?, ?, ?, ?, ?, ?)"
TAKE = "INSERT OR REPLACE INTO xstar_leases (study, trial, attempt, expires, holder) VALUES (?, ?, ?, ?, ?)"
WRITE_CACHE = (
    "INSERT OR REPLACE INTO xstar_fits (study, name, key, body) SELECT id, ?, ?, ? FROM xstar_studies WHERE id = ?"
)
END = "DELETE FROM xstar_leases WHERE study = ? AND trial = ? AND attempt = ?"


class SqliteConnection(StudyConnection):
    """Through Python's own module."""

    def __init__(self, source: Connections, study: int, holder: str, path: Path) -> None:
        super().__init__(source, study, holder)
        beside = path.with_name(path.name + "-turns")
        self._turns = ByteLock(beside, study)
        # A name that `cp xstar.db*` does not match: reading a pipe waits for ever.
        self._queue = Queue(beside, path.with_name(f".{path.name}-wake"))

    def _connection(self) -> Any:
        if self._open is None:
            self._open = self._source.connect()
            self._open.execute("PRAGMA busy_timeout = 0")
        return self._open

    def append(self, entry: Entry) -> int:
        connection = self._connection()
        with self._transaction(connection):
            return self._write(connection, entry)

    @contextmanager
    def _transaction(self, connection: Any) -> Iterator[None]:
        """Committed when the block is left, rolled back by an error: whoever leaves one open locks all others out."""
        try:
            self._begin(connection)
            yield
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # a full disk has ended it already
                connection.execute("ROLLBACK")
            raise
        finally:
            self._queue.free()

    def _begin(self, connection: Any) -> None:
        self._queue.wait(TURN_SECONDS)  # whoever is at its head may hang
        for pause in pauses(connections.BUSY_SECONDS):
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
            time.sleep(pause)
        connection.execute("BEGIN IMMEDIATE")

    def _write(self, connection: Any, entry: Entry) -> int:
        found = connection.execute(COUNTED, (self._study,)).fetchone()
        if found is None:
            raise Refused(None)
        first: int
        first, claims = found
        if (entry.claims is not None and entry.claims != claims) or (entry.exact and entry.since != first):
            raise Refused(claims)
        token: str | None = entry.token
        for seq, (kind, body) in enumerate(zip(entry.kinds, entry.bodies, strict=True), start=first):
            connection.execute(INSERT, (self._study, seq, SCHEMA, kind, body, token))
            token = None
        connection.execute(COUNT, (first + len(entry.kinds), claims + entry.claimed, self._study))
        for trial, attempt, expires in entry.taken:
            connection.execute(TAKE, (self._study, trial, attempt, expires, self._holder))
        for trial, attempt in entry.ended:
            connection.execute(END, (self._study, trial, attempt))
        return first

    def lock(self, since: int, limit: int) -> Sequence[Row]:
        self._turns.wait(TURN_SECONDS)
        return self.read(since, limit)

    def unlock(self) -> None:
        self._turns.free()

    def write_cache(self, name: str, key: str, text: str) -> None:
        connection = self._connection()
        with self._transaction(connection):
            connection.execute(WRITE_CACHE, (name, key, text, self._study))

    def drop(self, *, forked: bool = False) -> None:
        if self._open is not None:
            if forked:
                connections.FOREIGN.append(self._open)
            else:
                self._open.close()
            self._open = None
        self._turns.close()
        self._queue.close()
