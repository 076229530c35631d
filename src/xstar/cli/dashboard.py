"""``xstar dashboard``: studies in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from xstar.cli.options import STORAGE, Directory, Storage
from xstar.cli.text import console
from xstar.dashboard import server
from xstar.inspect.look import existing

PORT = 8765


def dashboard(
    storage: Storage = STORAGE,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; any but this machine alone demands a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", help="Which port; 0 takes one that is free.")] = PORT,
    write: Annotated[
        bool, typer.Option("--write", help="Allow hold, enqueue, add, annotate, ask, report and tell; demands a token.")
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
        server.serve(
            place, host, port, permitted, storage=storage, write=write, directory=_folder(directory), ready=ready
        )


def _folder(directory: Path | None) -> Path | None:
    return directory.absolute() if directory is not None else None
