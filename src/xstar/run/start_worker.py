"""How a worker process begins: ``python -P start_worker.py SOCKET LIFELINE PARENT ROOT``. A program, never imported.

``-P`` keeps Python from putting the current folder first on ``sys.path``: a file called ``queue.py`` there must not be run in
place of the standard library's. ``ROOT`` is where the main program found xstar.

Before anything else is imported the process forks its *guard*, which waits for the main program to die and then kills the
worker's whole process group. It is a process of its own because a thread could not be relied on: an objective that holds the
interpreter's lock (a regular expression that never ends, a loop in C) lets no other thread run. Linux's ``PR_SET_PDEATHSIG``
would end the worker alone, and leave what the objective had started. The guard belongs to the group that it kills, so the
group's number cannot be given to others while the guard lives, and whoever kills the group ends the guard, too.
"""

from __future__ import annotations

import os
import select
import signal
import sys


def begin() -> None:
    """Start the guard, then serve jobs."""
    connection, lifeline, parent = (int(word) for word in sys.argv[1:4])
    watched = _watch(parent)
    if os.getppid() != parent:  # it died while we started; had it died before `_watch`, we might watch someone else
        os._exit(1)
    _start_guard([lifeline] if watched is None else [lifeline, watched], connection)
    if watched is not None:
        os.close(watched)
    root = sys.argv[4]
    if root not in sys.path:
        sys.path.insert(0, root)
    from xstar.run.worker import main

    main(connection, lifeline, parent)


def _watch(parent: int) -> int | None:
    """A file descriptor that becomes readable when the main program ends.

    The lifeline says the same, but late if the main program forked a process that lives on and holds its other end.
    """
    try:
        return os.pidfd_open(parent)  # type: ignore[attr-defined, unused-ignore]
    except (AttributeError, OSError):  # not Linux, or older than 5.3, or not allowed in this container
        return None


def _start_guard(awaited: list[int], connection: int) -> None:
    """Fork a process that kills this group as soon as one of ``awaited`` becomes readable."""
    group = os.getpgrp()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    if os.fork():  # nobody's child: an objective that waits for all its children must not wait for the guard
        os._exit(0)
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.close(connection)  # else the main program would not notice the worker's end
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        poll = select.poll()
        for file in awaited:
            poll.register(file, select.POLLIN)
        poll.poll()
    finally:
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    begin()
