"""Options of the commands; those of a search are the fields of :class:`xstar.api.Options` and of its executor.

Name, type and default of an option come from the field, its help is the first paragraph about it in the docstring, its
panel that of the field before it. Only what a command line has to write in another way than Python stands in a table
(:data:`FORMS`). At the end stand the options that several commands share.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, fields
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import typer

from xstar.api import HINTS, Options
from xstar.core.checks import nearest
from xstar.core.goals import Metric
from xstar.errors import InvalidArgument
from xstar.run import Objective
from xstar.run.ray import chosen
from xstar.run.settings import Processes
from xstar.space import Space
from xstar.space.conditions import Threshold
from xstar.study import DEFAULT_STORAGE
from xstar.study.keywords import explained
from xstar.study.methods import METHODS
from xstar.study.settings import DEFAULT_RETRIES

SETTINGS_ONLY = ("searcher", "scheduler")
"""Objects: they cannot be written on a command line, but in a file's ``settings``."""

PYTHON_ONLY = ("progress", "watch")
"""Not for ``xstar run`` at all, which shows the progress itself."""

STOP, SEARCH, WHERE = "When to stop", "How to search", "Where to run and keep it"
PANELS = {"trials": STOP, "metric": SEARCH, "study": WHERE}
"""The options at which a panel of the help page begins."""

Command = TypeVar("Command", bound=Callable[..., None])


def read_constraints(texts: Iterable[str]) -> dict[str, float | Threshold]:
    """``["latency=50", "accuracy>=0.9"]`` → ``{"latency": 50.0, "accuracy": at_least(0.9)}``; both sides make a ``between``."""
    found: dict[str, dict[str, float]] = {}
    for text in texts:
        parts = re.fullmatch(r"(.+?)\s*(>=|<=|=)\s*([^<>=]+)", text.strip())
        try:
            name, sign, limit = (parts[1], parts[2], float(parts[3])) if parts else ("", "", 0.0)
        except ValueError:
            name, sign, limit = "", "", 0.0
        if not name:
            remedy = (
                "e.g. --constraint latency=50 or --constraint 'accuracy>=0.9'; the quotes keep the shell from reading >"
            )
            raise InvalidArgument("--constraint", "must be METRIC<=NUMBER or METRIC>=NUMBER", f"text={text!r}", remedy)
        side = "at_least" if sign == ">=" else "at_most"
        sides = found.setdefault(name, {})
        if side in sides:
            both = f"{name}={sides[side]:g} and {text}"
            raise InvalidArgument("--constraint", "must bound a side of a metric once", both)
        sides[side] = limit
    return {
        name: sides["at_most"] if list(sides) == ["at_most"] else Threshold(sides.get("at_least"), sides.get("at_most"))
        for name, sides in found.items()
    }


def read_metrics(texts: list[str]) -> Metric:
    """``["error"]`` → ``"error"``; ``["accuracy:max", "latency:min:40"]`` → names with directions, and a threshold."""
    found = [(text, re.fullmatch(r"(.+?):(min|max)(?::([^:]+))?", text)) for text in texts]
    if not any(match for _, match in found):
        return texts[0] if len(texts) == 1 else texts
    made: dict[str, Any] = {}
    for text, match in found:
        try:
            name, way, limit = match.groups() if match else ("", "", None)
            made[name] = way if limit is None else (way, float(limit))
        except ValueError:
            name = ""
        if not name:
            rule = "must say min or max of every metric, or of none, and perhaps a number after it"
            remedy = "e.g. --metric accuracy:max --metric latency:min:40"
            raise InvalidArgument("--metric", rule, f"text={text!r}", remedy)
    return made


def number_or(option: str, word: str) -> Callable[[str], int | None]:
    """How ``"3"`` is read as 3, and a word that stands for ``None``."""

    def read(text: str) -> int | None:
        if text == word:
            return None
        if not text.isdecimal():
            raise InvalidArgument(option, f"must be a whole number of at least 0, or {word}", text)
        return int(text)

    return read


@dataclass(frozen=True, slots=True)
class Form:
    """How an option is written on a command line, where that does not follow from the signature."""

    kind: Any = None
    """The type that typer reads; ``None``: the keyword's own."""
    names: tuple[str, ...] = ()
    read: Callable[[Any], Any] | None = None
    """From what typer read to the keyword's value."""
    metavar: str | None = None
    envvar: str | None = None
    default: str | None = None
    """What the help page says where the signature has ``None``."""
    more: str = ""
    """What the help page adds."""


FORMS: Mapping[str, Form] = {
    "constraints": Form(
        list[str],
        ("--constraint", "--constraints"),
        read_constraints,
        metavar="METRIC<=NUMBER",
        more="METRIC>=NUMBER is a lower bound. May be given several times.",
    ),
    "metric": Form(
        list[str],
        ("--metric",),
        read_metrics,
        metavar="NAME[:min|max[:THRESHOLD]]",
        more="Several make several objectives.",
    ),
    "method": Form(default="what suits the space and the budget", more=f"One of {', '.join(METHODS)}."),
    "trial_value": Form(metavar="last|best", default="last"),
    "warm_start": Form(
        list[str], ("--warm-start",), list, metavar="STUDY", default="none", more="May be given several times."
    ),
    "study": Form(default="the file's name"),
    "storage": Form(metavar="PATH|URL", envvar="XSTAR_STORAGE", default=DEFAULT_STORAGE),
    "directory": Form(Path, metavar="FOLDER", default="beside the storage"),
    "checkpoints": Form(str, read=number_or("--checkpoints", "all"), metavar="NUMBER|all"),
    "max_failures": Form(str, read=number_or("--max-failures", "none"), metavar="NUMBER|none"),
    "executor": Form(str, metavar="local|ray", default="local"),
    "retries": Form(default=str(DEFAULT_RETRIES)),
}


