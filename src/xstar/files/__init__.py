"""Folders of a study: what its trials print, and their checkpoints."""

from xstar.files.checkpoints import (
    DEFAULT_CHECKPOINTS as DEFAULT_CHECKPOINTS,
    Checkpoints as Checkpoints,
    check_kept as check_kept,
)
from xstar.files.folders import DEFAULT_FOLDER as DEFAULT_FOLDER, Folders as Folders, check_folder as check_folder
