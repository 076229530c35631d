"""Looking: ``xstar studies``, ``xstar show``, ``xstar best``, ``xstar cite``. None of them changes anything."""

from __future__ import annotations

import re
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from xstar.cli.options import STORAGE, AsJson, Directory, Storage, StudyName
from xstar.cli.text import console, json_text, table_of
from xstar.core.words import number, plural, seconds, short_config
from xstar.journal import History
from xstar.journal.trial import State, Trial
from xstar.look.describe import (
    LATEST,
    Description,
    describe,
    describe_all,
    describe_exactly,
    hypervolume,
    list_facts,
    reasons,
    say_value,
    whole_trial,
)
from xstar.look.progress.terminal import STYLES, colour_counts
from xstar.look.view import StudyView, existing, look
from xstar.study.naming import say_reached
from xstar.study.tradeoffs import no_value

MOST_REASONS = 10


def studies(as_json: AsJson = False, storage: Storage = STORAGE) -> None:
    """List the studies of a storage."""
    out = console()
    with existing(storage) as place:
        found, url = describe_all(place), place.url
    if as_json:
        typer.echo(json_text(found))
        return
    # Made for 80 columns: a name is folded, never cut, because it is what the next command is given.
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("study", overflow="fold", min_width=14)
    table.add_column("trials", justify="right", no_wrap=True)
    table.add_column("best", no_wrap=True)
    table.add_column("goal", no_wrap=True, overflow="ellipsis", max_width=13)
    table.add_column("method", overflow="fold", min_width=9)
    table.add_column("created", no_wrap=True)
    for each in found:
        start = each["name"], str(each["trials"])
        if "error" in each:
            table.add_row(*start, Text("not readable", "red"))
            continue
        best = f"front of {each['front']}" if each["front"] else number(each["best"])
        goal = re.sub(r"\b(min|max)imize\b", r"\1", each["goal"])
        table.add_row(*start, best, goal, each["method"], _date(each["created"])[: len("2026-12-31")])
    out.print(table if found else f"{url} has no studies yet")
    for each in found:
        if "error" in each:
            out.print(Text(f"{each['name']}: {each['error']}", "red"), soft_wrap=True)


def show(
    study: StudyName,
    trial: Annotated[int | None, typer.Option(metavar="N", help="Show one trial, with all it reported.")] = None,
    as_json: AsJson = False,
    storage: Storage = STORAGE,
    directory: Directory = None,
) -> None:
    """Show a study: what it is, how far it got, its best and its latest trials, what failed and why."""
    out = console()
    with look(study, storage) as view:
        if trial is not None:
            _show_trial(out, view, view.trial(trial), directory, as_json=as_json)
            return
        if as_json:
            typer.echo(json_text(describe_exactly(view)))
            return
        made, history = describe(view, LATEST), view.history
        _show_settings(out, made, view.files(directory).folder)
        if history.front and history.goals.several:
            _show_front(out, history, made)
        elif (best := made["best"]) is not None:
            _show_best(out, view, say_reached(best["number"], best["state"], best["budget"]), "best: ")
        if made["latest"]:
            table = _trials_table(made)
            table.title = f"the last {len(made['latest'])} of {plural(made['trials'], 'trial')}"
            out.print(table)
        _show_reasons(out, history)


def best(
    study: StudyName,
    as_json: Annotated[bool, typer.Option("--json", help="Print the configuration as JSON and nothing else.")] = False,
    storage: Storage = STORAGE,
) -> None:
    """Show a study's best trial, or the best trade-offs of several objectives."""
    with look(study, storage) as view:
        history = view.history
        if not history.has_value:
            raise no_value(history, study)
        dump, found = history.space.dump, history.best
        if as_json:
            made = dump(found.config) if found is not None else [dump(trial.config) for trial in history.front]
            typer.echo(json_text(made))
        elif found is not None:
            _show_best(console(), view, f"trial {found.number} of {study}, {found.state.value}")
        else:
            _show_front(console(), history, describe(view))


def cite(study: StudyName, storage: Storage = STORAGE) -> None:
    """Print what to cite for a study, as BibTeX: xstar, the papers of its method, and that of the importances in its report."""
    from xstar.look.papers import bibtex  # at use: searchers

    with look(study, storage) as view:
        typer.echo(bibtex(view.created))


# ---------------------------------------------------------------- the parts of `xstar show`


def _show_best(out: Console, view: StudyView, which: str, before: str = "") -> None:
    best = view.history.best
    assert best is not None
    found = f"{view.created.metric} {number(best.value, 8)}"
    out.print(Text(before).append(found, "bold green").append(f" ({which})", ""))
    out.print(table_of(("parameter", "value"), view.history.space.dump(best.config)))


