"""``xstar work``: join a study from any machine, and leave it at any time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from xstar.cli.load import DEFAULT_SPACE, Program, load
from xstar.cli.options import StudyName
from xstar.cli.run import forget_password, search_with
from xstar.cli.search_options import file_settings, given_options, with_search_options
from xstar.errors import InvalidArgument
from xstar.inspect.look import View, existing
from xstar.study import DEFAULT_STORAGE

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
        noted = View(place.open(name)).created.program or {}
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
    """The file's settings that each program may choose for itself; what the study is stands in its journal."""
    settings = file_settings(program.settings, program.path)
    return {name: value for name, value in settings.items() if name in HOW}
