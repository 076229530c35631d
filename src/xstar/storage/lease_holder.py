"""Who holds a trial: one open study in one process, named so that others on the same machine can see whether it lives.

A dead process on this machine is noticed at once, so a restart after a crash need not wait for a lease to expire. On
another machine only the expiry of the lease tells.
"""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass

from xstar.core.processes import machine, started


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """One open study in one process."""

    machine: str
    process: int
    started: str
    """When the process started: its number may be given to another one later."""
    unique: str

    @classmethod
    def new(cls) -> LeaseHolder:
        """This process, under a name that nobody else has."""
        process = os.getpid()
        return cls(machine(), process, started(process) or "", uuid.uuid4().hex[:12])

    @classmethod
    def parse(cls, text: str) -> LeaseHolder | None:
        """The holder that was stored as ``text``; ``None`` if a later release wrote it in another form."""
        parts = text.split("|")
        if len(parts) != 4 or not parts[1].isdigit():
            return None
        return cls(parts[0], int(parts[1]), parts[2], parts[3])

    @property
    def host(self) -> str:
        """The name of the machine alone."""
        return self.machine.partition("/")[0]

    def __str__(self) -> str:
        return f"{self.machine}|{self.process}|{self.started}|{self.unique}"

    def is_dead(self) -> bool:
        """True only if the holder ran on this machine and its process is certainly gone."""
        if self.machine != machine():
            return False
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return bool(self.started) and (started(self.process) or self.started) != self.started
