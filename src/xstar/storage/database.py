"""One database, spoken to through SQLAlchemy: connections, transactions, retries, and errors that say what to do.

SQLite runs in WAL mode with ``synchronous=FULL``: a committed event survives a power cut, not only a killed process. That
costs one fsync per commit (0.3 to 1 ms where this was measured); a trial makes one when it is asked for and one per report.
"""

from __future__ import annotations

import itertools
import logging
import os
import sqlite3
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import exc

from xstar.errors import InvalidArgument, MissingExtra, StorageError
from xstar.storage import tables
from xstar.storage.address import hide, masked, normalise, secrets_of, without_password
from xstar.storage.driver_errors import has_answered, is_lock, may_pass, text_of, translated
from xstar.storage.line import Line
from xstar.storage.postgresql import PostgresLine
from xstar.storage.sqlite import BUSY_SECONDS, SqliteLine

log = logging.getLogger("xstar")

T = TypeVar("T")

PATIENCE = 600.0
"""Seconds for which a database that was there and is not (a restart, a lost network, a lock) is waited for. Trials go on
meanwhile, and what they report is delivered afterwards. The environment variable ``XSTAR_STORAGE_PATIENCE`` sets another
number."""

PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0)
"""Seconds between tries; the last one is repeated."""

CONNECTION = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""libpq's own limits, unless the URL says otherwise: a server whose machine is gone must not be waited for without an end."""


IDLE_SECONDS = 20
"""After so long without a statement PostgreSQL ends a write transaction: a program that is stopped (Ctrl-Z, a laptop that
sleeps) while it renews its leases would keep their rows locked, and nobody could take over its trials."""


