"""Keeping studies: export, import, backup, rename, delete, widen, narrow, pause, stop, resume; a ``report``; and ``audit``."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from rich.progress import Progress
from rich.text import Text

from xstar.cli.load import DEFAULT_SPACE, load
from xstar.cli.options import STORAGE, AsJson, Directory, File, Storage, StudyName
from xstar.cli.text import console, json_text, pairs
from xstar.cli.work import known_of
from xstar.core.whole_file import whole_file
from xstar.core.words import plural, seconds
from xstar.errors import CorruptJournal, InvalidArgument
from xstar.look.exchange import export_csv, export_events, import_events
from xstar.look.view import existing, look, opened
from xstar.storage import copies
from xstar.storage.address import Address, masked
from xstar.study import Study
from xstar.study.settings import check_name

Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why; it is kept with the event.", show_default=False)]


MOST_FINDINGS = 20
"""Findings of an audit that are printed: another seed makes one of every decision."""
WORTH_SAYING = 1.0
"""Seconds of an audit, from which on it says where they went."""


class Format(StrEnum):
    """What an export may be written as."""

    jsonl = "jsonl"
    csv = "csv"


def export(
    study: StudyName,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="jsonl: every event, can be imported; csv: a row per trial.",
            show_default="by --output, or jsonl",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write here.", show_default="standard output")
    ] = None,
    storage: Storage = STORAGE,
) -> None:
    """Write a study to a file."""
    if form is None:
        form = Format.csv if output is not None and output.suffix == ".csv" else Format.jsonl
    with look(study, storage) as view, _writing(output) as file:
        if form is Format.csv:
            export_csv(view, file)
        else:
            for line in export_events(view):
                file.write(line + "\n")


@contextlib.contextmanager
def _writing(path: Path | None) -> Iterator[TextIO]:
    """Standard output, or a file that appears when it is whole: half an export would look like a study."""
    if path is None:
        yield sys.stdout
        return
    try:
        with whole_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
            yield file
    except OSError as error:
        raise InvalidArgument("--output", f"must be a file that can be written ({error.strerror})", str(path)) from None


def import_(
    study: Annotated[str, typer.Option(metavar="NAME", help="The new study's name.", show_default=False)],
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="What `xstar export` wrote as jsonl; - for standard input. With --optuna, the name of a study there.",
            show_default=False,
        ),
    ] = None,
    optuna: Annotated[
        str | None, typer.Option(metavar="URL", help="A storage of Optuna, as sqlite:///optuna.db.", show_default=False)
    ] = None,
    storage: Storage = STORAGE,
) -> None:
    """Make a study from an exported file, or from a study of Optuna: all of it, or nothing if a part is bad."""
    if optuna is not None:
        from xstar.integrations.optuna_import import import_optuna

        import_optuna(optuna, file, study, storage)
    elif file is None:
        raise InvalidArgument("FILE", "is needed, or --optuna", None, "`xstar import FILE --study NAME`")
    else:
        _import_file(file, study, storage)
    with look(study, storage) as view:
        console().print(f"imported study {study!r}: {plural(len(view.history.trials), 'trial')}", soft_wrap=True)


def _import_file(file: str, study: str, storage: str) -> None:
    try:
        if file == "-":
            import_events(sys.stdin, study, storage)
        else:
            with Path(file).open(encoding="utf-8") as lines:
                import_events(lines, study, storage)
    except UnicodeDecodeError as error:
        raise CorruptJournal(f"{file} is not UTF-8 text ({error}); was it written by `xstar export`?") from None
    except OSError as error:
        raise InvalidArgument("FILE", f"must be a file that can be read ({error.strerror})", file) from None


def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The new file.", show_default=False)],
    storage: Storage = STORAGE,
) -> None:
    """Copy the whole storage, a SQLite file, into a new one, as it is at one moment; searches may go on meanwhile."""
    with existing(storage) as place:
        counts = place.backup(target)
    console().print(f"{storage} is copied to {target}: {_studies(counts)}", soft_wrap=True)
    console().print("checkpoints and output are files: copy their folder as well", soft_wrap=True)


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `xstar backup` wrote.", show_default=False)],
    storage: Storage = STORAGE,
) -> None:
    """Replace a storage, a SQLite file, by a backup. What was there is kept under another name."""
    target = Address.of(storage).path
    if target is None:
        raise InvalidArgument("--storage", "must be a SQLite file", masked(storage), "`xstar import` takes an export")
    if not file.is_file():
        raise InvalidArgument("FILE", "must be a backup that is there", str(file))
    counts, kept = copies.restore(file, target)
    console().print(f"{file} is restored as {target}: {_studies(counts)}", soft_wrap=True)
    if kept is not None:
        console().print(f"what was there is kept as {kept}", soft_wrap=True)


def _studies(counts: Mapping[str, int]) -> str:
    return f"{len(counts)} {'study' if len(counts) == 1 else 'studies'} with {plural(sum(counts.values()), 'event')}"


def rename(
    study: StudyName,
    new: Annotated[str, typer.Argument(metavar="NEW", help="The name it shall have.", show_default=False)],
    storage: Storage = STORAGE,
) -> None:
    """Give a study another name; its files stay where they are."""
    check_name(new)
    with existing(storage) as place:
        place.rename(study, new)
    console().print(f"study {study!r} is now {new!r}", soft_wrap=True)


def pause(study: StudyName, reason: Reason = "", storage: Storage = STORAGE) -> None:
    """Pause a study: no program that works on it starts a trial until `xstar resume`."""
    _hold(study, storage, "pauses", lambda held: held.pause(reason=reason))


def stop(study: StudyName, reason: Reason = "", storage: Storage = STORAGE) -> None:
    """Stop a study: the programs that work on it end once their trials have."""
    _hold(study, storage, "stops", lambda held: held.stop(reason=reason))


def resume(study: StudyName, reason: Reason = "", storage: Storage = STORAGE) -> None:
    """Let a paused or stopped study go on. Programs that have ended are started again with `xstar run` or `xstar work`."""
    _hold(study, storage, "goes on", lambda held: held.resume(reason=reason))


def _hold(study: str, storage: str, words: str, act: Callable[[Study], None]) -> None:
    with opened(study, storage) as held:
        act(held)
        running = len(held.history.running)
    rest = f"; {plural(running, 'trial')} running" if running else ""
    console().print(f"study {study!r} {words}{rest}", soft_wrap=True)


def delete(
    study: StudyName,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    keep_files: Annotated[bool, typer.Option("--keep-files", help="Leave checkpoints and output.")] = False,
    storage: Storage = STORAGE,
    directory: Directory = None,
) -> None:
    """Delete a study with all its events, checkpoints and output. There is no way back."""
    out = console()
    with look(study, storage) as view:
        files = None if keep_files else view.files(directory)
        if files is not None and not files.check().is_dir():
            files = None
        if not yes:
            running = len(view.history.running)
            what = f"{study!r} with {plural(len(view.history.trials), 'trial')}"
            what += f", {running} of them running" if running else ""
            typer.confirm(
                f"Delete study {what}{f' and its files in {files.folder}' if files is not None else ''}?", abort=True
            )
    if files is not None:  # first: nothing but the study says where they are
        files.remove()
        with contextlib.suppress(OSError):
            files.folder.parent.rmdir()  # the last study's files are gone; another's keep it
    with existing(storage) as place:
        place.delete(study)
    out.print(f"study {study!r} is deleted" + (" with its files" if files is not None else ""), soft_wrap=True)


def report(
    study: StudyName,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to.", show_default="STUDY.html")
    ] = None,
    storage: Storage = STORAGE,
) -> None:
    """Write a study as one HTML page: what was found and how sure that is, what mattered, what failed, plots, code to paste."""
    from xstar.look.report import report as make_report  # at use: models and their SciPy

    target = output or Path(f"{study}.html")
    with look(study, storage) as view, _writing(target) as file:
        file.write(make_report(view))
    console().print(f"report in {target}", soft_wrap=True)


def audit(
    study: StudyName,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="How many cores to use.", show_default="all, if there is enough to do"),
    ] = None,
    file: File = None,
    as_json: AsJson = False,
    storage: Storage = STORAGE,
) -> None:
    """Recompute every decision of a study from the events before it, and report those that come out differently."""
    with look(study, storage) as view, Progress(console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("audit")
        known = known_of(view, file)
        result = view.audit(lambda done, total: bar.update(task, completed=done, total=total), jobs, known)
    if as_json:
        typer.echo(json_text(result.to_json()))
        raise typer.Exit(1 if result.findings else 0)
    out = console()
    for finding in result.findings[:MOST_FINDINGS]:
        out.print(Text(finding, "red"), soft_wrap=True)
    if (more := len(result.findings) - MOST_FINDINGS) > 0:
        out.print(f"and {more:,} more; `xstar audit {study} --json` has all of them", soft_wrap=True)
    for each in result.other_environments:
        out.print(str(each), soft_wrap=True)
    spent = sorted(result.spent.items(), key=lambda item: -item[1])
    if sum(result.spent.values()) >= WORTH_SAYING:
        out.print(f"time: {', '.join(f'{what} {seconds(took)}' for what, took in spent if took > 0.1)}", soft_wrap=True)
    decisions = plural(result.decisions, "decision")
    if result.findings:
        out.print(f"{plural(len(result.findings), 'finding')} in {decisions}")
        raise typer.Exit(1)
    alike = "all alike" if not result.other_environments else "no finding"
    out.print(f"{decisions} recomputed from the events before them, {alike}", soft_wrap=True)


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
    reason: Reason = "",
    storage: Storage = STORAGE,
) -> None:
    """Let a study go on in a wider space: larger ranges, more options, new parameters. The trials so far stay."""
    program = load(file, space)
    with opened(study, storage) as wider:
        lines = program.space.difference(wider.space)
        wider.widen(program.space, read_values("--fill", fill or []), reason=reason)
    out = console()
    if not lines:
        out.print(f"study {study!r} has this space already", soft_wrap=True)
        return
    out.print(f"study {study!r} goes on in the space of {file} (here), which was (there):", soft_wrap=True)
    for line in lines:
        out.print(f"  {line}", soft_wrap=True, markup=False)


def narrow(
    study: StudyName,
    changes: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE...",
            help="What is left of a parameter: 'lr=[1e-4,1e-2]' (a range), 'optimizer=[\"adam\",\"sgd\"]', or one value.",
            show_default=False,
        ),
    ],
    reason: Reason = "",
    storage: Storage = STORAGE,
) -> None:
    """Let a study go on in a part of its space: shorter ranges, fewer options, parameters frozen at a value."""
    with opened(study, storage) as found:
        before = found.space
        found.narrow(read_values("NAME=VALUE", changes), reason=reason)
        lines, outside = found.space.difference(before), sum(not trial.inside for trial in found.trials)
    out = console()
    out.print(f"study {study!r} goes on in a narrower space (here) than it had (there):", soft_wrap=True)
    for line in lines or ["which it had already"]:
        out.print(f"  {line}", soft_wrap=True, markup=False)
    out.print(f"outside of it: {plural(outside, 'trial')}, from which nothing is learned any more", soft_wrap=True)


def read_values(argument: str, texts: Sequence[str]) -> dict[str, Any]:
    """``["momentum=0.9"]`` → ``{"momentum": 0.9}``; what is no JSON is a word."""
    found: dict[str, Any] = {}
    for name, text in pairs(argument, texts, "e.g. momentum=0.9").items():
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found
