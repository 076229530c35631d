"""The process that starts a worker or a trial's program, waits for it, and ends it together with all that it started.

``python -I -S supervisor.py LIFELINE STATUS STARTER SIGNAL GRACE PASSED COMMAND…``. A program, never imported; the standard
library alone, so that it starts in a few milliseconds.

It leads a session of its own, in which the command runs. When the process that started it is dead, it sends SIGNAL, waits for
GRACE seconds and kills what is left of the session. It learns of that death by a pidfd, and on the lifeline, a pipe whose other
end only the starter holds. A thread of a worker could not do this: an objective that holds the interpreter's lock lets no other
thread run.

It starts the command when it has read a byte from the lifeline: by then a trial's program is on record in the trial's folder
(``run/orphans.py``). The file descriptor PASSED (0: none) is the command's alone.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress

OWN_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCHLD)
"""Those sent to the whole group are meant for the command. (A handler, because it would inherit "ignored".)"""


def main() -> None:
    """Run the command and say on ``STATUS`` how it ended: ``exit CODE``, ``signal NUMBER`` or ``error MESSAGE``."""
    lifeline, status, starter, number = (int(word) for word in sys.argv[1:5])
    grace, passed, command = float(sys.argv[5]), int(sys.argv[6]), sys.argv[7:]
    for file in (lifeline, status):
        os.set_inheritable(file, False)
    wake, woken = os.pipe()
    for file in (wake, woken):
        os.set_blocking(file, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for own in OWN_SIGNALS:
        signal.signal(own, lambda *_: None)
    awaited = [lifeline]
    with suppress(AttributeError, OSError):  # not Linux, or older than 5.3, or not allowed in this container
        awaited.append(os.pidfd_open(starter))  # type: ignore[attr-defined, unused-ignore]
    if not os.read(lifeline, 1) or os.getppid() != starter:
        return  # nobody is there any more to have it run
    try:
        child = os.posix_spawnp(command[0], command, os.environ, setsigdef=(signal.SIGPIPE, signal.SIGXFSZ))
    except OSError as error:
        ended = f"error {error.strerror}"
    else:
        if passed:
            os.close(passed)
        ended = wait(child, wake, awaited, grace, number)
    with suppress(OSError):  # nobody may be left to hear it
        os.write(status, ended.encode())
    end_session()


def wait(child: int, wake: int, awaited: list[int], grace: float, number: int) -> str:
    """How the command ended; it is ended when one of ``awaited`` becomes readable."""
    poll = select.poll()
    for file in (wake, *awaited):
        poll.register(file, select.POLLIN)
    left: float | None = None
    while True:
        ready = {file for file, _ in poll.poll(left)}
        if wake in ready:
            with suppress(BlockingIOError):
                os.read(wake, 4096)
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            return f"exit {code}" if code >= 0 else f"signal {-code}"
        if not ready.isdisjoint(awaited):
            for file in awaited:
                poll.unregister(file)
            awaited, left = [], grace * 1000
            if number:
                os.killpg(0, number)
        elif not ready:
            return f"signal {int(signal.SIGKILL)}"  # the grace is over


def end_session() -> None:
    """Kill what the command left behind, in whatever process group of the session; and this process."""
    own = os.getpid()
    with suppress(OSError):  # no /proc: the group will have to do
        for entry in os.listdir("/proc"):
            if entry.isdecimal() and int(entry) != own and session_of(entry) == own:
                with suppress(OSError):
                    os.kill(int(entry), signal.SIGKILL)
    os.killpg(own, signal.SIGKILL)


def session_of(pid: str) -> int:
    """The session of a process; 0 if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[3])
    except OSError:
        return 0


if __name__ == "__main__":
    main()
