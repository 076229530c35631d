"""Where trials keep checkpoints and output: one folder per study, one folder per trial.

    <root>/<study>-<6 letters>/00017/checkpoint/    what the objective saves; survives pauses, crashes and moves
    <root>/<study>-<6 letters>/00017/stdout.txt     what it printed (stderr.txt likewise), all runs appended

``root`` is ``directory=`` if given, else ``<name of the database>-files`` beside a SQLite file, else ``xstar-files`` in the
current folder; a study in memory uses a temporary folder that goes with it. Machines that share a study must see the same
root for a trial to move between them with its checkpoint.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path


class Folders:
    """The folders of one study."""

    def __init__(
        self, study: str, directory: str | os.PathLike[str] | None, database: Path | None, temporary: bool
    ) -> None:
        self._study = study
        self._root: Path | None = None
        self._temporary = temporary and directory is None
        self._finalizer: weakref.finalize[..., Folders] | None = None
        if directory is not None:
            self._root = Path(directory).expanduser().absolute()
        elif database is not None:
            self._root = database.absolute().with_name(f"{database.stem}-files")
        elif not temporary:
            self._root = Path("xstar-files").absolute()

    @property
    def folder(self) -> Path:
        """The study's folder (made when the first trial needs it)."""
        if self._root is None:
            self._root = Path(tempfile.mkdtemp(prefix="xstar-"))
            self._finalizer = weakref.finalize(self, shutil.rmtree, self._root, True)
        return self._root / self._study

    def of(self, trial: int) -> Path:
        """The trial's folder."""
        return self.folder / f"{trial:05d}"

    def checkpoint(self, trial: int) -> Path | None:
        """The folder of the trial's checkpoint, if there is one."""
        folder = self.of(trial) / "checkpoint"
        return folder if folder.is_dir() and any(folder.iterdir()) else None

    def drop_checkpoint(self, trial: int) -> None:
        """Delete the trial's checkpoint; its output stays."""
        shutil.rmtree(self.of(trial) / "checkpoint", ignore_errors=True)

    def remove(self) -> None:
        """Delete all checkpoints and output of the study."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def close(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
            self._root = None
