"""Options that several commands share, so that they are named and explained alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from xstar.cli.search_options import FORMS, HELP
from xstar.study import DEFAULT_STORAGE

StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="The study's name.", show_default=False)]

Storage = Annotated[
    str,
    typer.Option(metavar=FORMS["storage"].metavar, envvar=FORMS["storage"].envvar, help=HELP.get("storage", "")),
]

Directory = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Where the trials keep checkpoints and output, if `xstar run` was given one.",
        show_default="beside the storage",
    ),
]

STORAGE = DEFAULT_STORAGE
