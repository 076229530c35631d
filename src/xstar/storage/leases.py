"""Who holds a trial; a thread that keeps the leases of this process alive while it computes, waits or trains; and a process
that does so when the thread cannot because something holds the interpreter (``renewer.py``).

A dead process on this machine is noticed at once, so a restart after a crash need not wait for a lease to expire. On another
machine only the expiry tells.

A lease ends at a moment of the wall clock, the only clock that machines share. If this machine's clock is set forward, or it
slept, leases of other programs look expired although they live. Looking for dead programs therefore waits, once such a jump is
noticed (the wall clock and the monotonic one disagree), until everyone who lives must have renewed by the new time.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import uuid
import weakref
from collections.abc import Callable, Sized
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xstar.core.processes import machine, started
from xstar.errors import StorageError
from xstar.journal import Journal, SharedJournal

log = logging.getLogger("xstar")

BEATS_PER_LEASE = 4
"""Renewals per lease: three may fail in a row (a locked database, a slow network) before the lease is lost."""

PROGRAM = Path(__file__).with_name("renewer.py")


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """One open study in one process, named so that others on the same machine can see whether it lives."""

    machine: str
    process: int
    started: str
    """When the process started: its number may be given to another one later."""
    unique: str

    @classmethod
    def new(cls) -> LeaseHolder:
        """This process, under a name that nobody else has."""
        process = os.getpid()
        return cls(machine(), process, started(process) or "", uuid.uuid4().hex[:12])

    @classmethod
    def parse(cls, text: str) -> LeaseHolder | None:
        """The holder that was stored as ``text``; ``None`` if a later release wrote it in another form."""
        parts = text.split("|")
        if len(parts) != 4 or not parts[1].isdigit():
            return None
        return cls(parts[0], int(parts[1]), parts[2], parts[3])

    @property
    def host(self) -> str:
        """The name of the machine alone."""
        return self.machine.partition("/")[0]

    def __str__(self) -> str:
        return f"{self.machine}|{self.process}|{self.started}|{self.unique}"

    def lives_here(self) -> bool:
        """Whether the holder is a process of this machine that has not ended, as far as can be told."""
        return self.machine == machine() and not self.is_dead()

    def is_dead(self) -> bool:
        """True only if the holder ran on this machine and its process is certainly gone."""
        if self.machine != machine():
            return False
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return bool(self.started) and (started(self.process) or self.started) != self.started


class Heartbeat:
    """Renews all leases of a holder until stopped, or until its journal is garbage; rests while ``running`` is empty."""

    def __init__(
        self,
        journal: SharedJournal,
        running: Sized,
        clock: Callable[[], float],
        stopwatch: Callable[[], float],
    ) -> None:
        self._journal = weakref.ref(journal)
        self._running = running
        self._clock = clock
        self._stopwatch = stopwatch
        self._lease = journal.lease_seconds
        self._interval = journal.lease_seconds / BEATS_PER_LEASE
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._renewer: Renewer | None = None
        self._last_look = self._settled = stopwatch()
        self._wall = clock()

    @classmethod
    def of(
        cls, journal: Journal, running: Sized, clock: Callable[[], float], stopwatch: Callable[[], float]
    ) -> Heartbeat | None:
        """The heartbeat of a journal that others may write to; ``None`` where there are no leases to renew."""
        return cls(journal, running, clock, stopwatch) if isinstance(journal, SharedJournal) else None

    def due(self) -> bool:
        """Whether it is time to look for other holders' expired leases; asking resets it."""
        now = self._stopwatch()
        passed = now - self._last_look
        if passed < self._interval:
            return False
        wall = self._clock()
        jump = wall - self._wall - passed
        self._last_look, self._wall = now, wall
        if abs(jump) > self._interval:
            log.warning(
                "the clock of this machine jumped by %.0f s; dead programs are looked for in %g s", jump, self._lease
            )
            self._settled = now + self._lease
        return now >= self._settled

    def start(self) -> None:
        if self._thread is None:
            self._start_renewer()
            self._thread = threading.Thread(target=self._beat, name="xstar-heartbeat", daemon=True)
            self._thread.start()

    def _start_renewer(self) -> None:
        journal = self._journal()
        if journal is not None and self._stopwatch is not self._clock:  # the process knows the wall clock alone
            try:
                self._renewer = Renewer(journal.renewal())
            except OSError as error:
                log.warning(
                    "whoever holds the interpreter for %g s loses its trial: no helper (%s)", self._lease, error
                )

    def _beat(self) -> None:
        try:
            if not self._stop.wait(min(1.0, self._interval)):
                _reap()
            while not self._stop.wait(self._interval):
                journal = self._journal()
                if journal is None:
                    return
                self._renew(journal)
        finally:
            if self._renewer is not None:
                self._renewer.end()

    def _renew(self, journal: SharedJournal) -> None:
        if self._running:  # a search that has ended needs its database no more; its folder may be gone
            try:
                journal.renew(self._clock())
            except StorageError as error:
                log.warning(
                    "the leases of running trials could not be renewed, trying again in %g s: %s", self._interval, error
                )
                return
        if self._renewer is not None and not self._renewer.beat():
            self._renewer.end()  # somebody killed it
            self._start_renewer()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None


class Renewer:
    """The process of ``renewer.py``. It ends when it is told to, and with this one."""

    def __init__(self, given: dict[str, Any]) -> None:
        theirs, self._pipe = os.pipe()
        try:
            # Not by ``subprocess``: what is started here forks the process that stays, and nobody waits for it to do so.
            started = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", str(PROGRAM), str(given["lease"]), str(os.getpid())],
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, theirs, 0),
                    *((os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)),
                ],
            )
        except OSError:
            os.close(self._pipe)
            raise
        finally:
            os.close(theirs)
        _started.append(started)
        os.set_blocking(self._pipe, False)
        self._write(json.dumps(given).encode() + b"\n")

    def beat(self) -> bool:
        """Say that the leases were renewed; False if it is gone."""
        _reap()
        return self._write(b".")

    def end(self) -> None:
        self._write(b"q")
        os.close(self._pipe)
        _reap()

    def _write(self, data: bytes) -> bool:
        try:
            os.write(self._pipe, data)
        except BlockingIOError:  # it is stopped, and hears of it later
            pass
        except OSError:
            return False
        return True


_started: list[int] = []
"""Processes that forked a renewer, or are about to, and then ended."""


def _reap() -> None:
    for process in list(_started):
        ended = process
        with suppress(ChildProcessError):  # reaped by an objective that waits for all children
            ended, _ = os.waitpid(process, os.WNOHANG)
        if ended:
            with suppress(ValueError):  # another thread does the same
                _started.remove(process)
