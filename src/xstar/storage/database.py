"""One database: transactions that are tried again during an outage, and errors that say what to do."""

from __future__ import annotations

import itertools
import logging
import os
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from xstar.errors import RESTORE, InvalidArgument, StorageBusy, StorageError, StorageFull, StorageReadOnly
from xstar.storage import connections, tables
from xstar.storage.address import Address, hide, masked
from xstar.storage.connections import Connections, Statements
from xstar.storage.entry import StudyConnection
from xstar.storage.postgresql import PostgresConnection
from xstar.storage.sqlite import SqliteConnection

log = logging.getLogger("xstar")

T = TypeVar("T")

STORAGE_PATIENCE = 600.0
"""Seconds for which a database that was there and is not (a restart, a lost network, a lock) is waited for. Trials go on
meanwhile, and what they report is delivered afterwards. The environment variable ``XSTAR_STORAGE_PATIENCE`` sets another
number."""

OTHER = "give the right one with --storage or in XSTAR_STORAGE; `xstar run` makes a new one"

PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0)
"""Seconds between tries; the last one is repeated."""


class Database:
    """Transactions against one URL."""

    def __init__(self, storage: str | os.PathLike[str], *, make: bool = True) -> None:
        address = Address.of(storage)
        self.url = masked(str(address))
        """Where it is, its password hidden."""
        self.address = str(address.without_password())
        """The same as it can be given again, to a program that finds the password itself."""
        self._secrets = address.secrets
        shown, address = address.path, address.from_anywhere()
        self.path = address.path
        self.patience = _patience()
        self._reached = False
        self._outage: str | None = None
        self.outages = 0
        """How many outages have ended."""
        self._guard = threading.Lock()
        self._closed = threading.Event()
        self._studies: weakref.WeakSet[StudyConnection] = weakref.WeakSet()
        if self.path is not None and not self.path.parent.is_dir():
            raise StorageError(f"{self.url}: the folder {self.path.parent} does not exist; create it first")
        self.connections = Connections(address)
        self._place = str(self.path or "")
        self._file: tuple[int, int] | None = None
        if self.path is not None:
            if not make and not self.path.exists():
                raise StorageError(f"there is no storage {shown}; {OTHER}")
            check_log(self.path)
        self._prepare(make)
        self._file = _identity(self._place)

    def _prepare(self, make: bool) -> None:
        found = self.read(tables.stored_format)
        tables.check(found, self.url)
        if found < tables.FORMAT:
            if not make and self.path is not None:
                raise StorageError(f"{self.url} is a SQLite database, but holds no studies; {OTHER}")
            self.write(lambda database: tables.make(database, self.url))
        if make and self.path is not None:
            self.patiently(lambda _: self.connections.use_log())
            self._name_log(self.path.with_name(self.path.name + "-wal"))

    def _name_log(self, log: Path) -> None:
        """Have the log begin with the first page, which says whose it is (``check_log``)."""
        if not log.exists() or not log.stat().st_size:
            identity = self.read(lambda database: database.value("PRAGMA application_id"))
            with suppress(self.connections.errors):  # it may not be written to now: then it is read
                self.connections.transaction(
                    lambda database: database.execute(f"PRAGMA application_id = {identity}"), writing=True
                )

    def read(self, work: Callable[[Statements], T]) -> T:
        """Run ``work``, which only reads."""
        return self.patiently(lambda _: self.connections.transaction(work, writing=False))

    def write(self, work: Callable[[Statements], T]) -> T:
        """Run ``work`` in a write transaction, committed when it returns. ``work`` may run several times."""
        return self.patiently(lambda _: self.connections.transaction(work, writing=True))

    def study(self, study: int, holder: str) -> StudyConnection:
        """A connection for one study's journal."""
        source, path = self.connections, self.path
        made: StudyConnection
        if path is None:
            made = PostgresConnection(source, study, holder)
        else:
            made = SqliteConnection(source, study, holder, path)
        self._studies.add(made)
        return made

    # ------------------------------------------------------------ outages

    def patiently(self, work: Callable[[int], T], drop: Callable[[], None] = lambda: None) -> T:
        """Call ``work`` with 0, 1, 2, … until no outage ends it, and ``drop`` in between.

        Raises an error of our tree if an outage outlasts ``patience``.
        """
        if self._file is not None and _identity(self._place) != self._file:
            # SQLite would go on in the file that has no name any more. Asking costs 2 µs, a commit a hundred times that.
            raise StorageError(
                f"{self.url}: the file was deleted, moved or replaced while it was in use; what was recorded since is not in "
                f"{self._place}. Put it back, or a backup ({RESTORE}), then run again"
            )
        waited = 0.0
        for attempt in itertools.count():
            try:
                done = work(attempt)
            except self.connections.errors as error:
                # What was never reached is no outage but a mistake in its name; unless it has answered itself.
                locked = "locked" in text_of(error).lower()
                there = self._reached or locked or has_answered(error)
                if not may_pass(error) or waited >= self.patience or not there:
                    raise self._translated(error) from self._cause(error)
                self._begin_outage(error)
                pause = PAUSES[min(attempt, len(PAUSES) - 1)]
                waited += pause + (connections.BUSY_SECONDS if locked else 0.0)
                if self._closed.wait(pause):
                    raise self._translated(error) from self._cause(error)
                drop()
            else:
                self._reached = True
                if self._outage is not None:
                    self._end_outage()
                return done
        raise AssertionError("unreachable")

    def _translated(self, error: Exception) -> StorageError:
        found = translated(error, self.url, self.path)
        return type(found)(hide(str(found), self._secrets))

    def _cause(self, error: Exception) -> Exception | None:
        """The driver's error, to be shown below ours; not one that spells out a password."""
        return None if hide(str(error), self._secrets) != str(error) else error

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
        for connection in list(self._studies):
            connection.drop()
        self.connections.close()


