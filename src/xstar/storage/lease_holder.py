"""Who holds a trial: one open study in one process, named so that others on the same machine can see whether it lives.

A dead process on this machine is noticed at once, so a restart after a crash need not wait for a lease to expire. On
another machine only the expiry of the lease tells.
"""

from __future__ import annotations

import os
import socket
import uuid
from pathlib import Path


def new_holder() -> str:
    """``machine|process id|start of the process|unique``."""
    return "|".join((_machine(), str(os.getpid()), _start_of(os.getpid()) or "", uuid.uuid4().hex[:12]))


def is_dead(holder: str) -> bool:
    """True only if the holder ran on this machine and its process is certainly gone."""
    parts = holder.split("|")
    if len(parts) != 4 or parts[0] != _machine() or not parts[1].isdigit():
        return False
    pid = int(parts[1])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    # The number may have been given to another process since; its start time tells them apart.
    return bool(parts[2]) and (_start_of(pid) or parts[2]) != parts[2]


def _machine() -> str:
    """Host, boot and process-number space: two containers may share a host name but not process numbers."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        boot = space = ""
    return f"{socket.gethostname()}/{boot}/{space}"


def _start_of(pid: int) -> str | None:
    """When the process started, in clock ticks since boot; ``"zombie"`` if it only waits to be reaped; ``None`` off Linux."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return "zombie" if fields[0] in "ZX" else fields[19]
