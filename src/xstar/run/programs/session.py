"""One run of a program: started, listened to, and ended with everything it started."""

from __future__ import annotations

import os
import selectors
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from xstar.core.clock import monotonic_clock
from xstar.errors import ProgramFailed
from xstar.run.orphans import PROGRAM_RECORD as RECORD, end_orphan, put_on_record
from xstar.run.programs.output import Lines, Log
from xstar.run.supervised import Supervised

CHUNK = 65_536

LOOK = 0.05
"""Seconds between two looks at the file of metrics, which unlike a pipe does not say when it has grown."""


UNREAD = 1_000_000
"""Bytes that are kept of what a program prints while it ends: the reports of ten thousand epochs."""


class Session:
    """A program and its output. Lines that it prints are given out one by one; nothing is read ahead of what is taken."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str | None,
        folder: Path,
        log_limit: int,
        grace: float,
        stop_signal: int,
    ) -> None:
        end_orphan(str(folder), RECORD)
        self._grace, self._signal, self._folder = grace, stop_signal, folder
        self.ended: str | None = None
        """How the program ended: ``exit CODE``, ``signal NUMBER``, ``error MESSAGE``; ``None`` while it runs."""
        self.log = Log(folder / "stdout.txt", log_limit)
        self.errors = Log(folder / "stderr.txt", log_limit)
        self._lines = Lines()
        self._unread: list[bytes] = []
        """What it printed while it was stopped."""
        try:
            self._run = Supervised(
                argv,
                grace=grace,
                stop_signal=stop_signal,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=cwd,
                env=dict(env),
            )
        except (OSError, ValueError) as error:
            self.log.close()
            self.errors.close()
            raise ProgramFailed(f"the program cannot be started: {error}") from None
        assert self._run.stdout is not None
        assert self._run.stderr is not None
        self._out, self._err, self._status = self._run.stdout.fileno(), self._run.stderr.fileno(), self._run.status
        self._selector = selectors.DefaultSelector()
        for file in (self._out, self._err, self._status):
            os.set_blocking(file, False)
            self._selector.register(file, selectors.EVENT_READ)
        put_on_record(folder / RECORD, self._run.session)

    def begin(self) -> None:
        """Let the program begin: who calls this ends it, too, whatever is raised meanwhile."""
        self._run.begin()

    def lines(self) -> Iterator[bytes | None]:
        """The lines of standard output until the program is over; ``None`` now and then, to look elsewhere."""
        while self.ended is None:
            ready = {key.fd for key, _ in self._selector.select(LOOK)}
            if self._err in ready:
                self._read(self._err, self.errors.write)
            if self._out in ready:
                yield from self._lines.feed(self._read(self._out, self.log.write))
            if self._status in ready:
                self.ended = self._run.ended()
            yield None
        # What it printed last is still in the pipes. The end of a pipe is not waited for: a daemon may hold it open.
        while data := self._read(self._err, self.errors.write):
            pass
        for data in self._unread:
            yield from self._lines.feed(data)
        while data := self._read(self._out, self.log.write):
            yield from self._lines.feed(data)
        yield from self._lines.rest()

    def _read(self, file: int, write: Callable[[bytes], None]) -> bytes:
        try:
            data = os.read(file, CHUNK)
        except BlockingIOError:
            return b""
        if data:
            write(data)
        elif file in self._selector.get_map():
            self._selector.unregister(file)
        return data

    def stop(self, *, at_once: bool = False) -> None:
        """End the program if it runs: a signal, the grace, then kill it and all that it started."""
        if self.ended is None and not at_once:
            if self._signal:
                self._run.send(self._signal)
            deadline, room = monotonic_clock() + self._grace, UNREAD
            while self.ended is None and (left := deadline - monotonic_clock()) > 0:
                ready = {key.fd for key, _ in self._selector.select(min(left, 1.0))}
                if self._out in ready and (data := self._read(self._out, self.log.write)) and room > 0:
                    self._unread.append(data)
                    room -= len(data)
                if self._err in ready:
                    self._read(self._err, self.errors.write)
                if self._status in ready:
                    self.ended = self._run.ended()
        self._run.kill_session()

    def close(self, *, at_once: bool = False) -> None:
        """End what runs and let go of everything."""
        try:
            self.stop(at_once=at_once)
        finally:
            self._run.kill_session()
            self._selector.close()
            self._run.close()
            self.log.close()
            self.errors.close()
            (self._folder / RECORD).unlink(missing_ok=True)
