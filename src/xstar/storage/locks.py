"""Locks that programs on one machine take in turn, beside a SQLite file. The system gives them back when a program dies.

Nothing rests on them: SQLite's own lock and the count of claims keep a study sound. They save programs from finding the
database locked, and from making decisions that conflict. A lock that does not come is therefore not waited for without an end.

SQLite has no queue of writers, and looking again and again takes processor time from those who work: whoever frees the lock
wakes one that waits. (Waiting in ``F_SETLKW`` would be as good, but knows no time limit.)
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Iterator
from pathlib import Path

PAUSE = 0.0005
"""Seconds between two looks at a lock, on average."""
NUDGE = 0.002
"""Seconds after which one who waits to be woken looks all the same, on average: who should have woken it may have been killed,
and on a busy machine the one that was woken may have to wait for a processor while another has one."""


def pauses(seconds: float, mean: float = PAUSE) -> Iterator[float]:
    """Pauses that add up to ``seconds``. They vary between programs and from one to the next, lest two keep in step."""
    step, spent = os.getpid(), 0.0
    while spent < seconds:
        step += 1
        pause = mean * (0.5 + step * 0.6180339887 % 1.0)
        spent += pause
        yield pause


class ByteLock:
    """A lock on byte ``place`` of a file, held by this process. Does nothing where files cannot be made or locked."""

    def __init__(self, path: Path, place: int) -> None:
        self._path = path
        self._place = place
        self._file: int | None = None

    def look(self) -> bool:
        """Take it if it is free; true also where there is nothing to take."""
        try:
            import fcntl

            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except (ImportError, OSError):
            return True
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, self._place)
        except OSError:
            return False
        return True

    def wait(self, seconds: float, mean: float = PAUSE) -> None:
        """Take it as soon as it is free, or go on without it."""
        for pause in pauses(seconds, mean):
            if self.look():
                return
            time.sleep(pause)

    def free(self) -> None:
        if self._file is not None:
            import fcntl

            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, self._place)

    def close(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # an objective in this process may have closed it
                os.close(self._file)
            self._file = None


class Queue:
    """A lock whose holder, when it frees it, wakes one of those who wait: by a byte in a named pipe that all have open.

    Whoever reads the byte looks at the lock; if it was taken meanwhile, the one who took it will write another. Linux wakes
    only one of many that wait for a pipe (``EPOLLEXCLUSIVE``). Elsewhere everyone looks again and again.
    """

    def __init__(self, path: Path, pipe: Path) -> None:
        self._lock = ByteLock(path, 0)
        self._path = pipe
        self._pipe: int | None = None
        self._poll: select.epoll | None = None

    def wait(self, seconds: float) -> None:
        """Take it as soon as it is free, or go on without it."""
        self._open()
        if self._lock.look():
            return
        if self._pipe is None or self._poll is None:
            self._lock.wait(seconds)
            return
        left = pauses(seconds, NUDGE)
        # Registered anew each time: who has waited longest is woken first.
        self._poll.register(self._pipe, select.EPOLLIN | select.EPOLLEXCLUSIVE)
        try:
            while not self._lock.look():
                pause = next(left, None)
                if pause is None:
                    return
                self._poll.poll(pause)
                with contextlib.suppress(OSError):  # someone else has read it
                    os.read(self._pipe, 4096)
        finally:
            self._poll.unregister(self._pipe)

    def free(self) -> None:
        self._lock.free()
        if self._pipe is not None:
            with contextlib.suppress(OSError):  # full: those who wait have been told often enough
                os.write(self._pipe, b".")

    def close(self) -> None:
        self._lock.close()
        if self._poll is not None:
            self._poll.close()
            self._poll = None
        if self._pipe is not None:
            with contextlib.suppress(OSError):
                os.close(self._pipe)
            self._pipe = None

    def _open(self) -> None:
        if self._pipe is not None or not hasattr(select, "EPOLLEXCLUSIVE"):
            return
        try:
            with contextlib.suppress(FileExistsError):
                os.mkfifo(self._path, 0o666)
            self._pipe = os.open(self._path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            self._poll = select.epoll()
        except OSError:  # a folder that may not be written to, or a file system without pipes
            return
