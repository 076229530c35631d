"""A process, with all that it starts: it ends when told to, and with the process that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from xstar.core.processes import session_members

SUPERVISOR = Path(__file__).with_name("supervisor.py")


class Supervised:
    """A command under ``supervisor.py``, in a session of its own. It runs from :meth:`begin` on."""

    def __init__(
        self, command: Sequence[str], *, grace: float = 0.0, stop_signal: int = 0, passed: int = 0, **options: Any
    ) -> None:
        theirs, self._lifeline = os.pipe()
        self.status, their_status = os.pipe()
        """Readable when the command has ended."""
        self._files: tuple[int, ...] = (self._lifeline, self.status)
        arguments = (theirs, their_status, os.getpid(), int(stop_signal), grace, passed)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SUPERVISOR), *map(str, arguments), *command],
                pass_fds=tuple(file for file in (theirs, their_status, passed) if file),
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # to be ended as a whole; and Ctrl-C in the terminal is ours alone
                **options,
            )
        except BaseException:
            self._close()
            raise
        finally:
            os.close(theirs)
            os.close(their_status)
        self.session = self._process.pid
        self._killed = False
        self.stdout, self.stderr = self._process.stdout, self._process.stderr

    def begin(self) -> None:
        """Let the command begin: who calls this ends it, too, whatever is raised meanwhile."""
        with suppress(BrokenPipeError):  # someone killed it: ``ended`` says so
            os.write(self._lifeline, b"g")

    def is_over(self) -> bool:
        """Whether the supervisor is gone."""
        return self._process.poll() is not None

    def ended(self) -> str:
        """How the command ended, once it has: ``exit CODE``, ``signal NUMBER``, ``error MESSAGE``."""
        said = os.read(self.status, 4096).decode(errors="replace")
        return said or f"signal {int(signal.SIGKILL)}"  # who kills the supervisor kills the command

    def send(self, number: int) -> None:
        """A signal to the group of the command."""
        if not self._killed:
            with suppress(ProcessLookupError, PermissionError):  # macOS says "permission" of an empty group
                os.killpg(self.session, number)

    def kill(self) -> None:
        """End the command's process group, also when the supervisor itself is already gone."""
        self.send(signal.SIGKILL)
        self._killed = True  # the number may soon be another's
        self._process.wait()

    def kill_session(self) -> None:
        """The same, with what has made a process group of its own (as ``timeout`` does). It looks at every process."""
        for pid in () if self._killed else session_members(self.session):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        self.kill()

    def close(self) -> None:
        """Let go of everything, when it was killed."""
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self._close()

    def _close(self) -> None:
        files, self._files = self._files, ()
        for file in files:
            os.close(file)
