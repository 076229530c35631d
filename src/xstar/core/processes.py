"""Which process is meant: a number names it only together with the machine and the moment it started."""

from __future__ import annotations

import os
import socket
from pathlib import Path

ZOMBIE = "zombie"
"""What ``started`` says of a process that is dead and only waits to be reaped."""


def machine() -> str:
    """Host, boot and process-number space: two containers may share a host name but not process numbers."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        boot = space = ""
    return f"{socket.gethostname()}/{boot}/{space}"


def started(pid: int) -> str | None:
    """When the process started, in clock ticks since boot; ``ZOMBIE`` if it is dead; ``None``: there is none, or not Linux."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return ZOMBIE if fields[0] in "ZX" else fields[19]


def session_members(session: int) -> list[int]:
    """The living processes of a session, in whatever group (``timeout`` makes one of its own), as far as ``/proc`` tells."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, of, *_ = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if int(of) == session and state not in "ZX":
            found.append(int(entry.name))
    return found
