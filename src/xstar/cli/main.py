"""``xstar``: the commands, and the one place where errors become messages."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from xstar.cli import explain, init, manage, run, serve, show, work
from xstar.cli.text import console
from xstar.core.version import VERSION
from xstar.errors import XstarError
from xstar.storage.address import has_password

EXIT_ERROR = 2
"""The user can do something about it: the same code as for a wrong option."""


VISIBLE = (
    "every user of this machine can read the password in the command line; leave it out and set PGPASSWORD or ~/.pgpass, or "
    "put the URL into XSTAR_STORAGE"
)


OTHER_NAMES = {"list": "studies", "ls": "studies", "status": "show", "worker": "work", "rm": "delete"}
"""What other programs call a command."""


class Group(TyperGroup):
    """All commands run through here; errors of our own tree are messages to the user, everything else is a bug of ours."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if (meant := OTHER_NAMES.get(args[0])) is not None:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {meant!r}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        if any(has_password(word) for word in sys.argv[1:]):
            console(stderr=True).print(Text(VISIBLE, "yellow"), soft_wrap=True)
        try:
            return super().invoke(ctx)
        except XstarError as error:
            console(stderr=True).print(Text(f"error: {error}", "red"), soft_wrap=True)
            raise typer.Exit(EXIT_ERROR) from None


app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="markdown",  # paragraphs are filled to the width of the terminal
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"xstar {VERSION}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find the hyperparameters and the architecture of a model with few, short and parallel training runs."""


COMMANDS: dict[str | None, tuple[Callable[..., None], ...]] = {
    None: (run.run, work.work, work.slurm, init.init),
    "Looking": (
        *(show.studies, show.show, show.best, manage.audit, explain.plot, explain.why, explain.watch),
        *(serve.dashboard, serve.mcp, show.cite, manage.report),
    ),
    "Keeping": (
        *(manage.export, manage.import_, manage.backup, manage.restore, explain.fork, manage.widen, manage.narrow),
        *(manage.pause, manage.stop, manage.resume, manage.rename, manage.delete),
    ),
}
"""Panels of the help page, with their commands."""

for panel, commands in COMMANDS.items():
    for command in commands:
        app.command(command.__name__.rstrip("_"), rich_help_panel=panel)(command)
