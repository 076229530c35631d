"""Renews the leases of a program whose heartbeat is silent: ``python -I -S renewer.py LEASE PROGRAM``, a
program that is never imported.

A thread cannot be relied on: an objective that holds the interpreter (a long call into C, ``sum(range(10**11))``) lets no other
thread run. This process needs the standard library alone, starts in a few milliseconds and then waits. On its standard input
come a line of JSON (what to renew, and where: it may hold a password, so it stands in no command line), then a byte for every
heartbeat. While these come it does nothing; a short search is over before it opens a database for the first time.

When they have not come for half a lease, it asks the system about the program. One that computes keeps its leases. One that is
stopped (SIGSTOP, Ctrl-Z, a debugger) does not: it trains nothing, and others shall go on with its trials. With the program it
ends, also if that is killed.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # what takes time to import is imported when it is needed, which is never in most searches
    from typing import Any

END = b"q"
"""The byte after which nothing is to be renewed any more; a process forked by the program may hold the pipe open."""


def main() -> None:
    """Fork, so that a program which waits for all its children does not wait for this one; then serve it."""
    lease, parent = float(sys.argv[1]), int(sys.argv[2])
    watched = _watch(parent)
    if os.getppid() != parent or os.fork():  # had it died before `_watch`, we might watch someone else
        return
    os.setsid()  # signals for the program's group, as that of Ctrl-C, are not meant for us
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    line = b""
    while not line.endswith(b"\n"):
        if not (read := os.read(0, 1)):
            return
        line += read
    serve(parent, watched, lease, line)


def _watch(parent: int) -> int | None:
    """A file descriptor that becomes readable when the program ends; ``None`` where there are none (macOS)."""
    try:
        return os.pidfd_open(parent)  # type: ignore[attr-defined, unused-ignore]
    except (AttributeError, OSError):
        return None


def serve(parent: int, watched: int | None, lease: float, given: bytes) -> None:
    """Renew whenever no heartbeat has come for half a lease, until the program ends or says so."""
    poll = select.poll()
    for file in (0, *(() if watched is None else (watched,))):
        poll.register(file, select.POLLIN)
    due = time.monotonic() + lease / 2
    while True:
        ready = {file for file, _ in poll.poll(max(0.0, due - time.monotonic()) * 1000)}
        if watched in ready or (watched is None and not _lives(parent)):
            return
        if 0 in ready:
            heard = os.read(0, 4096)
            if not heard or END in heard:
                return
            due = time.monotonic() + lease / 2
        elif time.monotonic() >= due:
            due = time.monotonic() + (lease / 4 if not _is_stopped(parent) and renew(given) else lease / 8)


def _lives(parent: int) -> bool:
    try:
        os.kill(parent, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _is_stopped(parent: int) -> bool:
    try:
        with open(f"/proc/{parent}/stat", encoding="utf-8", errors="replace") as file:
            state = file.read().rpartition(")")[2].split()[0]
    except OSError:  # no /proc, as on macOS
        with os.popen(f"ps -o state= -p {parent}") as answer:
            state = answer.read().strip()[:1]
    return state in ("T", "t")


def renew(line: bytes) -> bool:
    """Whether it could be done; if not, it is tried again: the database may be locked, or down."""
    import json
    from contextlib import closing

    given = json.loads(line)
    try:
        with closing(_connect(given)) as connection:
            connection.execute(given["statement"], (time.time() + given["lease"], given["study"], given["holder"]))
    except Exception:  # of a driver that may not be named here
        return False
    return True


def _connect(given: dict[str, Any]) -> Any:
    if "file" in given:
        import sqlite3

        return sqlite3.connect(given["file"], uri=True, isolation_level=None)
    sys.path[:] = given["path"]
    import psycopg

    return psycopg.connect(**given["options"], autocommit=True)


if __name__ == "__main__":
    main()
