"""``xstar widen``: let a study go on in a wider space."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from xstar.cli.load import DEFAULT_SPACE, load
from xstar.cli.options import STORAGE, Storage, StudyName
from xstar.cli.text import console
from xstar.errors import InvalidArgument
from xstar.inspect.look import look
from xstar.study import Study


def widen(
    study: StudyName,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The file with the new space, as for `xstar run`.", show_default=False)
    ],
    fill: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="What a new parameter was in the trials so far. May be given several times."
        ),
    ] = None,
    space: Annotated[str, typer.Option(help="What the space is called in the file.")] = DEFAULT_SPACE,
    storage: Storage = STORAGE,
) -> None:
    """Let a study go on in a wider space: larger ranges, more options, new parameters. The trials so far stay."""
    program = load(file, space)
    with look(study, storage):  # refuses a storage that is not there, which opening would make
        pass
    with Study.open(study, storage) as opened:
        lines = program.space.difference(opened.space)
        opened.widen(program.space, _read(fill or []))
    out = console()
    if not lines:
        out.print(f"study {study!r} has this space already", soft_wrap=True)
        return
    out.print(f"study {study!r} goes on in the space of {file} (here), which was (there):", soft_wrap=True)
    for line in lines:
        out.print(f"  {line}", soft_wrap=True, markup=False)


def _read(texts: Sequence[str]) -> dict[str, Any]:
    """``["momentum=0.9"]`` → ``{"momentum": 0.9}``; what is no JSON is a word."""
    found: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise InvalidArgument("--fill", "must be NAME=VALUE", f"text={text!r}", "e.g. --fill momentum=0.9")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found
