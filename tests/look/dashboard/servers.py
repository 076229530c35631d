"""A dashboard for tests: a server in a thread, on a port of its own, and a client that asks it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

import xstar as xs
from tests.look.plots.studies import HOSTILE
from tests.waiting import PATIENCE
from xstar.look.dashboard.app import ServerOptions, make_app
from xstar.look.dashboard.security import LOOPBACK, Access
from xstar.look.dashboard.server import configured
from xstar.storage import SqlStorage

TOKEN = "a-token-of-enough-characters"
SPACE = xs.Space(x=xs.Float(0, 1), lr=xs.Float(1e-4, 1, log=True), kind=xs.Choice(["a", "b"]))


def stored(path: Path, name: str = "s", trials: int = 12, **settings: Any) -> Path:
    """A storage with a study: every fourth trial fails with words that would be a script."""
    storage = path / "x.db"
    given: dict[str, Any] = {"method": "random", "seed": 1, "metric": "loss", "max_budget": 3} | settings
    with xs.Study(SPACE, study=name, storage=storage, **given) as study:
        for _ in range(trials):
            trial = study.ask()
            assert trial is not None
            if trial.number % 4 == 3:
                study.fail(trial, f"Traceback\nValueError: {HOSTILE}")
                continue
            for epoch in trial.epochs():
                study.report(trial, {"loss": trial["x"] + 1 / epoch, HOSTILE: 1.0})
    return storage


class Server:
    """A server in a thread, on a port of its own."""

    def __init__(
        self, storage: Path, *, port: int = 0, token: str | None = None, write: bool = False, keep_alive: int = 1000
    ) -> None:
        self._place = SqlStorage(storage)
        self.app = make_app(self._place, ServerOptions(Access(token, LOOPBACK), str(storage), write))
        # asyncio switches off the delay of small packets only where the protocol is named
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        self.address = f"http://localhost:{self.port}"
        self._server = uvicorn.Server(configured(self.app, keep_alive, "error"))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    def __enter__(self) -> Server:
        self._thread.start()
        self._socket.listen()  # from now on a client waits for the server rather than being refused
        return self

    def __exit__(self, *error: object) -> None:
        self.app.closing.set()
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
        self._place.close()


@contextmanager
def client(
    storage: Path, *, token: str | None = None, write: bool = False, headers: dict[str, str] | None = None
) -> Iterator[httpx.Client]:
    """A client of a server of its own, which is called localhost."""
    with Server(storage, token=token, write=write) as server:
        given = {"host": "localhost", **(headers or {})}
        with httpx.Client(base_url=server.address, headers=given, timeout=PATIENCE, trust_env=False) as made:
            yield made