class Database:
    """Transactions against one URL."""

    def __init__(self, storage: str | os.PathLike[str], patience: float | None = None) -> None:
        url = normalise(storage)
        self.url = masked(url.render_as_string(hide_password=False))
        """Where it is, its password hidden."""
        self.address = without_password(url)
        """The same as it can be given again, to a program that finds the password itself."""
        self._secrets = secrets_of(url)
        self.path = Path((url.database or "").removeprefix("file:")) if url.get_backend_name() == "sqlite" else None
        self.patience = _patience() if patience is None else patience
        self._sqlite = self.path is not None
        self._reached = False
        self._outage: str | None = None
        self.outages = 0
        """How many outages have ended."""
        self._guard = threading.Lock()
        self._closed = threading.Event()
        self._lines: weakref.WeakSet[SqliteLine | PostgresLine] = weakref.WeakSet()
        if self.path is not None and not self.path.parent.is_dir():
            raise StorageError(f"{self.url}: the folder {self.path.parent} does not exist; create it first")
        limits = {"timeout": BUSY_SECONDS} if self._sqlite else CONNECTION
        # PostgreSQL takes 100 connections by default: a program has one of its own and others only while it needs them.
        pool = {} if self._sqlite else {"poolclass": sa.NullPool}
        try:
            self._engine = sa.create_engine(
                url, connect_args={key: value for key, value in limits.items() if key not in url.query}, **pool
            )
        except ModuleNotFoundError as error:
            raise MissingExtra(f"{self.url} needs {error.name}: pip install 'xstar[postgres]'") from None
        if self._sqlite:
            sa.event.listen(self._engine, "connect", _on_sqlite_connect)
            sa.event.listen(self._engine, "begin", _on_sqlite_begin)
        if hasattr(os, "register_at_fork"):
            # A connection must not be used on both sides of a fork. The hook lasts as long as the process: a weak reference.
            engine = weakref.ref(self._engine)
            os.register_at_fork(after_in_child=lambda: _drop_connections(engine()))
        # Whoever forgets to close a study does not leave connections behind.
        weakref.finalize(self, self._engine.dispose)
        self._place = os.path.abspath(self.path) if self.path is not None else ""
        self._file: tuple[int, int] | None = None
        self._prepare()
        self._file = _identity(self._place)

    def _prepare(self) -> None:
        found = self.read(tables.stored_format)
        tables.check(found, self.url)
        if found < tables.FORMAT:
            self.write(lambda connection: tables.make(connection, self.url))

    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work``, which only reads."""
        return self.patiently(lambda _: self._transaction(work, writing=False))

    def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work`` in a write transaction, committed when it returns. ``work`` may run several times."""
        return self.patiently(lambda _: self._transaction(work, writing=True))

    def _transaction(self, work: Callable[[sa.Connection], T], *, writing: bool) -> T:
        with self._engine.connect() as connection:
            if writing:
                connection.execution_options(xstar_writing=True)
            with connection.begin():
                if writing and not self._sqlite:
                    connection.exec_driver_sql(f"SET LOCAL idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'")
                return work(connection)

    def line(self, study: int, holder: str) -> Line:
        """The quick way to one study."""
        made: SqliteLine | PostgresLine
        made = PostgresLine(self, study, holder) if self.path is None else SqliteLine(self, study, holder, self.path)
        self._lines.add(made)
        return made

    def connect(self) -> Any:
        """A connection of the driver, outside of the pool."""
        taken = self._engine.raw_connection()
        connection = taken.driver_connection
        taken.detach()
        return connection

    def outside(self) -> dict[str, Any]:
        """How a process without this package connects (``renewer.py``): JSON, with the password if there is one."""
        if self.path is not None:
            return {"file": f"{self.path.absolute().as_uri()}?mode=rw"}  # it never makes the file
        arguments, options = self._engine.dialect.create_connect_args(self._engine.url)
        # Without SQLAlchemy's adapters.
        known = {name: value for name, value in options.items() if isinstance(value, str | int | float | list | tuple)}
        return {"path": sys.path, "arguments": arguments, "options": {**CONNECTION, **known}}

    def backup(self, target: Path) -> None:
        """Copy the database into a new file, which appears when it is whole."""
        if self.path is None:
            remedy = "PostgreSQL's own pg_dump makes a backup while searches run"
            raise InvalidArgument("storage", "must be a SQLite file to be copied", self.address, remedy)
        if target.exists():
            raise InvalidArgument("target", "must be a file that is not there yet", str(target), "choose another name")
        if not os.access(target.parent, os.W_OK):
            raise InvalidArgument("target", "must be in a folder that can be written to", str(target))
        part = target.with_name(target.name + ".part")

        def copy(_: int) -> None:
            with closing(self.connect()) as source, closing(sqlite3.connect(part)) as copied:
                source.backup(copied)

        try:
            self.patiently(copy)
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)

    # ------------------------------------------------------------ outages

    def patiently(self, work: Callable[[int], T]) -> T:
        """Call ``work`` with 0, 1, 2, … until no outage ends it; with an error of our tree if one outlasts ``patience``."""
        if self._file is not None and _identity(self._place) != self._file:
            # SQLite would go on in the file that has no name any more. Asking costs 2 µs, a commit a hundred times that.
            raise StorageError(
                f"{self.url}: the file was deleted, moved or replaced while it was in use; what was recorded since is not in "
                f"{self._place}. Put it back, or restore a backup or an export, then run again"
            )
        waited = 0.0
        for attempt in itertools.count():
            try:
                done = work(attempt)
            except exc.IntegrityError:
                raise
            except self._errors() as error:
                # What was never reached is no outage but a mistake in its name; unless it has answered itself.
                locked = is_lock(error)
                there = self._reached or locked or has_answered(error)
                if not may_pass(error) or waited >= self.patience or not there:
                    raise self._translated(error) from self._cause(error)
                self._begin_outage(error)
                pause = PAUSES[min(attempt, len(PAUSES) - 1)]
                waited += pause + (BUSY_SECONDS if locked else 0.0)
                if self._closed.wait(pause):
                    raise self._translated(error) from self._cause(error)
            else:
                self._reached = True
                if self._outage is not None:
                    self._end_outage()
                return done
        raise AssertionError("unreachable")

    def _translated(self, error: Exception) -> StorageError:
        found = translated(error, self.url)
        return type(found)(hide(str(found), self._secrets))

    def _cause(self, error: Exception) -> Exception | None:
        """The driver's error, to be shown below ours; not one that spells out a password."""
        return None if hide(str(error), self._secrets) != str(error) else error

    def _errors(self) -> tuple[type[Exception], ...]:
        if self._sqlite:
            return exc.DBAPIError, sqlite3.Error
        import psycopg

        return exc.DBAPIError, psycopg.Error

    def _begin_outage(self, error: Exception) -> None:
        with self._guard:
            if self._outage is None:
                self._outage = hide(text_of(error).splitlines()[0], self._secrets)
                log.warning(
                    "%s cannot be used (%s); trying again for %g s, running trials go on meanwhile",
                    *(self.url, self._outage, self.patience),
                )

    def _end_outage(self) -> None:
        with self._guard:
            if self._outage is not None:
                self._outage = None
                self.outages += 1
                log.warning("%s can be used again", self.url)

    def close(self) -> None:
        self._closed.set()
        for line in list(self._lines):
            line.drop()
        self._engine.dispose()


def _identity(path: str) -> tuple[int, int] | None:
    """Which file it is, by its device and number on it; ``None`` if there is none (or the database is not a file)."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _patience() -> float:
    text = os.environ.get("XSTAR_STORAGE_PATIENCE", "")
    if not text:
        return PATIENCE
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise InvalidArgument("XSTAR_STORAGE_PATIENCE", "must be a number of seconds, 0 or more", text, "e.g. 600")
    return seconds


def _drop_connections(engine: sa.Engine | None) -> None:
    if engine is not None:
        _FOREIGN.append(engine.pool)
        engine.dispose(close=False)


_FOREIGN: list[sa.Pool] = []
"""Connections of the parent process. SQLite must not even close them here, so they are kept for good."""


def _on_sqlite_connect(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions are ours to begin: the driver would start them late and deferred
    cursor = connection.cursor()
    try:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {pragma}")
    except Exception as error:
        if "readonly" not in str(error):  # a database opened for reading only keeps the mode it has
            raise
    finally:
        cursor.close()


def _on_sqlite_begin(connection: sa.Connection) -> None:
    # A writer takes the lock at once: upgrading a read transaction later fails without waiting when others wrote meanwhile.
    # A reader sends a single SELECT, which is a consistent snapshot by itself.
    if connection.get_execution_options().get("xstar_writing"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
