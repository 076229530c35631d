"""Processes that a test started: found through ``/proc``, and killed by a handle that cannot come to mean another process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

from xstar.core.processes import ZOMBIE, started


def parent_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def children(pid: int) -> list[int]:
    return [each for each in _all() if parent_of(each) == pid]


def started_by(mark: str, script: str) -> list[int]:
    """Living processes that run ``script`` and have ``mark`` in the environment, which programs hand down."""
    found = []
    for pid in _all():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
            if script.encode() in words and mark.encode() in Path(f"/proc/{pid}/environ").read_bytes():
                found.append(pid)
        except OSError:
            continue
    return found


def kill(pid: int, is_meant: Callable[[int], bool]) -> bool:
    """Kill -9 the process if it is the one that is meant. Asked while we hold it, so that its number cannot pass to another."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        if not is_meant(pid):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False  # it ended in between
    finally:
        os.close(handle)


def kill_child(pid: int, parent: int) -> bool:
    return kill(pid, lambda it: parent_of(it) == parent)


class Watched:
    """Processes that have to be gone soon, known by number and start."""

    def __init__(self, pids: list[int]) -> None:
        self._starts = {pid: started(pid) for pid in pids}

    def alive(self) -> list[int]:
        return [pid for pid, start in self._starts.items() if start and start != ZOMBIE and started(pid) == start]


def _all() -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            yield int(entry.name)
