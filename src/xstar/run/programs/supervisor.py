"""The process that starts a trial's program, waits for it, and ends it together with all that it started.

``python -I -S supervisor.py LIFELINE STATUS GRACE SIGNAL COMMAND…``. A program, never imported; the
standard library alone, so that it starts in a few milliseconds.

It leads a session of its own. The program runs in that session, outside of the process group of a worker, which is killed
without a warning when its main program dies or a time limit is over. The supervisor notices that on the lifeline, a pipe whose
other end only the one who started it holds: it then sends SIGNAL, waits for GRACE seconds, and kills what is left.

It starts the program when it has read a byte from the lifeline: by then it is on record in the trial's folder
(``executors/orphans.py``), and whoever runs the trial next will find it.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress

OWN_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCHLD)
"""Those sent to the whole group are meant for the program. (A handler, because a program would inherit "ignored".)"""


def main() -> None:
    """Run the command and say on ``STATUS`` how it ended: ``exit CODE``, ``signal NUMBER`` or ``error MESSAGE``."""
    lifeline, status, number = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[4])
    for file in (lifeline, status):
        os.set_inheritable(file, False)
    wake, woken = os.pipe()
    for file in (wake, woken):
        os.set_blocking(file, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for own in OWN_SIGNALS:
        signal.signal(own, lambda *_: None)
    if not os.read(lifeline, 1):
        return  # nobody is there any more to have it run
    command = sys.argv[5:]
    try:
        child = os.posix_spawnp(command[0], command, os.environ, setsigdef=(signal.SIGPIPE, signal.SIGXFSZ))
    except OSError as error:
        os.write(status, f"error {error.strerror}".encode())
    else:
        os.write(status, wait(child, wake, lifeline, float(sys.argv[3]), number).encode())
    end_session()


def wait(child: int, wake: int, lifeline: int, grace: float, number: int) -> str:
    """How the program ended; it is ended when the lifeline breaks."""
    poll = select.poll()
    poll.register(wake, select.POLLIN)
    poll.register(lifeline, select.POLLIN)
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
        if lifeline in ready:
            poll.unregister(lifeline)
            left = grace * 1000
            if number:
                os.killpg(0, number)
        elif not ready:
            return f"signal {int(signal.SIGKILL)}"  # the grace is over


def end_session() -> None:
    """Kill what the program left behind, in whatever process group of the session; and this process."""
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
