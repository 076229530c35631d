"""Looking: ``xstar studies``, ``xstar show``, ``xstar best``, ``xstar cite``. None of them changes anything."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from xstar.cli.options import STORAGE, AsJson, Directory, Storage, StudyName
from xstar.cli.text import attrs_table, config_table, console, json_text
from xstar.core.environment import host_of
from xstar.core.reasons import last_line
from xstar.core.words import number, plural, seconds, short_config
from xstar.errors import XstarError
from xstar.journal import History
from xstar.journal.trial import State, Trial
from xstar.look import summary
from xstar.look.look import StudyView, existing, look
from xstar.look.progress.picture import trial_and_state
from xstar.look.progress.terminal import STYLES, counts_of
from xstar.study.naming import described, method_of
from xstar.study.tradeoffs import covered, no_value

LAST_TRIALS = 10
MOST_REASONS = 10


def studies(as_json: AsJson = False, storage: Storage = STORAGE) -> None:
    """List the studies of a storage."""
    out = console()
    with existing(storage) as place:
        if as_json:
            typer.echo(json_text(summary.of_storage(place)))
            return
        table, unreadable = _studies_table(), []
        for info in place.list():
            try:
                view = StudyView(place.open(info.name))
            except XstarError as error:  # say, a kind of parameter that only its own package can read
                table.add_row(info.name, str(info.trials), Text("not readable", "red"))
                unreadable.append(f"{info.name}: {error}")
                continue
            best, front, created = view.history.best, view.history.front, view.created
            goal = ", ".join(f"{each.direction[:3]} {each.metric}" for each in view.history.goals)
            table.add_row(
                info.name,
                str(info.trials),
                number(best.value) if best is not None else (f"front of {len(front)}" if front else number(None)),
                goal,
                method_of(created),
                _date(created.at)[: len("2026-12-31")],
            )
        out.print(table if table.row_count else f"{place.url} has no studies yet")
        for line in unreadable:
            out.print(Text(line, "red"), soft_wrap=True)


def _studies_table() -> Table:
    """Made for 80 columns: a name is folded, never cut, because it is what the next command is given."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("study", overflow="fold", min_width=14)
    table.add_column("trials", justify="right", no_wrap=True)
    table.add_column("best", no_wrap=True)
    table.add_column("goal", no_wrap=True, overflow="ellipsis", max_width=13)
    table.add_column("method", overflow="fold", min_width=9)
    table.add_column("created", no_wrap=True)
    return table


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
        if as_json:
            one = None if trial is None else summary.of_trial(view.history, view.trial(trial), reports=True)
            typer.echo(json_text(one or summary.of_study(view)))
            return
        if trial is not None:
            _show_trial(out, view, view.trial(trial), directory)
            return
        _show_settings(out, view, directory)
        history = view.history
        for source in history.prior_studies:
            out.print(f"began with {source.in_words}", soft_wrap=True, markup=False)
        out.print(Text("trials: ").append_text(counts_of(history)))
        if history.goals.several:
            _show_front(out, history)
        elif history.best is not None:
            out.print(
                Text("best: ").append(f"{view.created.metric} {number(history.best.value, 8)}", "bold green"), end=""
            )
            out.print(f" ({trial_and_state(history.best)})")
            out.print(config_table(history, history.best))
        if history.trials:
            table = _trials_table(history)
            table.title = f"the last {len(history.trials[-LAST_TRIALS:])} of {plural(len(history.trials), 'trial')}"
            out.print(table)
        _show_failures(out, history.trials)


def best(
    study: StudyName,
    as_json: Annotated[bool, typer.Option("--json", help="Print the configuration as JSON and nothing else.")] = False,
    storage: Storage = STORAGE,
) -> None:
    """Show a study's best trial, or the best trade-offs of several objectives."""
    with look(study, storage) as view:
        history = view.history
        if history.goals.several and history.front:
            if as_json:
                typer.echo(json_text([history.space.dump(trial.config) for trial in history.front]))
            else:
                _show_front(console(), history)
            return
        if history.best is None:
            raise no_value(history, study)
        if as_json:
            typer.echo(json_text(history.space.dump(history.best.config)))
            return
        out = console()
        out.print(Text(f"{view.created.metric} {number(history.best.value, 8)}", "bold green"), end="")
        out.print(f" (trial {history.best.number} of {study}, {history.best.state.value})")
        out.print(config_table(history, history.best))


# ---------------------------------------------------------------- the parts of `xstar show`


def _show_front(out: Console, history: History) -> None:
    """The best trade-offs, and the volume they cover."""
    if not history.front:
        return
    volume, reference = covered(history)
    upto = ", ".join(f"{name}={number(value)}" for name, value in reference.items())
    table = Table("trial", *history.goals.metrics, "configuration", title="the front", title_justify="left")
    table.columns[-1].overflow = "fold"
    for trial in history.front:
        values = [number(value, 8) for value in trial.values.values()]
        table.add_row(str(trial.number), *values, short_config(trial.config))
    out.print(table)
    out.print(f"hypervolume {number(volume)} up to {upto}")


