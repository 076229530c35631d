"""Studies for others: ``xstar dashboard`` in the browser, ``xstar mcp`` as tools for agents (Model Context Protocol).

The tools that read look at a study and never change it. With ``--write`` there are others; each of them is one act of
:class:`xstar.Study`, an event with an author and the reason that the agent has to give. So ``xstar audit`` makes every
decision again with what agents did, and ``xstar show --json`` says who did what.
"""

from __future__ import annotations

import functools
from typing import Annotated, Any

import typer
from rich.text import Text

from xstar.cli.experiment_space import read_parameter
from xstar.cli.options import STORAGE, Directory, Storage
from xstar.cli.text import console
from xstar.core.version import VERSION
from xstar.errors import MissingExtra, XstarError
from xstar.look import summary
from xstar.look.dashboard import server
from xstar.look.look import existing, look, opened
from xstar.space import Space
from xstar.study.tradeoffs import no_value

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
        folder = None if directory is None else directory.absolute()
        server.serve(place, host, port, permitted, storage=storage, write=write, directory=folder, ready=ready)


# ---------------------------------------------------------------- agents


INSTRUCTIONS = (
    "Studies are searches for hyperparameters and architectures. Read a study before you act on it: its space, its best "
    "trials, which parameters matter, why a trial was run. Acts are recorded with their reason and cannot be taken back."
)


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
    mcp_server(storage, author if write else None).run("stdio")


def mcp_server(storage: str, author: str | None) -> Any:
    """The server; ``author=None``: it only reads."""
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        raise MissingExtra("`xstar mcp` needs mcp: pip install '.[mcp]' in a checkout of xstar") from None
    made: Any = MCPServer("xstar", version=VERSION, instructions=INSTRUCTIONS, log_level="WARNING")
    tools = [*_reading(storage), *([] if author is None else _writing(storage, author))]
    for tool in tools:
        made.tool()(_told(tool, ToolError))
    return made


def _told(tool: Any, error: type[Exception]) -> Any:
    """The tool; its errors are those of the protocol, so that an agent reads what is wrong and how to mend it."""

    @functools.wraps(tool)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return tool(*args, **kwargs)
        except XstarError as found:
            raise error(str(found)) from None

    return call


def _reading(storage: str) -> list[Any]:
    def list_studies() -> list[dict[str, Any]]:
        """The studies of the storage, with their goal, method, number of trials and best value or front."""
        with existing(storage) as place:
            return summary.of_storage(place)

    def read_study(study: str, latest: int = summary.LATEST) -> dict[str, Any]:
        """A study: its space, counts of trials by state, its best and its latest trials, and what users did to it."""
        with look(study, storage) as view:
            return summary.of_study(view, latest)

    def read_trial(study: str, trial: int) -> dict[str, Any]:
        """A trial with its configuration, all that it reported, and why it failed if it did."""
        with look(study, storage) as view:
            return summary.of_trial(view.history, view.trial(trial), reports=True)

    def best(study: str) -> dict[str, Any]:
        """The best trial of a study; of one with several objectives its front, the best trade-offs."""
        with look(study, storage) as view:
            history = view.history
            if not history.has_value:
                raise no_value(history, study)
            found = summary.of_best(history)
            return found if history.goals.several else found["best"]

    def why(study: str, trial: int) -> dict[str, Any]:
        """Why a trial was run: what the searcher knew and expected, the runners-up, what the scheduler made of it."""
        from xstar.look.why import why as explained  # at use: models

        with look(study, storage) as view:
            view.trial(trial)
            return explained(view.journal, trial).to_json()

    def importance(study: str) -> dict[str, Any]:
        """Which parameters matter: the share of the differences in value that each takes part in, with its error."""
        with look(study, storage) as view:
            return summary.of_importance(view)

    return [list_studies, read_study, read_trial, best, why, importance]


def _writing(storage: str, author: str) -> list[Any]:
    def propose(study: str, config: dict[str, Any], reason: str) -> str:
        """Have a configuration, or a part of one, tried next; the searcher completes what it leaves open."""
        with opened(study, storage) as found:
            found.enqueue(config, author=author, reason=reason)
        return "it will be tried next"

    def narrow(study: str, changes: dict[str, Any], reason: str) -> list[str]:
        """Search a part of the space from now on: {"lr": [1e-4, 1e-2], "optimizer": ["adam", "sgd"], "layers": 3}.

        A range [low, high] of a number, some options of a choice, or one value at which the parameter is frozen.
        """
        with opened(study, storage) as found:
            before = found.space
            found.narrow(changes, author=author, reason=reason)
            return found.space.difference(before)

    def widen(study: str, parameters: dict[str, Any], reason: str, fill: dict[str, Any] | None = None) -> list[str]:
        """Search a wider space from now on. A parameter that is new or has a larger range is written as in a TOML file:
        {"lr": {"float": [1e-5, 1.0], "log": true}, "layers": {"int": [1, 8]}, "optimizer": ["sgd", "adam", "lion"]}.

        ``fill`` says what a new parameter was in the trials so far, such as {"layers": 2}.
        """
        with opened(study, storage) as found:
            before = found.space
            given = {name: read_parameter(name, value) for name, value in parameters.items()}
            found.widen(Space({**before.parameters, **given}), fill, author=author, reason=reason)
            return found.space.difference(before)

    def hold(study: str, state: str, reason: str) -> str:
        """Pause a study ("pause": nothing is started), let it go on ("go"), or stop it ("stop": its programs end)."""
        with opened(study, storage) as found:
            found.hold(state, author=author, reason=reason)
            return f"{len(found.history.running)} trials still run"

    return [propose, narrow, widen, hold]
