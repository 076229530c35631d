"""Starting the dashboard: which address, which token, and uvicorn."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xstar.core.checks import whole_number
from xstar.errors import InvalidArgument, MissingExtra
from xstar.look.dashboard.security import LOOPBACK, Access

if TYPE_CHECKING:
    from types import FrameType

    import uvicorn

    from xstar.look.dashboard.security import Guard
    from xstar.storage import SqlStorage

SHORTEST_TOKEN = 16
"""Characters: a token that can be guessed is none."""
MOST_CONNECTIONS = 400
TOKEN_VARIABLE = "XSTAR_DASHBOARD_TOKEN"


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def access(host: str, token: str | None, *, write: bool, hosts: Sequence[str] = ()) -> Access:
    """Who is let in: for more than reading on this machine alone a token is needed, the user's own or a new one."""
    given = token or os.environ.get(TOKEN_VARIABLE) or None
    if given is not None and len(given) < SHORTEST_TOKEN:
        rule = f"must have at least {SHORTEST_TOKEN} characters"
        raise InvalidArgument("--token", rule, "a shorter one", "leave it out: a new one is made and printed")
    local = is_loopback(host)
    if given is None and (write or not local):
        given = secrets.token_urlsafe(24)
    names = list(LOOPBACK)
    if not local:
        names += [host, socket.gethostname(), socket.getfqdn()]
    return Access(given, tuple(dict.fromkeys(name.lower() for name in (*names, *hosts))))


def configured(app: Guard, keep_alive: int = 20, log_level: str = "warning") -> uvicorn.Config:
    """uvicorn for this application."""
    import uvicorn

    from xstar.look.dashboard.timed import TimedProtocol

    return uvicorn.Config(
        app,
        http=TimedProtocol,
        log_level=log_level,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=2,
        timeout_keep_alive=keep_alive,
        limit_concurrency=MOST_CONNECTIONS,
        ws="none",
    )


def serve(
    place: SqlStorage,
    host: str,
    port: int,
    permitted: Access,
    *,
    storage: str,
    write: bool,
    directory: Path | None,
    ready: Callable[[str], None],
) -> None:
    """Answer until interrupted. ``ready`` is told the address once it can be opened."""
    whole_number("--port", port, least=0, remedy="e.g. --port 8080; 0 takes one that is free")
    try:
        import uvicorn

        from xstar.look.dashboard.app import ServerOptions, make_app
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"the dashboard needs {error.name}: pip install '.[dashboard]' in a checkout of xstar"
        ) from None
    from xstar.look.plots.output import javascript_file

    javascript_file()  # says what is missing now, not in the browser
    app = make_app(place, ServerOptions(permitted, storage, write, directory))
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named: asyncio then sends small packets at once, not 40 ms later.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            found = f"{host}:{port}"
            remedy = "choose another --port; 0 takes one that is free"
            raise InvalidArgument("--port", f"must be free ({error.strerror})", found, remedy) from None
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listening.getsockname()[1]}/"
        if permitted.token is not None:
            # After the #: browsers keep that part to themselves, so that it is in no log.
            address += f"login#{permitted.token}"

        class Server(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                ready(address)

            def handle_exit(self, sig: int, frame: FrameType | None) -> None:
                app.closing.set()
                super().handle_exit(sig, frame)

        Server(configured(app)).run(sockets=[listening])