def _show_front(out: Console, history: History, made: Description) -> None:
    """The best trade-offs, and the volume they cover."""
    table = Table("trial", *made["objectives"], "configuration", title="the front", title_justify="left")
    table.columns[-1].overflow = "fold"
    for trial in made["front"]["trials"]:
        values = [number(value, 8) for value in trial["values"].values()]
        table.add_row(str(trial["number"]), *values, short_config(trial["config"]))
    out.print(table)
    if (more := made["front"]["count"] - len(made["front"]["trials"])) > 0:
        out.print(f"and {plural(more, 'more trial')}; `xstar best --json` has all of them")
    found = hypervolume(history)
    upto = ", ".join(f"{name}={number(value)}" for name, value in found["up_to"].items())
    out.print(f"hypervolume {number(found['hypervolume'])} up to {upto}")


def _show_settings(out: Console, made: Description, files: Path) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_row("study", Text(made["name"] or "", "bold"))
    for name, words in list_facts(made):
        table.add_row(name, words)
    table.add_row("retries", str(made["retries"]))
    table.add_row("created", f"{_date(made['created'])} by xstar {made['version']}")
    table.add_row("files", str(files))
    for place, (name, written) in enumerate(made["parameters"].items()):
        table.add_row("space" if place == 0 else "", f"{name} = {written}")
    out.print(table)
    out.print(Text("trials: ").append_text(colour_counts(made["counts"])))


def _trials_table(made: Description) -> Table:
    table, trials = Table(title_justify="left"), made["latest"]
    several = len({trial["host"] for trial in trials} - {""}) > 1
    for name in ("trial", "state", made["metric"], "epochs", "time"):
        table.add_column(name, justify="left" if name == "state" else "right", no_wrap=True)
    for name in (*(["host"] if several else []), "configuration", "origin"):
        table.add_column(name, overflow="fold")
    for trial in trials:
        state = Text(trial["state"], STYLES[State(trial["state"])])
        told = (
            say_value(trial),
            str(trial["budget"]),
            seconds(trial["seconds"]),
            *([trial["host"]] if several else []),
        )
        table.add_row(str(trial["number"]), state, *told, short_config(trial["config"]), trial["origin"])
    return table


def _show_reasons(out: Console, history: History) -> None:
    """What went wrong, each reason with the trials it ended."""
    found = list(reasons(history))
    table = Table("times", "latest", "state", "reason", title="what went wrong", title_justify="left")
    table.columns[3].overflow = "fold"
    for reason, trials in islice(found, MOST_REASONS):
        state = Text(trials[-1].state.value, STYLES[trials[-1].state])
        table.add_row(str(len(trials)), f"trial {trials[-1].number}", state, Text(reason))
    if found:
        out.print(table)
    if (more := len(found) - MOST_REASONS) > 0:
        out.print(f"and {plural(more, 'other reason')}; `xstar export --format csv` has all of them")


def _show_trial(out: Console, view: StudyView, trial: Trial, directory: Path | None, *, as_json: bool) -> None:
    made = whole_trial(view.history, trial)
    if as_json:
        typer.echo(json_text(made))
        return
    out.print(Text(f"trial {trial.number} ", "bold").append(made["state"], STYLES[trial.state]), end="")
    values = made["values"] or dict.fromkeys(made["objectives"])
    told = ", ".join(f"{name} {number(value, 8)}" for name, value in values.items())
    ran = f", run on {made['host']}" if made["host"] else ""
    out.print(f", {told}, {seconds(made['seconds'])}, asked {_date(made['began'])}{ran}")
    out.print(f"origin: {made['origin']} (after {plural(made['seen'], 'event')})", soft_wrap=True)
    if made["crashes"] or made["lost"]:
        out.print(f"its worker died {made['crashes']} times, its program {made['lost']} times")
    out.print(table_of(("parameter", "value"), made["config"]))
    if made["reports"]:
        names = dict.fromkeys([*made["objectives"], *(name for each in made["reports"] for name in each["metrics"])])
        table = Table("epoch", *names, "after")
        for each in made["reports"]:
            found = [number(each["metrics"].get(name), 8) for name in names]
            table.add_row(str(each["budget"]), *found, seconds(each["at"] - made["began"]))
        out.print(table)
    if made["attrs"]:
        out.print(table_of(("attribute", "value"), made["attrs"]))
    if made["reason"]:
        out.print(Text("reason:", "red"))
        out.print(made["reason"], soft_wrap=True)
    folder = view.files(directory).of(trial)
    files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
    out.print(f"files in {folder}:" if files else f"no files in {folder}", soft_wrap=True)
    for path in files:
        out.print(f"  {path.relative_to(folder)}  {path.stat().st_size:,} bytes", soft_wrap=True)


def _date(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M:%S")
