"""Appending to a study in SQLite: one short write transaction.

SQLite admits one writer at a time and has no queue: its own busy handler sleeps longer the longer it has waited, so who comes
late goes first. Here everyone who waits asks again after half a millisecond, more or less; among n that wait, each is next
with the same probability, and the lock is free for half a millisecond / n. A turn to make claims is a lock on one byte of a
file beside the database, which the system gives back when a program dies.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from xstar.journal import SCHEMA
from xstar.storage.line import COLUMNS, QUIET, Connections, Entry, Refused, Row

BUSY_SECONDS = 5.0
"""How long a locked database is asked again before it counts as an outage."""
TURN_SECONDS = 10.0
"""A turn that does not come within this time is not waited for: whoever has it may hang."""
PAUSE = 0.0005
"""Seconds between two looks at a lock, on average."""

READ = f"SELECT {COLUMNS} FROM xstar_events WHERE study = ? AND seq >= ? ORDER BY seq LIMIT ?"
WRITTEN = "SELECT seq FROM xstar_events WHERE study = ? AND seq >= ? AND token = ? ORDER BY seq LIMIT 1"
COUNTED = "SELECT events, claims FROM xstar_studies WHERE id = ?"
LOUD = f"SELECT 1 FROM xstar_events WHERE study = ? AND seq >= ? AND kind NOT IN ({QUIET}) LIMIT 1"
COUNT = "UPDATE xstar_studies SET events = ?, claims = ? WHERE id = ?"
INSERT = "INSERT INTO xstar_events (study, seq, schema, kind, body, token) VALUES (?, ?, ?, ?, ?, ?)"
TAKE = "INSERT OR REPLACE INTO xstar_leases (study, trial, attempt, expires, holder) VALUES (?, ?, ?, ?, ?)"
BORROW = "SELECT body FROM xstar_fits WHERE study = ? AND name = ? AND key = ?"
LEND = "INSERT OR REPLACE INTO xstar_fits (study, name, key, body) VALUES (?, ?, ?, ?)"
END = "DELETE FROM xstar_leases WHERE study = ? AND trial = ? AND attempt = ?"


class SqliteLine:
    """A :class:`~xstar.storage.line.Line` through Python's own module."""

    def __init__(self, connections: Connections, study: int, holder: str, path: Path) -> None:
        self._connections = connections
        self._study = study
        self._holder = holder
        self._open: Any = None
        self._turns = _ByteLock(path.with_name(path.name + "-turns"), study)

    def _connection(self) -> Any:
        if self._open is None:
            self._open = self._connections.connect()
            self._open.execute("PRAGMA busy_timeout = 0")
        return self._open

    def read(self, since: int, limit: int) -> Sequence[Row]:
        rows: list[Row] = self._connection().execute(READ, (self._study, since, limit)).fetchall()
        return rows

    def append(self, entry: Entry) -> Sequence[Row]:
        connection = self._connection()
        first = self._commit(connection, entry)
        return self.read(entry.since, first - entry.since) if first > entry.since else []

    def put(self, entry: Entry) -> int:
        return self._commit(self._connection(), entry)

    def _commit(self, connection: Any, entry: Entry) -> int:
        self._begin(connection)
        try:
            first = self._write(connection, entry)
            connection.execute("COMMIT")
            return first
        except BaseException:
            if connection.in_transaction:  # a full disk has ended it already
                connection.execute("ROLLBACK")
            raise

    def _begin(self, connection: Any) -> None:
        for pause in _pauses(BUSY_SECONDS):
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
        if entry.claims is not None and entry.claims != claims:
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

    def written(self, entry: Entry) -> Sequence[Row] | None:
        found = self.place(entry)
        return None if found is None else self.read(entry.since, found - entry.since)

    def place(self, entry: Entry) -> int | None:
        found = self._connection().execute(WRITTEN, (self._study, entry.since, entry.token)).fetchone()
        return None if found is None else int(found[0])

    def enter(self, since: int) -> Sequence[Row]:
        self._turns.wait()
        return self.read(since, -1)

    def tally(self, since: int) -> tuple[int, int, bool]:
        self._turns.wait()
        connection = self._connection()
        found = connection.execute(COUNTED, (self._study,)).fetchone()
        if found is None:
            raise Refused(None)
        return found[0], found[1], connection.execute(LOUD, (self._study, since)).fetchone() is None

    def leave(self) -> None:
        self._turns.free()

    def borrow(self, name: str, key: str) -> str | None:
        found = self._connection().execute(BORROW, (self._study, name, key)).fetchone()
        return None if found is None else str(found[0])

    def lend(self, name: str, key: str, text: str) -> None:
        connection = self._connection()
        self._begin(connection)
        connection.execute(LEND, (self._study, name, key, text))
        connection.execute("COMMIT")

    def drop(self, *, forked: bool = False) -> None:
        if self._open is not None:
            if forked:
                _FOREIGN.append(self._open)
            else:
                self._open.close()
            self._open = None
        self._turns.close()


_FOREIGN: list[Any] = []
"""Connections of the parent process. SQLite must not even close them here, so they are kept for good."""


def _pauses(seconds: float) -> Iterator[float]:
    """Pauses that add up to ``seconds``. They vary between programs and from one to the next, lest two keep in step."""
    step, spent = os.getpid(), 0.0
    while spent < seconds:
        step += 1
        pause = PAUSE * (0.5 + step * 0.6180339887 % 1.0)
        spent += pause
        yield pause


class _ByteLock:
    """A lock on byte ``place`` of a file, held by this process. Does nothing where files cannot be made or locked."""

    def __init__(self, path: Path, place: int) -> None:
        self._path = path
        self._place = place
        self._file: int | None = None

    def wait(self) -> None:
        try:
            import fcntl

            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except (ImportError, OSError):
            return
        for pause in _pauses(TURN_SECONDS):
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, self._place)
                return
            except OSError:
                time.sleep(pause)

    def free(self) -> None:
        if self._file is not None:
            import fcntl

            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, self._place)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
