"""Looking closer: ``xstar plot`` a study, ``xstar why`` a trial, ``xstar fork`` a study, ``xstar watch`` one while it runs."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.live import Live
from rich.text import Text

from xstar.cli.options import STORAGE, AsJson, File, Storage, StudyName
from xstar.cli.text import command, console, json_text, pairs
from xstar.cli.work import known_of
from xstar.core.words import plural
from xstar.journal import events as ev
from xstar.look.progress import Tracker
from xstar.look.progress.terminal import draw
from xstar.look.view import existing, look
from xstar.study import DEFAULT_STORAGE, NO_LIMITS


def why(
    study: StudyName,
    trial: Annotated[int, typer.Argument(metavar="TRIAL", help="The trial's number.", show_default=False)],
    file: File = None,
    as_json: AsJson = False,
    storage: Storage = STORAGE,
) -> None:
    """Explain a trial: what the searcher knew, what it expected, what the runners-up were, what the scheduler made of it."""
    from xstar.look.why import why as explain  # at use: models

    out = console()
    with look(study, storage) as view:
        view.trial(trial)
        found = explain(view.journal, trial, known_of(view, file))
        if as_json:
            typer.echo(json_text(found.to_json()))
            return
        for line in found.lines():
            out.print(line, soft_wrap=True)


def fork(
    name: StudyName,
    at: Annotated[
        int | None,
        typer.Option(metavar="EVENT", help="After so many events; `xstar why` names them.", show_default="all of them"),
    ] = None,
    study: Annotated[
        str | None, typer.Option(metavar="NAME", help="The new study's name.", show_default="STUDY-fork-EVENT")
    ] = None,
    method: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its method.", show_default="that of the old study")
    ] = None,
    max_budget: Annotated[
        int | None, typer.Option(metavar="N", help="Epochs of a full training.", show_default="as in the old study")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Its seed.", show_default="as in the old study")] = None,
    storage: Storage = STORAGE,
) -> None:
    """Begin a new study at any moment of an old one, to see what another method would have done from there."""
    from xstar.look.fork import fork_events

    with existing(storage) as place:
        events = list(place.open(name).read(0))
        moment = len(events) if at is None else at
        target = study or f"{name}-fork-{moment}"
        made = fork_events(events, moment, target, method=method, max_budget=max_budget, seed=seed)
        place.create(target, made)
    kept = plural(sum(isinstance(event, ev.Asked | ev.Added) for event in made), "trial")
    out = console()
    out.print(f"study {target!r} begins with {kept}, as {name!r} was after {moment} events", soft_wrap=True)
    where = () if storage == DEFAULT_STORAGE else ("--storage", storage)
    out.print(f"run it:       {command('run', 'FILE', '--study', target, *where)}", soft_wrap=True)


def watch(
    study: StudyName,
    every: Annotated[float, typer.Option(metavar="SECONDS", help="Seconds between two looks.", min=0.1)] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Print it once and end.")] = False,
    storage: Storage = STORAGE,
) -> None:
    """Watch a study that runs elsewhere, from another terminal or machine. It only reads; Ctrl-C ends the watching."""
    out = console()
    with look(study, storage) as view:
        tracker = Tracker(view, NO_LIMITS)
        if once or not out.is_terminal:
            out.print(draw(tracker))
            return
        with Live(console=out, get_renderable=lambda: draw(tracker), refresh_per_second=4) as live:
            try:
                while True:
                    time.sleep(every)
                    view.refresh()
                    tracker.advance()
                    live.refresh()
            except KeyboardInterrupt:
                out.print(Text("no longer watching; the study goes on", "dim"))


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
    from xstar.look.plots import kinds  # at use: models and their SciPy
    from xstar.look.plots.output import write

    out = console()
    if kind is None:
        for name, each in kinds.KINDS.items():
            has = ", ".join(each.options)
            out.print(f"{name:12} {each.about}" + (f" (options: {has})" if has else ""), soft_wrap=True)
        return
    found = kinds.kind(kind)
    options = found.read(pairs("--set", option or [], "e.g. --set over=time"))
    target = output or Path(f"{study}-{kind}.html")
    with ExitStack() as stack:
        view = stack.enter_context(look(study, storage))
        if other:
            options["others"] = [stack.enter_context(look(name, storage)) for name in other]
        write(found.figure(view, **options), target, f"{study}: {kind}")
    out.print(f"plot in {target}", soft_wrap=True)
