"""Where people already work: one small file for each library that a training script may be written with.

Nothing here is imported by ``import xstar``. A module imports its library when it is imported itself, and says what to install
if that is missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xstar.errors import InvalidArgument, MissingExtra


def missing(module: str, package: str) -> MissingExtra:
    """What is raised where a library is not installed."""
    return MissingExtra(f"xstar.integrations.{module} needs {package}: pip install {package}")


def epochs_of(trial: Any) -> int:
    """The epochs of a full training, where one epoch is one unit of budget."""
    if trial.max_budget is None:
        raise InvalidArgument("max_budget", "is needed to know how many epochs there are", None, "pass max_budget=…")
    return int(trial.max_budget)


def saved_folder(trial: Any) -> Path | None:
    """The checkpoint that a callback saved in an earlier run; ``None``: there is none."""
    folder = trial.load()
    if folder is None or isinstance(folder, Path):
        return folder
    raise InvalidArgument("trial", "must have a checkpoint that a Report saved", type(folder).__name__)
