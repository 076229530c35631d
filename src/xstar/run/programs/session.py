"""One run of a program: started, listened to, and ended with everything it started."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from xstar.core.clock import monotonic_clock
from xstar.core.processes import session_members
from xstar.errors import ProgramFailed
from xstar.run.orphans import PROGRAM_RECORD as RECORD, end_orphan, put_on_record
from xstar.run.programs.output import Lines, Log

SUPERVISOR = Path(__file__).with_name("supervisor.py")
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
        theirs, self._lifeline = os.pipe()
        self._status, their_status = os.pipe()
        try:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", str(SUPERVISOR)),
                    *map(str, (theirs, their_status, grace, stop_signal)),
                    *argv,
                ],
                pass_fds=(theirs, their_status),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=cwd,
                env=dict(env),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self._close()
            raise ProgramFailed(f"the program cannot be started: {error}") from None
        finally:
            os.close(theirs)
            os.close(their_status)
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._out, self._err = self._process.stdout.fileno(), self._process.stderr.fileno()
        self._selector = selectors.DefaultSelector()
        for file in (self._out, self._err, self._status):
            os.set_blocking(file, False)
            self._selector.register(file, selectors.EVENT_READ)
        put_on_record(folder / RECORD, self._process.pid)

    def begin(self) -> None:
        """Let the program begin: who calls this ends it, too, whatever is raised meanwhile."""
        os.write(self._lifeline, b"g")

    def lines(self) -> Iterator[bytes | None]:
        """The lines of standard output until the program is over; ``None`` now and then, to look elsewhere."""
        while self.ended is None:
            ready = {key.fd for key, _ in self._selector.select(LOOK)}
            if self._err in ready:
                self._read(self._err, self.errors.write)
            if self._out in ready:
                yield from self._lines.feed(self._read(self._out, self.log.write))
            if self._status in ready:
                self._hear()
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

    def _hear(self) -> None:
        said = os.read(self._status, CHUNK).decode(errors="replace")
        self.ended = said or f"signal {int(signal.SIGKILL)}"  # who kills the supervisor kills the program

    def stop(self, *, at_once: bool = False) -> None:
        """End the program if it runs: a signal, the grace, then kill it and all that it started."""
        if self.ended is None and not at_once:
            if self._signal:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, self._signal)
            deadline, room = monotonic_clock() + self._grace, UNREAD
            while self.ended is None and (left := deadline - monotonic_clock()) > 0:
                ready = {key.fd for key, _ in self._selector.select(min(left, 1.0))}
                if self._out in ready and (data := self._read(self._out, self.log.write)) and room > 0:
                    self._unread.append(data)
                    room -= len(data)
                if self._err in ready:
                    self._read(self._err, self.errors.write)
                if self._status in ready:
                    self._hear()
        self._kill()

    def _kill(self) -> None:
        if self._process.returncode is not None:
            return  # reaped: its number may be another's by now
        for pid in session_members(self._process.pid):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self, *, at_once: bool = False) -> None:
        """End what runs and let go of everything."""
        try:
            self.stop(at_once=at_once)
        finally:
            self._kill()
            self._selector.close()
            for stream in (self._process.stdout, self._process.stderr):
                assert stream is not None
                stream.close()
            self._close()
            (self._folder / RECORD).unlink(missing_ok=True)

    def _close(self) -> None:
        for file in (self._lifeline, self._status):
            os.close(file)
        self.log.close()
        self.errors.close()
