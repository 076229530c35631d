"""A PostgreSQL server of our own, to be killed and started again."""

from __future__ import annotations

import random
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.crash.processes import Watched, children, kill, kill_child
from tests.servers import own_server
from tests.waiting import until
from xstar.core.processes import started

STARTS = 5
"""How often a start is tried: on a busy machine the recovery after a crash takes longer than ``pg_ctl`` is waited for."""


class Server:
    """One server; ``close`` removes it."""

    def __init__(self) -> None:
        self._end = ExitStack()
        self._server: Any = self._end.enter_context(own_server())
        self.url: str = self._server.get_uri()

    def kill(self) -> None:
        """Kill -9 the server itself. Its connections notice, and are waited for: they hold the memory it shared with them."""
        pid = self._pid()
        connections = Watched(children(pid))
        assert kill(pid, self._is_ours)
        # Until it is reaped, too: the next start would take a zombie for a server that runs.
        until(lambda: started(pid) is None and not connections.alive(), "the server's processes end")

    def kill_connection(self, dice: random.Random) -> bool:
        """Kill -9 the process of one client: the server then ends all others and recovers, without having been down."""
        clients = [pid for pid in children(self._pid()) if b"[local]" in _title(pid)]
        return bool(clients) and kill_child(dice.choice(clients), self._pid())

    def start(self) -> None:
        for attempt in range(STARTS):
            try:
                self._server.ensure_postgres_running()
                assert self._is_ours(self._pid()), "the server runs"
                return
            except subprocess.SubprocessError:
                if attempt == STARTS - 1:
                    raise

    def close(self) -> None:
        self._end.close()

    def _pid(self) -> int:
        return int((Path(self._server.pgdata) / "postmaster.pid").read_text().split()[0])

    def _is_ours(self, pid: int) -> bool:
        return str(self._server.pgdata).encode() in _title(pid)


def _title(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
