"""Studies as tools for agents (Model Context Protocol), for ``xstar mcp``.

The tools that read look at a study and never change it. The others are each one act of :class:`xstar.Study`, an event with an
author and the reason that the agent has to give. So ``xstar audit`` makes every decision again with what agents did, and
``xstar show --json`` says who did what.
"""

from __future__ import annotations

import inspect
import json
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, get_type_hints

import anyio
import mcp_types as protocol
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, create_model

from xstar.cli.experiment_space import read_parameter
from xstar.core.version import VERSION
from xstar.errors import NoValue, XstarError
from xstar.look.describe import LATEST, describe, describe_all, describe_exactly, hypervolume, whole_trial
from xstar.look.view import existing, look, opened
from xstar.space import Space
from xstar.study.tradeoffs import no_value

INSTRUCTIONS = (
    "Studies are searches for hyperparameters and architectures. Read a study before you act on it: its space, its best "
    "trials, which parameters matter, why a trial was run. Acts are recorded with their reason and cannot be taken back."
)
LONGEST_REASON = 2000
"""Characters: it is kept with the event for ever, and shown with the study."""

Name = Annotated[str, Field(description="The study's name, as list_studies has it.")]
Number = Annotated[int, Field(ge=0, description="The trial's number.")]
Latest = Annotated[int, Field(ge=0, le=1000, description="How many of the latest trials are told one by one.")]
Metric = Annotated[
    str | None, Field(description="A metric that the trials reported; left out: what the study searches for.")
]
Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_REASON),
    Field(description="Why, in a sentence or two: it is kept with the event."),
]
Proposed = Annotated[dict[str, Any], Field(description='Values of parameters, such as {"lr": 0.01}.')]
Changes = Annotated[
    dict[str, Any],
    Field(
        description="Of a number a range [low, high], of a choice some options, or one value that it has from now on."
    ),
]
Wider = Annotated[
    dict[str, Any],
    Field(description='New or larger parameters as in a TOML file: {"lr": {"float": [1e-5, 1.0], "log": true}}.'),
]
Fill = Annotated[
    dict[str, Any] | None, Field(description='What a new parameter was in the trials so far, such as {"layers": 2}.')
]
State = Annotated[
    Literal["pause", "stop", "resume"],
    Field(description="pause: nothing is started; stop: its programs end; resume: it goes on."),
]


