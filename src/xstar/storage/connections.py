"""Connections to a database, and statements that both drivers understand: :mod:`sqlite3` and psycopg.

SQLite runs in WAL mode (``use_log``) with ``synchronous=FULL``: a committed event survives a power cut, not only a killed
process.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from xstar.errors import MissingExtra
from xstar.storage.address import Address

T = TypeVar("T")

BUSY_SECONDS = 5.0
"""How long a locked SQLite database is asked again before it counts as an outage."""

COMPANIONS = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a file, and finds again by the name alone."""

_UNWRITABLE = ("SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_FULL")
"""Where SQLite cannot write, it fails to open with one of these."""

LIMITS = {
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


class Statements:
    """Statements over one connection; ``?`` stands for a value."""

    def __init__(self, connection: Any, source: Connections) -> None:
        self._connection = connection
        self._source = source
        self.is_server = source.is_server

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """The driver's cursor."""
        return self._connection.execute(self._source.written(statement), values)

    def execute_for_each(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute it once for each row of values."""
        self._connection.cursor().executemany(self._source.written(statement), rows)

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """What a query finds."""
        found: list[Any] = self.execute(statement, values).fetchall()
        return found

    def value(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """The first column of the first row; ``None`` if there is none."""
        found = self.execute(statement, values).fetchone()
        return None if found is None else found[0]


class Frozen(sqlite3.Connection):
    """A file as it was when it was opened, which could only be read: to be closed after use, others may write to it."""


class Connections:
    """Makes connections to one database. SQLite's is kept for the next transaction; a server has few, so they are closed."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self.is_server = address.kind == "postgresql"
        self.errors: type[Exception] = _psycopg(address).Error if self.is_server else sqlite3.Error
        """The driver's errors."""
        self._idle: list[Any] = []
        self._guard = threading.Lock()
        # Whoever forgets to close a study does not leave connections behind.
        weakref.finalize(self, _close, self._idle)
        if hasattr(os, "register_at_fork"):
            # A connection must not be used on both sides of a fork. The hook lasts as long as the process: a weak reference.
            this = weakref.ref(self)
            os.register_at_fork(after_in_child=lambda: _forget(this()))

    def connect(self) -> Any:
        """A new connection of the driver, on which each statement is a transaction of its own until one is begun."""
        if self.is_server:
            return _psycopg(self._address).connect(**self.options, autocommit=True)
        try:
            return self._open_file(self._address.database)
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith(_UNWRITABLE) or not os.path.isfile(self._address.database):
                raise
            return self._open_for_reading(Path(self._address.database))

    def _open_file(self, file: str, *, frozen: bool = False) -> Any:
        connection = sqlite3.connect(
            file,
            factory=Frozen if frozen else sqlite3.Connection,
            uri=frozen,
            timeout=BUSY_SECONDS,
            isolation_level=None,  # transactions are ours to begin: the driver would start them late and deferred
            check_same_thread=False,  # threads take turns
        )
        try:
            for pragma in ("synchronous=FULL", "foreign_keys=ON"):
                connection.execute(f"PRAGMA {pragma}")
            connection.execute("SELECT 1 FROM sqlite_master")
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_for_reading(self, path: Path) -> Any:
        """A file in a folder that cannot be written to, as SQLite would do even to read; with its log, a copy of both."""
        log = path.with_name(path.name + "-wal")
        if not log.exists() or not log.stat().st_size:
            return self._open_file(f"{path.absolute().as_uri()}?immutable=1", frozen=True)
        with tempfile.TemporaryDirectory(prefix="xstar-") as folder:
            copy = Path(folder) / path.name
            # Not by this process: a file that it closes loses all the locks that its own connections have.
            subprocess.run(["cp", path, log, folder], check=True)
            self._open_file(str(copy)).close()  # which plays the log back
            return self._open_file(f"{copy.as_uri()}?immutable=1", frozen=True)

    def use_log(self) -> None:
        """Have SQLite write to a log first (WAL): readers and the writer do not wait for each other. The file remembers it."""
        with closing(self.connect()) as connection:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                with suppress(sqlite3.OperationalError):  # it may not be written to, or others use it: it works without
                    connection.execute("PRAGMA user_version=0")  # before there is a log
                    connection.execute("PRAGMA journal_mode=WAL")

    @property
    def options(self) -> dict[str, Any]:
        """What psycopg is given."""
        return {**LIMITS, **self._address.options}

    def outside(self) -> dict[str, Any]:
        """How a process without this package connects (``renewer.py``): JSON, with the password if there is one."""
        path = self._address.path
        if path is not None:
            return {"file": f"{path.as_uri()}?mode=rw"}  # it never makes the file
        return {"path": sys.path, "options": self.options}

    def written(self, statement: str) -> str:
        """A statement as the driver takes it."""
        return statement.replace("?", "%s") if self.is_server else statement

    def transaction(self, work: Callable[[Statements], T], *, writing: bool) -> T:
        """What ``work`` returns; what it wrote is committed then. Reading takes no transaction: each query is consistent."""
        with self._guard:
            connection = self._idle.pop() if self._idle else None
        connection = self.connect() if connection is None else connection
        try:
            if writing and self.is_server:
                connection.execute(f"BEGIN; SET LOCAL idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'")
            elif writing:  # at once: a reader that begins to write fails without waiting if others wrote meanwhile
                connection.execute("BEGIN IMMEDIATE")
            done = work(Statements(connection, self))
            if writing:
                connection.execute("COMMIT")
        except BaseException:
            connection.close()  # which takes back what it wrote
            raise
        with self._guard:
            if not self.is_server and not self._idle and not isinstance(connection, Frozen):
                self._idle.append(connection)
                return done
        connection.close()
        return done

    def close(self) -> None:
        """Close what is kept."""
        with self._guard:
            _close(self._idle)


MARK = "PRAGMA user_version=1"
"""What a copy says of itself: that it has no log. One that is found beside it is another file's."""


def says(path: Path) -> tuple[bool, int]:
    """Whether a file has this mark, and its identity (0 if none), whatever lies beside it.

    SQLite is asked, in its way of reading the file alone. To open and close it here would take away the locks that this process
    has on it through other connections, and others would write to what those read.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            mark, identity = (
                connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "application_id")
            )
            return bool(mark), identity
    except sqlite3.Error:  # none is there, or it is not whole without its log
        return False, 0


def _psycopg(address: Address) -> Any:
    try:
        import psycopg
    except ModuleNotFoundError as error:
        shown = address.without_password()
        raise MissingExtra(f"{shown} needs {error.name}: pip install '.[postgres]' in a checkout of xstar") from None
    return psycopg


def _close(connections: list[Any]) -> None:
    while connections:
        connections.pop().close()


def _forget(connections: Connections | None) -> None:
    if connections is not None:
        FOREIGN.extend(connections._idle)
        connections._idle.clear()
        connections._guard = threading.Lock()  # another thread of the parent may have held it


FOREIGN: list[Any] = []
"""Connections of the parent process. SQLite must not even close them here, so they are kept for good."""