def _identity(path: str) -> tuple[int, int] | None:
    """Which file it is, by its device and number on it; ``None`` if there is none (or the database is not a file)."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check_log(path: Path) -> None:
    """Refuse a file beside the log of another one, which SQLite would play back into it.

    A file that ``xstar backup`` or ``restore`` made says that it has none (``connections.MARK``), until a search goes on in it.
    After that a log is another file's if it has a first page with another file's identity (``tables.new_identity``).
    """
    log = path.with_name(path.name + "-wal")
    if not log.exists() or not log.stat().st_size:  # looked for first: see ``use_log``
        return
    marked, own = connections.says(path)
    other = _identity_in(log)
    if marked or (own and other and own != other):
        raise StorageError(
            f"{log} is the log of another file that was called {path.name}, and would destroy this one: move it away. "
            f"A backup is put in place by {RESTORE}, which does so"
        )


def _identity_in(log: Path) -> int:
    """The identity of the file that a log is of; 0 if the log has not its first page."""
    with log.open("rb") as file:
        size = int.from_bytes(file.read(12)[8:], "big")
        at = 32
        while size:
            file.seek(at)
            frame = file.read(24 + 100)
            if len(frame) < 124:
                break
            # The words tell the page from what is left of another one while a program writes this frame.
            if frame[:4] == b"\0\0\0\1" and frame[24:40] == b"SQLite format 3\0":
                return int.from_bytes(frame[24 + 68 : 24 + 72], "big")
            at += 24 + size
    return 0


def _patience() -> float:
    text = os.environ.get("XSTAR_STORAGE_PATIENCE", "")
    if not text:
        return STORAGE_PATIENCE
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise InvalidArgument("XSTAR_STORAGE_PATIENCE", "must be a number of seconds, 0 or more", text, "e.g. 600")
    return seconds


# ---------------------------------------------------------------- what an error of a driver means


_THERE = (
    *("starting up", "not yet accepting", "recovery mode"),
    *("shutting down", "administrator command", "server closed the connection"),
)
"""How a server says that it is there, though it cannot be used just now."""
_LOST = (
    *("database is locked", "database table is locked", "deadlock detected", "could not serialize", "lock timeout"),
    *_THERE,
    *("too many clients", "remaining connection slots"),
    *("connection failed", "connection refused", "connection reset", "connection is lost", "connection is closed"),
    *("connection is bad", "connection already closed", "pipeline aborted"),
    *("timed out", "timeout expired", "no route to host", "name resolution", "consuming input failed"),
    *("sending query failed", "broken pipe", "ssl syscall", "unexpected eof", "crash of another server process"),
)
"""How SQLite, libpq and PostgreSQL say that trying again may help."""

_LOST_STATES = ("08", "25006", "25P03", "57P01", "57P02", "57P03", "57P05", "40001", "40P01", "53300", "55P03")
"""The same by PostgreSQL's codes, as they begin: its messages come in many words and languages. A broken connection, a server
that takes no writes (a failover), a transaction or session that was idle for long, a server that is shut down, crashes or
starts, a transaction that lost against another, too many connections, a lock not to be had."""


def text_of(error: Exception) -> str:
    """What the driver said."""
    return str(error).strip() or type(error).__name__


def has_answered(error: Exception) -> bool:
    """Whether a server is there: it says that it starts or is shut down, or has ended a connection that it had accepted."""
    text = text_of(error).lower()
    return any(words in text for words in _THERE)


def may_pass(error: Exception) -> bool:
    """Whether trying again may help."""
    text = text_of(error).lower()
    if "authentication failed" in text or "does not exist" in text:
        return False
    state = getattr(error, "sqlstate", None) or ""
    return state.startswith(_LOST_STATES) or any(words in text for words in _LOST)


def translated(error: Exception, url: str, path: Path | None) -> StorageError:
    """The error of our own tree that says what happened and what to do; ``path`` is that of SQLite's file."""
    text = text_of(error)
    low = text.lower()
    if "locked" in low:
        return StorageBusy(
            f"{url} stayed locked by another process ({text}); end that process, or use PostgreSQL for many writers"
        )
    unwritable = any(
        words in low for words in ("readonly", "read-only", "permission denied", "disk i/o", "unable to open")
    )
    obstacle = _obstacle(path) if unwritable and path is not None else None
    if "is full" in low or "no space left" in low or "disk full" in low or obstacle == FULL:
        return StorageFull(f"{url}: no room to write ({text}); nothing was half-written; free some space and run again")
    if obstacle is not None:
        return StorageReadOnly(f"{url} may not be written to: {obstacle} ({text})")
    if "read-only" in low and path is None:
        return StorageReadOnly(
            f"{url} takes no writes ({text}): is it a standby? Give the address of the primary server"
        )
    if "readonly" in low or "permission denied" in low:
        what = "the rights of the user" if path is None else "the permissions of the file and its folder"
        return StorageReadOnly(f"{url} may not be written to ({text}); check {what}")
    if "not a database" in low or "malformed" in low:
        return StorageError(f"{url} is not a sound SQLite database ({text}); use another file, or a backup: {RESTORE}")
    if "unable to open" in low and path is not None and path.is_dir():
        return StorageError(f"{url} is a folder and must be a file; e.g. xstar.db in it")
    if "unable to open" in low:
        return StorageError(f"{url} cannot be opened ({text}); check the path and its permissions")
    return StorageError(f"{url}: {text}")


FULL = "the file system is full"
_LEAST = 100_000
"""Bytes without which SQLite cannot work: its index of the log alone takes 32,768."""


def _obstacle(path: Path) -> str | None:
    """Why nothing can be written to a file and beside it."""
    folder = path.parent
    try:
        system = os.statvfs(folder)
    except OSError:
        return None
    if system.f_flag & os.ST_RDONLY:
        return "the file system is read-only"
    if system.f_blocks and system.f_bavail * system.f_frsize < _LEAST:  # /proc and its like have no blocks at all
        return FULL
    refused = [str(each) for each in (folder, path) if each.exists() and not os.access(each, os.W_OK)]
    return f"no permission for {refused[0]}" if refused else None