@dataclass(frozen=True)
class Tool:
    """One function that agents may call; its signature is what they are told."""

    act: Callable[..., Any]
    writes: bool = False
    destructive: bool = False

    @property
    def name(self) -> str:
        return self.act.__name__

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The arguments, and no others."""
        hints, given = get_type_hints(self.act, include_extras=True), inspect.signature(self.act).parameters
        fields: dict[str, Any] = {
            name: (hints[name], ... if each.default is each.empty else each.default) for name, each in given.items()
        }
        return create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)

    def described(self) -> protocol.Tool:
        hints = protocol.ToolAnnotations(
            read_only_hint=not self.writes, destructive_hint=self.destructive, open_world_hint=False
        )
        schema = self.arguments.model_json_schema()
        about = inspect.cleandoc(self.act.__doc__ or "")
        return protocol.Tool(name=self.name, description=about, input_schema=schema, annotations=hints)

    def call(self, given: dict[str, Any]) -> Any:
        """What the tool says; ``XstarError`` or ``ValidationError``: the agent can mend it."""
        arguments = self.arguments.model_validate(given)
        return self.act(**{name: getattr(arguments, name) for name in type(arguments).model_fields})


def wrong_arguments(tool: Tool, error: ValidationError) -> str:
    """Which arguments are wrong, by which rule, and what was found."""
    known, said = ", ".join(tool.arguments.model_fields) or "none", []
    for each in error.errors(include_url=False, include_context=False):
        name = ".".join(map(str, each["loc"]))
        rule = {"extra_forbidden": f"is no argument of {tool.name}, which has: {known}", "missing": "is needed"}
        found = "" if each["type"] == "missing" else f", but got {repr(each['input'])[:200]}"
        said.append(f"{name}: {rule.get(each['type'], each['msg'])}{found}")
    return "; ".join(said)


def make_server(storage: str, author: str | None) -> Server[Any]:
    """The server; ``author=None``: it only reads."""
    tools = {tool.name: tool for tool in [*_reading(storage), *([] if author is None else _writing(storage, author))]}

    async def listed(*_: Any) -> protocol.ListToolsResult:
        return protocol.ListToolsResult(tools=[tool.described() for tool in tools.values()])

    async def called(_: Any, asked: protocol.CallToolRequestParams) -> protocol.CallToolResult:
        return await anyio.to_thread.run_sync(_answer, tools, asked.name, asked.arguments or {})

    return Server("xstar", version=VERSION, instructions=INSTRUCTIONS, on_list_tools=listed, on_call_tool=called)


def serve(storage: str, author: str | None) -> None:
    """Answer on standard input and output until the agent has gone."""
    server = make_server(storage, author)

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)


def _answer(tools: dict[str, Tool], name: str, given: dict[str, Any]) -> protocol.CallToolResult:
    tool = tools.get(name)
    if tool is None:
        return _refused(f"there is no tool {name!r}; there are: {', '.join(tools)}")
    try:
        told = tool.call(given)
    except ValidationError as error:
        return _refused(wrong_arguments(tool, error))
    except XstarError as error:
        return _refused(str(error))
    except Exception:
        traceback.print_exc(file=sys.stderr)  # for who runs the server; standard output is the protocol's
        return _refused(
            f"{name} failed by a mistake of xstar's; the server has written what happened to its standard error"
        )
    structured = told if isinstance(told, dict) else {"result": told}
    text = protocol.TextContent(type="text", text=json.dumps(told, ensure_ascii=False))
    return protocol.CallToolResult(content=[text], structured_content=structured)


def _refused(text: str) -> protocol.CallToolResult:
    return protocol.CallToolResult(content=[protocol.TextContent(type="text", text=text)], is_error=True)


def _reading(storage: str) -> list[Tool]:
    def list_studies() -> list[dict[str, Any]]:
        """The studies of the storage, with their goal, method, number of trials and best value or front."""
        with existing(storage) as place:
            return describe_all(place)

    def read_study(study: Name, latest: Latest = LATEST) -> dict[str, Any]:
        """A study: its space, counts of trials by state, its best and its latest trials, and what users did to it."""
        with look(study, storage) as view:
            return describe_exactly(view, latest)

    def read_trial(study: Name, trial: Number) -> dict[str, Any]:
        """A trial with its configuration, all that it reported, and why it failed if it did."""
        with look(study, storage) as view:
            return {**whole_trial(view.history, view.trial(trial))}

    def best(study: Name) -> dict[str, Any]:
        """The best trial of a study; of one with several objectives its front, the best trade-offs."""
        with look(study, storage) as view:
            history, made = view.history, describe(view, exact=True)
            if not history.has_value:
                raise no_value(history, study)
            return {**made["best"]} if made["best"] is not None else {**made["front"], **hypervolume(history)}

    def why(study: Name, trial: Number) -> dict[str, Any]:
        """Why a trial was run: what the searcher knew and expected, the runners-up, what the scheduler made of it."""
        from xstar.look.why import why as explained  # at use: models

        with look(study, storage) as view:
            view.trial(trial)
            return explained(view.journal, trial).to_json()

    def importance(study: Name, metric: Metric = None) -> dict[str, Any]:
        """Which parameters matter: the share of the differences in a metric that each takes part in, and how much the trees
        of the forest that was fitted differ about it."""
        from xstar.look.plots import importance as plot  # at use: models

        with look(study, storage) as view:
            try:
                data = plot.compute(view if metric is None else view.of_metric(metric))
            except NoValue as error:
                return {"reason": str(error)}
        rows = zip(data.names, data.total.tolist(), data.total_error.tolist(), strict=True)
        found = [{"parameter": name, "share": share, "error": error} for name, share, error in rows]
        return {"trials": data.trials, "of": data.which, "parameters": found}

    return [Tool(act) for act in (list_studies, read_study, read_trial, best, why, importance)]


def _writing(storage: str, author: str) -> list[Tool]:
    def propose(study: Name, config: Proposed, reason: Reason) -> str:
        """Have a configuration, or a part of one, tried next; the searcher completes what it leaves open."""
        with opened(study, storage) as found:
            found.enqueue(config, author=author, reason=reason)
        return "it will be tried next"

    def narrow(study: Name, changes: Changes, reason: Reason) -> list[str]:
        """Search a part of the space from now on: {"lr": [1e-4, 1e-2], "optimizer": ["adam", "sgd"], "layers": 3}."""
        with opened(study, storage) as found:
            before = found.space
            found.narrow(changes, author=author, reason=reason)
            return found.space.difference(before)

    def widen(study: Name, parameters: Wider, reason: Reason, fill: Fill = None) -> list[str]:
        """Search a wider space from now on: {"layers": {"int": [1, 8]}, "optimizer": ["sgd", "adam", "lion"]}."""
        with opened(study, storage) as found:
            before = found.space
            given = {name: read_parameter(name, value) for name, value in parameters.items()}
            found.widen(Space({**before.parameters, **given}), fill, author=author, reason=reason)
            return found.space.difference(before)

    def hold(study: Name, state: State, reason: Reason) -> str:
        """Pause a study, stop it, or let it go on."""
        with opened(study, storage) as found:
            act = {"pause": found.pause, "stop": found.stop, "resume": found.resume}[state]
            act(author=author, reason=reason)
            return f"{len(found.history.running)} trials still run"

    return [Tool(act, writes=True, destructive=act is hold) for act in (propose, narrow, widen, hold)]
