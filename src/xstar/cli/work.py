"""``xstar work``: join a study from any machine, and leave it at any time; ``xstar slurm``: an array of jobs that do."""

from __future__ import annotations

import math
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from xstar.cli.load import DEFAULT_SPACE, Program, load
from xstar.cli.options import WHERE, StudyName, file_settings, given_options, search_options, with_search_options
from xstar.cli.run import STORAGE_VARIABLE, forget_password, merged, noted_program, search_with
from xstar.cli.text import console
from xstar.core.checks import whole_number
from xstar.core.goals import known_functions
from xstar.errors import InvalidArgument, SubmitError
from xstar.journal.known import KnownObjectives
from xstar.look.view import StudyView, existing
from xstar.storage.address import Address, has_password, masked
from xstar.study import DEFAULT_STORAGE, Study

HOW: tuple[str, ...] = (
    *("trials", "seconds", "target", "patience", "max_failures"),
    *("storage", "directory", "checkpoints", "workers", "cores", "gpus", "timeout", "grace"),
)
"""What each program that joins may choose for itself."""

GRACE = 20.0
"""Seconds: two thirds of what Slurm and Kubernetes leave between SIGTERM and SIGKILL, 30 by default."""


@with_search_options(only=HOW, defaults={"grace": f"{GRACE:g}"})
def work(
    name: StudyName,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE[:OBJECTIVE]]",
            help="The program, if it is elsewhere on this machine than where the study was begun.",
            show_default=False,
        ),
    ] = None,
    **options: Any,
) -> None:
    """Take part in a study that `xstar run` began: run its trials here, too, until it is done.

    Any number of programs on any number of machines may work on one study, over PostgreSQL or a SQLite file on one machine.
    They need the same file at the same path (or name it), and a folder that all of them see for checkpoints (--directory).

    SIGTERM (a job that is preempted) leaves the running trials --grace seconds to report and save once more; then they are
    handed back, and others go on with them.
    """
    given = given_options(options)
    storage = given.setdefault("storage", DEFAULT_STORAGE)
    with existing(storage) as place:
        noted = StudyView.of(name, place.open(name)).created.program or {}
    forget_password()
    program = load(*_target(name, file, noted))
    search_with(program, {"grace": GRACE, **_of_file(program), **noted.get("options", {}), **given, "study": name})


def _target(study: str, file: str | None, noted: Mapping[str, Any]) -> tuple[str, str]:
    """FILE[:OBJECTIVE] and the name of the space: as given here, else as the journal has it."""
    space = noted.get("space", DEFAULT_SPACE)
    if file is not None:
        return file, space
    path = noted.get("file")
    if path is None:
        remedy = f"`xstar work {study} FILE`"
        raise InvalidArgument("FILE", f"is needed: study {study!r} was not begun by `xstar run`", None, remedy)
    if not Path(path).is_file():
        rule = "must be on this machine, too, where the study has it"
        raise InvalidArgument(
            "FILE", rule, f"{path} on {os.uname().nodename}", f"`xstar work {study} FILE` names another"
        )
    return ":".join(part for part in (path, noted.get("objective")) if part), space


def _of_file(program: Program) -> dict[str, Any]:
    """The file's settings that each program may choose for itself, and functions of known objectives; what else the study is
    stands in its journal."""
    settings = file_settings(program.settings, program.path)
    has_functions = known_functions(settings.get("metric"))
    return {name: value for name, value in settings.items() if name in HOW or (name == "metric" and has_functions)}


def known_of(view: StudyView, file: str | None) -> KnownObjectives | None:
    """The known objectives of a study, with their functions as the file of its search has them."""
    metric = {} if file is None else _of_file(load(file, DEFAULT_SPACE))
    return KnownObjectives.of(view.history.goals, known_functions(metric.get("metric")))


JOB = "The job"
SIGNAL_EARLY = 10
"""Seconds between the end of the grace period and the end of the job: for what was handed back to reach the database."""

NONE = {"checkpoints": "all", "max_failures": "none"}
"""How the command line writes ``None``."""

_TIME = re.compile(r"\d+|\d+:\d\d(:\d\d)?|\d+-\d+(:\d\d){0,2}")


