"""Studies for others: ``xstar dashboard`` in the browser, ``xstar mcp`` as tools for agents (``agents.py``)."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from xstar.cli.options import STORAGE, Directory, Storage
from xstar.cli.text import console
from xstar.errors import MissingExtra
from xstar.look.dashboard import server
from xstar.look.view import existing

PORT = 8765


def dashboard(
    storage: Storage = STORAGE,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; any but this machine alone demands a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", help="Which port; 0 takes one that is free.")] = PORT,
    write: Annotated[
        bool,
        typer.Option(
            "--write", help="Allow pause, stop, resume, enqueue, add, annotate, ask, report and tell; demands a token."
        ),
    ] = False,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            envvar=server.TOKEN_VARIABLE,
            help="The token; others can see it in a command line, so better set the variable.",
            show_default="a new one, if one is needed",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A further name under which the server is called. May be repeated."),
    ] = None,
    directory: Directory = None,
) -> None:
    """Show studies in the browser: live, at any earlier moment, side by side. It only reads, unless --write is given."""
    out = console()

    def ready(address: str) -> None:
        out.print(Text("dashboard: ").append(address, "bold"), soft_wrap=True)
        out.print(Text("Ctrl-C ends it; studies go on", "dim"))

    with existing(storage) as place:
        permitted = server.access(host, token, write=write, hosts=allow_host or ())
        folder = None if directory is None else directory.absolute()
        server.serve(place, host, port, permitted, storage=storage, write=write, directory=folder, ready=ready)


def mcp(
    storage: Storage = STORAGE,
    write: Annotated[
        bool, typer.Option("--write", help="Let agents propose, narrow, widen, pause, stop and go on.")
    ] = False,
    author: Annotated[str, typer.Option(metavar="NAME", help="Who acts, as it is kept with each event.")] = "agent",
) -> None:
    """Serve studies to agents over the Model Context Protocol, on standard input and output. It only reads, unless --write."""
    with existing(storage):
        pass
    try:
        from xstar.cli import agents
    except ModuleNotFoundError as error:
        raise MissingExtra(f"`xstar mcp` needs {error.name}: pip install '.[mcp]' in a checkout of xstar") from None
    agents.serve(storage, author if write else None)
