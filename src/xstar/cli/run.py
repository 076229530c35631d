"""``xstar run``: a file in, a search with a live table and a closing summary out."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from xstar.api import Search
from xstar.cli.load import DEFAULT_SPACE, Program, load
from xstar.cli.options import FORMS, SEARCH, file_settings, given_options, search_options, with_search_options
from xstar.cli.text import console, print_summary, warn
from xstar.core.words import plural
from xstar.errors import InvalidArgument
from xstar.look.progress.choice import screen
from xstar.look.progress.lines import messages_to
from xstar.look.progress.terminal import make_progress
from xstar.storage.address import has_password
from xstar.study import DEFAULT_STORAGE, Study
from xstar.study.loop import log

STORAGE_VARIABLE = str(FORMS["storage"].envvar)

SHARED = ("trials", "target", "patience", "max_failures", "checkpoints", "timeout", "grace")
"""Options that the journal does not have from elsewhere, but that hold for every program that joins the study."""

EXIT_NO_VALUE = 1
EXIT_INTERRUPTED = 130
INTERRUPTED = "interrupted; the same command goes on with it"


@with_search_options()
def run(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE[:OBJECTIVE]",
            help="A Python file with a space and an objective, or a TOML file with a space and a command.",
        ),
    ],
    *,
    space: Annotated[str, typer.Option(rich_help_panel=SEARCH, help="The space's name in the file.")] = DEFAULT_SPACE,
    maximize: Annotated[
        bool | None,
        typer.Option(
            "--maximize/--minimize", rich_help_panel=SEARCH, help="Which way is better.", show_default="minimize"
        ),
    ] = None,
    **options: Any,
) -> None:
    """Search the space of a Python file or of a TOML file, or resume the search.

    The file defines `space = xs.Space(...)` and a function `objective(trial)` or `train(trial)`. It may define
    `settings = {"trials": 100, "metric": "error", ...}`: defaults for these options. The options given here win.

    A TOML file has sections `[program]` (a command line with placeholders), `[space]` and `[settings]`: any program can be
    searched with it. `xstar init` writes one.

    Ctrl-C ends running trials at their next report, pressed twice at once; the same command goes on with them, from their
    checkpoints.
    """
    forget_password()
    program = load(file, space)
    given = given_options(options)
    if maximize is not None:
        given["direction"] = "maximize" if maximize else "minimize"
    search_with(program, merged(program, given))


def merged(program: Program, given: Mapping[str, Any]) -> dict[str, Any]:
    """The file's settings, overruled by the command line."""
    settings = file_settings(program.settings, program.path)
    if "maximize" in settings:
        settings["direction"] = "maximize" if settings.pop("maximize") else "minimize"
    if "method" in given:  # it names a searcher and a scheduler, so it stands for both
        settings.pop("searcher", None)
        settings.pop("scheduler", None)
    return {**settings, **given}


def noted_program(program: Program, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the journal keeps of a call, for programs that join."""
    return program.note({name: options[name] for name in SHARED if options.get(name) is not None})


def search_with(program: Program, options: Mapping[str, Any]) -> None:
    """Run the search; its end is the end of the command, with the exit code that it deserves."""
    out, storage = console(), options.get("storage") or DEFAULT_STORAGE
    name = options.get("study") or re.sub(r"[^A-Za-z0-9._-]+", "-", program.path.stem).strip("._-") or "study"
    given = {**options, "study": name, "storage": storage}
    # Beside a table messages have to go where it is drawn; otherwise where messages belong.
    messages = out if out.file.isatty() else console(stderr=True)
    with messages_to(warn(messages)):
        search = _prepared(program, given, noted_program(program, options))
        with search.study as study:
            _check_folder(study)
            if study.history.trials:
                so_far = plural(len(study.history.trials), "trial")
                out.print(f"resuming study {name!r}: {so_far} so far", soft_wrap=True)
            progress = make_progress(study, search.options, out, transient=True)
            reason = None
            with contextlib.suppress(KeyboardInterrupt), screen(), progress:
                reason = search.run(progress)
            has_value = print_summary(out, progress.tracker, reason or INTERRUPTED, _public(str(storage), study))
    if reason is None or not has_value:
        raise typer.Exit(EXIT_INTERRUPTED if reason is None else EXIT_NO_VALUE)


def _check_folder(study: Study) -> None:
    """Say so if trials were begun elsewhere, in a folder that this machine does not see."""
    elsewhere = any(trial.reports for trial in (*study.history.waiting.values(), *study.history.paused.values()))
    if elsewhere and not study.files.folder.is_dir():
        log.warning(
            "%s is not there on this machine (%s): trials that were begun elsewhere start over here. Pass --directory with a "
            "folder that all machines see",
            study.files.folder,
            os.uname().nodename,
        )


def _prepared(program: Program, given: Mapping[str, Any], noted: Mapping[str, Any]) -> Search:
    """The search; the error about a setting of the file names its line."""
    try:
        return search_options(program.objective, program.space, given).start(noted)
    except InvalidArgument as error:
        name, line = error.argument, program.lines.get(error.argument)
        if line is None or program.settings.get(name) != given.get(name):
            raise
        where = f"{program.path}, line {line}: settings.{name}"
        raise type(error)(where, error.rule, error.found, error.remedy) from None


def _public(storage: str, study: Study) -> str:
    """The storage as it may be shown and given to the next command: a URL without its password."""
    return study.storage.database.address if "://" in storage and study.storage is not None else storage


def forget_password() -> None:
    """Take the storage out of the environment, if it has a password: what this program starts need not know it."""
    if has_password(os.environ.get(STORAGE_VARIABLE, "")):
        del os.environ[STORAGE_VARIABLE]