def _show_settings(out: Console, view: StudyView, directory: Path | None) -> None:
    created = view.created
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim")
    facts.add_row("study", Text(view.name, "bold"))
    facts.add_row("goal", view.history.goals.goal)
    facts.add_row("method", described(created))
    if created.why:
        facts.add_row("why", created.why)
    if created.best != "last":
        facts.add_row("best by", f"{created.best} report of a trial")
    if view.history.bounds:
        facts.add_row("constraints", ", ".join(map(str, view.history.bounds)))
    facts.add_row("seed", str(created.seed))
    facts.add_row("retries", str(created.retries))
    facts.add_row("created", f"{_date(created.at)} by xstar {created.version}")
    facts.add_row("files", str(view.files(directory).folder))
    for place, (name, parameter) in enumerate(view.history.space.parameters.items()):
        facts.add_row("space" if place == 0 else "", f"{name} = {parameter!r}")
    out.print(facts)


def _trials_table(history: History) -> Table:
    table, trials = Table(title_justify="left"), history.trials[-LAST_TRIALS:]
    hosts = {trial: host_of(history.environments, trial.by) for trial in trials}
    several = len(set(hosts.values()) - {""}) > 1
    for name in ("trial", "state", history.created.metric, "epochs", "time"):
        table.add_column(name, justify="left" if name == "state" else "right", no_wrap=True)
    if several:
        table.add_column("host", overflow="fold")
    table.add_column("configuration", overflow="fold")
    table.add_column("origin", overflow="fold")
    for trial in trials:
        table.add_row(
            str(trial.number),
            Text(trial.state.value, STYLES[trial.state]),
            trial.shown(),
            str(trial.budget),
            seconds(trial.seconds),
            *([hosts[trial]] if several else []),
            short_config(trial.config),
            trial.origin,
        )
    return table


def _show_failures(out: Console, trials: list[Trial]) -> None:
    """Reasons, the most frequent first, each with the trials it ended: a thousand failures often have one cause."""
    reasons: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.state in (State.FAILED, State.INFEASIBLE, State.WAITING):
            reasons.setdefault(last_line(trial.reason or "no reason was given"), []).append(trial)
    if not reasons:
        return
    table = Table("times", "latest", "state", "reason", title="what went wrong", title_justify="left")
    table.columns[3].overflow = "fold"
    for reason, found in sorted(reasons.items(), key=lambda item: (-len(item[1]), item[1][0].number))[:MOST_REASONS]:
        latest = found[-1]
        table.add_row(
            str(len(found)), f"trial {latest.number}", Text(latest.state.value, STYLES[latest.state]), Text(reason)
        )
    out.print(table)
    if len(reasons) > MOST_REASONS:
        out.print(
            f"and {plural(len(reasons) - MOST_REASONS, 'other reason')}; `xstar export --format csv` has all of them"
        )


def _show_trial(out: Console, view: StudyView, trial: Trial, directory: Path | None) -> None:
    out.print(Text(f"trial {trial.number} ", "bold").append(trial.state.value, STYLES[trial.state]), end="")
    found = {view.created.metric: None} if trial.losses is None else trial.values
    told = ", ".join(f"{name} {number(value, 8)}" for name, value in found.items())
    host = host_of(view.history.environments, trial.by)
    ran = f", run on {host}" if host else ""
    out.print(f", {told}, {seconds(trial.seconds)}, asked {_date(trial.asked_at)}{ran}")
    out.print(f"origin: {trial.origin} (after {plural(trial.seen, 'event')})", soft_wrap=True)
    if trial.attempt or trial.crashes or trial.times_lost:
        died = f"its worker died {trial.crashes} times, its program {trial.times_lost} times"
        out.print(f"run {trial.attempt + 1} of this trial; {died}")
    out.print(config_table(view.history, trial))
    if trial.reports:
        names = list(
            dict.fromkeys([*view.history.goals.metrics, *(name for report in trial.reports for name in report.metrics)])
        )
        table = Table("epoch", *names, "after")
        for report in trial.reports:
            values = [number(report.metrics.get(name), 8) for name in names]
            table.add_row(str(report.budget), *values, seconds(report.at - trial.asked_at))
        out.print(table)
    if trial.attrs:
        out.print(attrs_table(trial))
    if trial.reason:
        out.print(Text("reason:", "red"))
        out.print(trial.reason, soft_wrap=True)
    folder = view.files(directory).of(trial)
    files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
    out.print(f"files in {folder}:" if files else f"no files in {folder}", soft_wrap=True)
    for path in files:
        out.print(f"  {path.relative_to(folder)}  {path.stat().st_size:,} bytes", soft_wrap=True)


# ---------------------------------------------------------------- words


def _date(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M:%S")


def cite(study: StudyName, storage: Storage = STORAGE) -> None:
    """Print what to cite for a study, as BibTeX: xstar, the papers of its method, and that of the importances in its report."""
    from xstar.look.papers import bibtex  # at use: searchers

    with look(study, storage) as view:
        typer.echo(bibtex(view.created))
