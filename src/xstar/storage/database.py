"""One database, spoken to through SQLAlchemy: connections, transactions, retries, and errors that say what to do.

SQLite runs in WAL mode with ``synchronous=FULL``: a committed event survives a power cut, not only a killed process. That
costs one fsync per commit (0.3 to 1 ms where this was measured); a trial makes one when it is asked for and one per report.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import exc

from xstar.errors import InvalidArgument, MissingExtra, StorageBusy, StorageError, StorageFull, StorageReadOnly
from xstar.storage import tables

T = TypeVar("T")

BUSY_SECONDS = 5
"""How long SQLite itself waits for a lock before it says "locked"; we then ask again."""

ATTEMPTS = 5
"""Tries for a locked database or a lost connection, the pauses between them growing from 0.1 s to about a second and a half."""


def normalise(storage: str | os.PathLike[str]) -> sa.URL:
    """A path or a URL → the URL that SQLAlchemy gets."""
    text = os.fspath(storage)
    if not text:
        raise InvalidArgument(
            "storage", "must be a path or a database URL", storage, "e.g. 'xstar.db' or 'postgresql://…'"
        )
    if "://" not in text:
        return sa.URL.create("sqlite", database=str(Path(text).expanduser()))
    try:
        url = sa.make_url(text)
    except exc.ArgumentError:
        raise InvalidArgument(
            "storage", "must be a path or a database URL", text, "e.g. 'sqlite:///xstar.db'"
        ) from None
    if url.get_backend_name() == "sqlite":
        if url.database in (None, "", ":memory:"):
            raise InvalidArgument(
                "storage", "must name a file", text, "leave storage and study out for a study in memory"
            )
        return url
    if url.get_backend_name() in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise InvalidArgument(
        "storage", "must be SQLite or PostgreSQL", text, "e.g. 'sqlite:///xstar.db' or 'postgresql://…'"
    )


class Prepared:
    """A statement written with SQLAlchemy, compiled once for one database and then handed to its driver as text.

    Building and caching a statement anew for every execution costs SQLAlchemy more than SQLite's own work: the same trial,
    two fsyncs included, took 2.7 ms that way and 1.5 ms this way, measured one after the other on the same machine.
    """

    def __init__(self, statement: sa.Executable, dialect: sa.Dialect) -> None:
        compiled = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
        self._text: str = compiled.string
        self._order: list[str] | None = compiled.positiontup
        self._fixed: dict[str, Any] = {name: value for name, value in compiled.params.items() if value is not None}

    def run(self, connection: sa.Connection, *rows: Mapping[str, Any]) -> sa.CursorResult[Any]:
        """Execute once per row of parameters (once if there is none)."""
        given = [self._arranged({**self._fixed, **row}) for row in rows] or [self._arranged(self._fixed)]
        return connection.exec_driver_sql(self._text, given[0] if len(given) == 1 else given)

    def _arranged(self, row: dict[str, Any]) -> Any:
        return row if self._order is None else tuple(row[name] for name in self._order)


class Database:
    """Transactions against one URL."""

    def __init__(self, storage: str | os.PathLike[str]) -> None:
        url = normalise(storage)
        self.url = url.render_as_string(hide_password=True)
        self.path = Path((url.database or "").removeprefix("file:")) if url.get_backend_name() == "sqlite" else None
        self._sqlite = self.path is not None
        if self.path is not None and not self.path.parent.is_dir():
            raise StorageError(f"{self.url}: the folder {self.path.parent} does not exist; create it first")
        try:
            self._engine = sa.create_engine(
                url,
                connect_args={"timeout": BUSY_SECONDS} if self._sqlite and "timeout" not in url.query else {},
                pool_pre_ping=not self._sqlite,
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
            self.write(lambda connection: tables.migrate(connection, self.url))

    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work``, which only reads."""
        return self._retried(work, writing=False)

    def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work`` in a write transaction, committed when it returns. ``work`` may run several times."""
        return self._retried(work, writing=True)

    def _retried(self, work: Callable[[sa.Connection], T], *, writing: bool) -> T:
        if self._file is not None and _identity(self._place) != self._file:
            # SQLite would go on in the file that has no name any more. Asking costs 2 µs, a commit a hundred times that.
            raise StorageError(
                f"{self.url}: the file was deleted, moved or replaced while it was in use; what was recorded since is not in "
                f"{self._place}. Put it back, or restore a backup or an export, then run again"
            )
        for attempt in range(ATTEMPTS):
            try:
                with self._engine.connect() as connection:
                    if writing:
                        connection.execution_options(xstar_writing=True)
                    with connection.begin():
                        return work(connection)
            except exc.IntegrityError:
                raise
            except exc.DBAPIError as error:
                if not _passing(error) or attempt == ATTEMPTS - 1:
                    raise translated(error, self.url) from error
                # The process number spreads processes that collided, lest they collide again.
                time.sleep(0.1 * 2**attempt * (0.5 + os.getpid() % 16 / 32))
        raise AssertionError("unreachable")

    def prepare(self, statement: sa.Executable) -> Prepared:
        """The statement in the form that is fast to execute many times."""
        return Prepared(statement, self._engine.dialect)

    def close(self) -> None:
        self._engine.dispose()


def _identity(path: str) -> tuple[int, int] | None:
    """Which file it is, by its device and number on it; ``None`` if there is none (or the database is not a file)."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _drop_connections(engine: sa.Engine | None) -> None:
    if engine is not None:
        engine.dispose(close=False)


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


def _passing(error: exc.DBAPIError) -> bool:
    """Whether trying again may help."""
    text = str(error.orig).lower()
    return (
        error.connection_invalidated
        or "database is locked" in text
        or "database table is locked" in text
        or "deadlock detected" in text
        or "could not serialize" in text
        or "the database system is starting up" in text
    )


def translated(error: exc.DBAPIError, url: str) -> StorageError:
    """The error of our own tree that says what happened and what to do."""
    text = str(error.orig).strip() or type(error.orig).__name__
    low = text.lower()
    if "locked" in low:
        return StorageBusy(
            f"{url} stayed locked by another process ({text}); end that process, or use PostgreSQL for many writers"
        )
    if "is full" in low or "no space left" in low or "disk full" in low:
        return StorageFull(f"{url}: no room to write ({text}); nothing was half-written; free some space and run again")
    if "readonly" in low or "read-only" in low or "permission denied" in low:
        return StorageReadOnly(
            f"{url} may not be written to ({text}); check the permissions of the file and its folder"
        )
    if "not a database" in low or "malformed" in low:
        return StorageError(f"{url} is not a sound SQLite database ({text}); use another file, or restore a backup")
    if "unable to open" in low:
        return StorageError(f"{url} cannot be opened ({text}); check the path and its permissions")
    return StorageError(f"{url}: {text}")
