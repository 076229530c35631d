"""Who holds a trial: one open study in one process, named so that others on the same machine can see whether it lives.

A dead process on this machine is noticed at once, so a restart after a crash need not wait for a lease to expire. On
another machine only the expiry of the lease tells.
"""

from __future__ import annotations

import os
import uuid

from xstar.core.processes import machine, started


def new_holder() -> str:
    """``machine|process id|start of the process|unique``."""
    return "|".join((machine(), str(os.getpid()), started(os.getpid()) or "", uuid.uuid4().hex[:12]))


def is_dead(holder: str) -> bool:
    """True only if the holder ran on this machine and its process is certainly gone."""
    parts = holder.split("|")
    if len(parts) != 4 or parts[0] != machine() or not parts[1].isdigit():
        return False
    pid = int(parts[1])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    # The number may have been given to another process since; its start time tells them apart.
    return bool(parts[2]) and (started(pid) or parts[2]) != parts[2]
