"""Folders of a study: what its trials print, and their checkpoints."""

from xstar.files.checkpoints import DEFAULT_CHECKPOINTS as DEFAULT_CHECKPOINTS
from xstar.files.checkpoints import Checkpoints as Checkpoints
from xstar.files.checkpoints import check_kept as check_kept
from xstar.files.folders import DEFAULT_FOLDER as DEFAULT_FOLDER
from xstar.files.folders import Folders as Folders
from xstar.files.folders import check_folder as check_folder