OF_EXECUTOR = tuple(each for each in fields(Processes) if each.name != "workers")
"""What the command line and files say beside the other options: there is no place in them for an object."""


def _known() -> dict[str, Field[Any]]:
    """Name → field of every option: those of the executor follow ``workers``."""
    found: dict[str, Field[Any]] = {}
    for each in fields(Options):
        if each.init and each.name not in ("objective", "space", "direction"):
            found[each.name] = each
        if each.name == "workers":
            found |= {own.name: own for own in OF_EXECUTOR}
    return found


KNOWN = _known()
TYPES = {**get_type_hints(Processes), **HINTS}
HELP = {
    name: " ".join(text.partition("\n\n")[0].split())
    for name, text in {**explained(Options), **explained(Processes), "workers": explained(Options)["workers"]}.items()
}
"""Option → the first paragraph about it."""


def search_options(objective: Objective, space: Space, given: Mapping[str, Any]) -> Options:
    """The options of a search from a flat list, in which the settings of the executor stand beside the others."""
    own = {each.name: given[each.name] for each in OF_EXECUTOR if each.name in given}
    rest = {name: value for name, value in given.items() if name not in own}
    if own:
        rest["executor"] = chosen(rest.get("executor"), rest.pop("workers", 1), **own)
    return Options(objective, space, **rest)


def with_search_options(
    *, only: Iterable[str] | None = None, defaults: Mapping[str, str] = MappingProxyType({})
) -> Callable[[Command], Command]:
    """A decorator: the command has the options of a search, all or ``only`` some, instead of its ``**options``.

    ``defaults`` says which ones of its own the help page shall name.
    """

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
        arguments = [parameter for parameter in own if parameter.kind is not parameter.KEYWORD_ONLY]
        derived = [parameter for parameter in _derived(defaults) if only is None or parameter.name in only]
        command.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*arguments, *derived, *(parameter for parameter in own if parameter not in arguments)]
        )
        return command

    return decorate


def _derived(defaults: Mapping[str, str]) -> list[inspect.Parameter]:
    found: list[inspect.Parameter] = []
    panel = None
    for name, keyword in KNOWN.items():
        panel = PANELS.get(name, panel)
        if name in SETTINGS_ONLY or name in PYTHON_ONLY:
            continue
        form = FORMS.get(name, Form())
        kind = form.kind or plain_type(name)
        option = typer.Option(
            *form.names,
            metavar=form.metavar,
            envvar=form.envvar,
            rich_help_panel=panel,
            help=f"{HELP.get(name, '')} {form.more}".strip(),
            show_default=defaults.get(name)
            or form.default
            or (False if keyword.default is None else str(keyword.default)),
        )
        # Nothing is the default of every option: what the command line leaves open is the file's to say.
        annotation = Annotated[kind | None, option]  # type: ignore[valid-type]
        found.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation))
    return found


def plain_type(name: str, hint: Any = None) -> type:
    """The type that a command line can write: ``int | None`` → ``int``, ``str | PathLike[str] | None`` → ``str``."""
    hint = TYPES[name] if hint is None else hint
    kinds = set(get_args(hint)) if get_origin(hint) in (Union, UnionType) else {hint}
    for kind in (bool, int, float, str):
        if kinds - {NoneType, os.PathLike[str]} == {kind}:
            return kind
    raise TypeError(
        f"{name}: {hint} cannot be written on a command line as it is; "
        "give it an entry in FORMS, SETTINGS_ONLY or PYTHON_ONLY of cli/options.py"
    )


def given_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those that stand on the command line, as the values that ``xs.minimize`` takes."""
    found: dict[str, Any] = {}
    for name, value in options.items():
        if value is None or value == []:
            continue
        read = FORMS.get(name, Form()).read
        found[name] = value if read is None else read(value)
    return found


def file_keys() -> list[str]:
    """What a file's settings may say: the options, and which of ``xs.minimize`` and ``xs.maximize`` is meant."""
    return [*(name for name in KNOWN if name not in PYTHON_ONLY), "maximize"]


def file_settings(settings: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """A file's settings, checked; ``None`` is left out where it is no value, as in ``{"workers": None}``."""
    allowed = file_keys()
    if unknown := [name for name in settings if name not in allowed]:
        remedy = nearest(str(unknown[0]), allowed)
        raise InvalidArgument(f"settings in {path}", f"may have {', '.join(allowed)}", unknown, remedy)
    found = {
        name: value for name, value in settings.items() if value is not None or NoneType in get_args(TYPES.get(name))
    }
    if isinstance(
        executor := found.get("executor"), Processes
    ):  # flat, so that the command line wins over a part of it
        chosen(executor, found.get("workers", 1))
        del found["executor"]
        found |= {
            each.name: value for each in fields(executor) if (value := getattr(executor, each.name)) != each.default
        }
    return found


File = Annotated[
    str | None,
    typer.Option(
        "--file", metavar="FILE", help="That of the search: it has the functions of its objectives with xs.Known."
    ),
]

StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="The study's name.", show_default=False)]

Storage = Annotated[
    str,
    typer.Option(metavar=FORMS["storage"].metavar, envvar=FORMS["storage"].envvar, help=HELP.get("storage", "")),
]

Directory = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Where the trials keep checkpoints and output, if `xstar run` was given one.",
        show_default="beside the storage",
    ),
]

STORAGE = DEFAULT_STORAGE
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
