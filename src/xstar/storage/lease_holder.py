"""Who holds a trial: one open study in one process, named so that others on the same machine can see whether it lives.

A dead process on this machine is noticed at once, so a restart after a crash need not wait for a lease to expire. On
another machine only the expiry of the lease tells.
"""

from __future__ import annotations

import os
import socket
import uuid
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """One open study in one process."""

    host: str
    boot: str
    """Boot and process-number space: two containers may share a host name but not process numbers."""
    process: int
    started: str
    """When the process started: its number may be given to another one later."""
    unique: str

    @classmethod
    def new(cls) -> LeaseHolder:
        """This process, under a name that nobody else has."""
        process = os.getpid()
        return cls(socket.gethostname(), _boot(), process, _start_of(process) or "", uuid.uuid4().hex[:12])

    @classmethod
    def parse(cls, text: str) -> LeaseHolder | None:
        """The holder that was stored as ``text``; ``None`` if a later release wrote it in another form."""
        parts = text.split("|")
        if len(parts) != 4 or not parts[1].isdigit():
            return None
        host, _, boot = parts[0].partition("/")
        return cls(host, boot, int(parts[1]), parts[2], parts[3])

    def __str__(self) -> str:
        return f"{self.host}/{self.boot}|{self.process}|{self.started}|{self.unique}"

    def is_dead(self) -> bool:
        """True only if the holder ran on this machine and its process is certainly gone."""
        if (self.host, self.boot) != (socket.gethostname(), _boot()):
            return False
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return bool(self.started) and (_start_of(self.process) or self.started) != self.started


def _boot() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return "/"


def _start_of(pid: int) -> str | None:
    """When the process started, in clock ticks since boot; ``"zombie"`` if it only waits to be reaped; ``None`` off Linux."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return "zombie" if fields[0] in "ZX" else fields[19]
