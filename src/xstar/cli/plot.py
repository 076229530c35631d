"""Looking: ``xstar plot``."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from xstar.cli.options import STORAGE, Storage, StudyName
from xstar.cli.text import console
from xstar.errors import InvalidArgument
from xstar.inspect.look import look


def plot(
    study: StudyName,
    kind: Annotated[
        str | None, typer.Argument(metavar="KIND", help="Which plot; left out: list them.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to: .html needs nothing to open it, .json is Plotly's form, .svg, .png and .pdf need Chromium.",
            show_default="STUDY-KIND.html",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="An option of the plot, e.g. over=time. May be repeated."),
    ] = None,
    other: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="STUDY", help="Of a comparison: another study. May be repeated."),
    ] = None,
    storage: Storage = STORAGE,
) -> None:
    """Draw a study: the best so far, learning curves, rungs, workers, parameters, importance, failures, comparisons."""
    from xstar.plots import kinds  # at use: models and their SciPy
    from xstar.plots.output import write

    out = console()
    if kind is None:
        for name, each in kinds.KINDS.items():
            has = ", ".join(each.options)
            out.print(f"{name:12} {each.about}" + (f" (options: {has})" if has else ""), soft_wrap=True)
        return
    found = kinds.kind(kind)
    options = found.read(_pairs(option or []))
    target = output or Path(f"{study}-{kind}.html")
    with ExitStack() as stack:
        view = stack.enter_context(look(study, storage))
        if other:
            options["others"] = [stack.enter_context(look(name, storage)) for name in other]
        write(found.figure(view, **options), target, f"{study}: {kind}")
    out.print(f"plot in {target}", soft_wrap=True)


def _pairs(words: list[str]) -> dict[str, str]:
    made: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise InvalidArgument("--set", "must be NAME=VALUE", word, "e.g. --set over=time")
        made[name] = value
    return made