@with_search_options(defaults={"grace": f"{GRACE:g}"})
def slurm(
    name: StudyName,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE[:OBJECTIVE]]", help="The program, of a study that is still to be made.", show_default=False
        ),
    ] = None,
    *,
    array: Annotated[
        int, typer.Option(metavar="JOBS", rich_help_panel=JOB, help="How many jobs work on the study.")
    ] = 1,
    time: Annotated[
        str, typer.Option(metavar="[DAYS-]HH:MM:SS", rich_help_panel=JOB, help="How long one job may take.")
    ] = "04:00:00",
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", rich_help_panel=JOB, help="Memory of one job, such as 16G.")
    ] = None,
    sbatch: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OPTION",
            rich_help_panel=JOB,
            help="A further option of sbatch, such as --sbatch=--partition=gpu. May be given several times.",
        ),
    ] = None,
    script: Annotated[
        Path | None,
        typer.Option(metavar="FILE", rich_help_panel=JOB, help="Where to write it.", show_default="xstar-STUDY.sbatch"),
    ] = None,
    submit: Annotated[
        bool, typer.Option("--submit/--no-submit", rich_help_panel=JOB, help="Whether to hand it to sbatch.")
    ] = True,
    space: Annotated[str, typer.Option(rich_help_panel=WHERE, help="The space's name in the file.")] = DEFAULT_SPACE,
    **options: Any,
) -> None:
    """Write a job script for Slurm in which an array of jobs works on a study, and submit it.

    With a FILE the study is made first, as `xstar run` would make it. The jobs call `xstar work`. They need a PostgreSQL
    database: machines cannot share a SQLite file. A password belongs in the environment (`XSTAR_STORAGE`, `PGPASSWORD`) or in
    `~/.pgpass`, never in the script.

    A job that is preempted or reaches its time limit hands its trials back, and others go on with them; a preempted job is
    queued again.
    """
    given = given_options(options)
    _check_job(array, time)
    program = None if file is None else load(file, space)
    options = given if program is None else merged(program, given)
    storage = _check_storage(options.get("storage"))
    if program is not None:
        _make(name, program, options)
    with existing(storage) as place:
        noted = StudyView.of(name, place.open(name)).created.program
    if noted is None:
        raise InvalidArgument("FILE", f"is needed: study {name!r} was not begun by `xstar run`", None, "add it")
    lines = [*_header(name, array, time, memory, options, sbatch or []), "", *_body(name, given, storage)]
    path = script or Path(f"xstar-{name}.sbatch")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    out = console()
    out.print(f"script:       {path}", soft_wrap=True)
    if submit:
        out.print(f"job:          {_submitted(path)}", soft_wrap=True)
    else:
        out.print(f"submit it:    sbatch {shlex.quote(str(path))}", soft_wrap=True)


def _check_job(array: int, time: str) -> None:
    whole_number("--array", array, least=1)
    if not _TIME.fullmatch(time):
        raise InvalidArgument("--time", "must be minutes, HH:MM:SS or DAYS-HH:MM:SS", time, "e.g. --time 12:00:00")


def _check_storage(storage: str | None) -> str:
    """The URL of the database; a password in it comes from the environment, or it would end up in the script."""
    remedy = "e.g. --storage postgresql://me@server/studies, with the password in ~/.pgpass or PGPASSWORD"
    if storage is None or Address.of(storage).kind == "sqlite":
        shown = "no --storage" if storage is None else storage
        raise InvalidArgument(
            "--storage", "must be a PostgreSQL URL: machines cannot share a SQLite file", shown, remedy
        )
    if has_password(storage) and storage != os.environ.get(STORAGE_VARIABLE):
        rule = f"must not have a password on the command line or in the script, where others see it; set {STORAGE_VARIABLE}"
        raise InvalidArgument("--storage", rule, masked(storage), remedy)
    return storage


def _make(name: str, program: Program, options: Mapping[str, Any]) -> None:
    """The study, as ``xstar run`` would make it."""
    settings = search_options(program.objective, program.space, {**options, "study": name})
    Study._of(settings, program=noted_program(program, options)).close()


def _header(
    name: str, array: int, time: str, memory: str | None, options: Mapping[str, Any], further: list[str]
) -> list[str]:
    workers = options.get("workers", 1)
    grace = options.get("grace", GRACE)
    asked = {
        "--job-name": f"xstar-{name}",
        "--array": f"0-{array - 1}",
        "--ntasks": "1",
        "--cpus-per-task": str(workers * (options.get("cores") or 1)),
        "--gpus-per-task": str(math.ceil(workers * options["gpus"])) if options.get("gpus") else None,
        "--mem": memory,
        "--time": time,
        "--signal": f"B:TERM@{math.ceil(grace) + SIGNAL_EARLY}",
        "--open-mode": "append",
        "--output": f"xstar-{name}-%A_%a.log",
    }
    lines = ["#!/bin/bash", "# Jobs that work on one study (`xstar slurm` wrote this). Each may end at any time."]
    lines += [f"#SBATCH {option}={value}" for option, value in asked.items() if value is not None]
    return [*lines, "#SBATCH --requeue", *(f"#SBATCH {option}" for option in further)]


def _body(name: str, given: Mapping[str, Any], storage: str) -> list[str]:
    """The last line becomes ``xstar work`` itself, so that the signal reaches it."""
    words = [str(_own_command()), "work", name]
    words += [
        f"--{option.replace('_', '-')}={given[option] if given[option] is not None else NONE[option]}"
        for option in HOW
        if option in given and option != "storage"
    ]
    needed = []
    if storage == os.environ.get(STORAGE_VARIABLE):
        needed = [f': "${{{STORAGE_VARIABLE}:?is not set: the URL of the database}}"']
    else:
        words.append(f"--storage={storage}")
    return [*needed, f"exec {shlex.join(words)}"]


def _own_command() -> Path | str:
    """This installation's ``xstar``: the environment of a job need not be activated."""
    own = Path(sys.executable).with_name("xstar")
    return own if own.exists() else "xstar"


def _submitted(script: Path) -> str:
    if shutil.which("sbatch") is None:
        raise SubmitError(f"there is no sbatch on this machine; {script} is written: submit it where there is one")
    done = subprocess.run(["sbatch", "--parsable", str(script)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SubmitError(f"sbatch refused {script}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.strip()
