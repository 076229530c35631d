"""``xstar run``: a Python file in, a search with a live table and a closing summary out."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from xstar import loop
from xstar.api import make_executor
from xstar.cli.load import Program, load
from xstar.cli.manage import write_report
from xstar.cli.progress import make_progress, messages_to
from xstar.cli.summary import print_summary
from xstar.cli.text import console, plural
from xstar.errors import InvalidArgument
from xstar.study import DEFAULT_STORAGE, Limits, Study
from xstar.study.methods import DEFAULT_METHOD, METHODS, check_end, resolve

OF_THE_LIMITS = ("trials", "seconds", "target", "patience")
OF_THE_STUDY = ("method", "searcher", "scheduler", "max_budget", "metric", "direction", "seed", "retries", "directory")
SETTINGS = ("study", "storage", "workers", "timeout", *OF_THE_LIMITS, *OF_THE_STUDY, "maximize")
"""What a file's ``settings`` may say: the options of the command line, and what cannot be written on one."""

THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)

EXIT_NO_VALUE = 1
EXIT_INTERRUPTED = 130

STOP, SEARCH, WHERE = "When to stop", "How to search", "Where to run and keep it"


def run(
    file: Annotated[
        str, typer.Argument(metavar="FILE[:OBJECTIVE]", help="A Python file with a space and an objective.")
    ],
    trials: Annotated[
        int | None, typer.Option(rich_help_panel=STOP, help="Total trials, earlier runs included.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(rich_help_panel=STOP, help="Wall-clock time of this run.")] = None,
    target: Annotated[float | None, typer.Option(rich_help_panel=STOP, help="Stop when a trial is this good.")] = None,
    patience: Annotated[
        int | None, typer.Option(rich_help_panel=STOP, help="Stop after this many trials in a row without a new best.")
    ] = None,
    space: Annotated[str, typer.Option(rich_help_panel=SEARCH, help="The space's name in the file.")] = "space",
    metric: Annotated[
        str | None, typer.Option(rich_help_panel=SEARCH, help="Which metric counts, if the objective gives several.")
    ] = None,
    maximize: Annotated[
        bool | None,
        typer.Option(
            "--maximize/--minimize", rich_help_panel=SEARCH, help="Which way is better.", show_default="minimize"
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(rich_help_panel=SEARCH, help=f"One of {', '.join(METHODS)}.", show_default=DEFAULT_METHOD),
    ] = None,
    max_budget: Annotated[
        int | None,
        typer.Option(rich_help_panel=SEARCH, help="Epochs of a full training: what trial.epochs() counts to."),
    ] = None,
    seed: Annotated[int | None, typer.Option(rich_help_panel=SEARCH, help="Makes the search repeatable.")] = None,
    study: Annotated[
        str | None, typer.Option(rich_help_panel=WHERE, help="The study's name.", show_default="the file's name")
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(
            metavar="PATH|URL",
            envvar="XSTAR_STORAGE",
            rich_help_panel=WHERE,
            help="Where studies are kept: a SQLite file, or a PostgreSQL URL.",
            show_default=DEFAULT_STORAGE,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", rich_help_panel=WHERE, help="Write an HTML report there at the end."),
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            rich_help_panel=WHERE,
            help="Where trials keep checkpoints and output.",
            show_default="beside the storage",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(rich_help_panel=WHERE, help="Trials at a time.", show_default="1")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(rich_help_panel=WHERE, help="Seconds that one run of a trial may take.")
    ] = None,
    retries: Annotated[
        int | None,
        typer.Option(rich_help_panel=WHERE, help="How often a trial whose worker died is run again.", show_default="1"),
    ] = None,
) -> None:
    """Search the space of a Python file, or resume the search.

    The file defines `space = xs.Space(...)` and a function `objective(trial)` or `train(trial)`. It may define
    `settings = {"trials": 100, "metric": "error", ...}`: defaults for these options. The options given here win.

    Ctrl-C lets the running trials finish; pressed twice, it ends them at once, and they are run again when the study is
    resumed.
    """
    program = load(file, space)
    direction = None if maximize is None else "maximize" if maximize else "minimize"
    given = {
        "study": study, "storage": storage, "trials": trials, "seconds": seconds, "target": target, "patience": patience,
        "workers": workers, "timeout": timeout, "metric": metric, "direction": direction, "method": method,
        "max_budget": max_budget, "seed": seed, "retries": retries, "directory": directory,
    }  # fmt: skip
    code = _search(program, _merged(program, {key: value for key, value in given.items() if value is not None}), report)
    if code:
        raise typer.Exit(code)


def _merged(program: Program, given: Mapping[str, Any]) -> dict[str, Any]:
    """The file's settings, overruled by the command line."""
    settings = {key: value for key, value in program.settings.items() if value is not None}
    if unknown := sorted(set(settings) - set(SETTINGS)):
        raise InvalidArgument(f"settings in {program.path}", f"may have {', '.join(SETTINGS)}", unknown)
    if "maximize" in settings:
        settings.setdefault("direction", "maximize" if settings.pop("maximize") else "minimize")
    if "method" in given:  # it names a searcher and a scheduler, so it stands for both
        settings.pop("searcher", None)
        settings.pop("scheduler", None)
    return {**settings, **given}


def _search(program: Program, options: Mapping[str, Any], report: Path | None) -> int:
    """Run the search; returns the exit code."""
    limits = Limits(*(options.get(name) for name in OF_THE_LIMITS))
    chosen = (options.get(name) for name in ("method", "searcher", "scheduler", "max_budget"))
    check_end(limits, program.space, resolve(*chosen)[0])  # before the study is made
    out, storage, workers = console(), str(options.get("storage") or DEFAULT_STORAGE), options.get("workers", 1)
    name = options.get("study") or re.sub(r"[^A-Za-z0-9._-]+", "-", program.path.stem).strip("._-") or "study"
    of_the_study: dict[str, Any] = {key: options.get(key) for key in OF_THE_STUDY}
    # Beside a table messages have to go where it is drawn; otherwise where messages belong.
    messages = out if out.file.isatty() else console(stderr=True)
    with messages_to(messages), Study(program.space, name=name, storage=storage, **of_the_study) as study:
        if study.history.trials:
            out.print(f"resuming study {name!r}: {plural(len(study.history.trials), 'trial')} so far", soft_wrap=True)
        _limit_threads(workers)
        executor = make_executor(program.objective, study.metric, workers, options.get("timeout"))
        progress = make_progress(study, limits, out)
        code = 0
        try:
            with progress:
                ending = loop.run(study, executor, limits, progress)
        except KeyboardInterrupt:
            ending = loop.Ending(
                loop.End.INTERRUPTED,
                "interrupted; the trials that were running will be run again when the study is resumed",
            )
        finally:
            executor.close()
        if ending.end is loop.End.INTERRUPTED:
            code = EXIT_INTERRUPTED
        has_value = print_summary(out, progress.tracker, ending.reason, _public(storage, study))
        if report is not None:
            write_report(report, name, study.history)
            out.print(f"report:       {report}", soft_wrap=True)
        return code if has_value else code or EXIT_NO_VALUE


def _limit_threads(workers: int) -> None:
    """Let the workers share the cores: each one's BLAS would otherwise start a thread per core, and all would be slower.

    Only what the user left open is set, and only worker processes are affected: this one has loaded its BLAS already.
    """
    if isinstance(workers, int) and workers > 1:  # what is not will be refused by the executor, which says it better
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        for variable in THREADS:
            os.environ.setdefault(variable, str(max(1, cores // workers)))


def _public(storage: str, study: Study) -> str:
    """The storage as it may be shown: a URL without its password."""
    return study.storage.url if "://" in storage and study.storage is not None else storage
