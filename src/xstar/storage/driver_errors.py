"""What an error of a database driver means: whether trying again may help, and what the user is told."""

from __future__ import annotations

from pathlib import Path

from xstar.errors import StorageBusy, StorageError, StorageFull, StorageReadOnly

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

_LOST_STATES = ("08", "25P03", "57P01", "57P02", "57P03", "40001", "40P01", "53300", "55P03")
"""The same by PostgreSQL's codes, as they begin: its messages come in many words and languages. A broken connection, a
transaction in which nothing happened for long, a server that is shut down, crashes or starts, a transaction that lost against
another, too many connections, a lock not to be had."""


def text_of(error: Exception) -> str:
    """What the driver said."""
    return str(error).strip() or type(error).__name__


def is_lock(error: Exception) -> bool:
    """Whether someone else holds a lock that is needed."""
    return "locked" in str(error).lower()


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


def translated(error: Exception, url: str) -> StorageError:
    """The error of our own tree that says what happened and what to do."""
    text = text_of(error)
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
    if "unable to open" in low and Path(url.removeprefix("sqlite:///")).is_dir():
        return StorageError(f"{url} is a folder and must be a file; e.g. xstar.db in it")
    if "unable to open" in low:
        return StorageError(f"{url} cannot be opened ({text}); check the path and its permissions")
    return StorageError(f"{url}: {text}")
