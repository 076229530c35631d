"""Where trials keep checkpoints and output, one folder per study and one per trial, and which checkpoints stay.

    <root>/<study>-<6 letters>/00017/checkpoint/    what the objective saves; survives pauses, crashes and moves
    <root>/<study>-<6 letters>/00017/stdout.txt     what it printed (stderr.txt likewise), all runs appended
    <root>/<study>-<6 letters>/00017-2/             the same from attempt 2 on, which took the trial over from a holder who may
                                                    still live (``executors/orphans.py``): what is in the other counts no more

``root`` is ``directory=`` if given, else the one that the study was created with. That is, where none was given,
``<name of the database>-files`` beside a SQLite file, else ``xstar-files`` in the then current folder; a study in memory uses a
temporary folder that goes with it. Machines that share a study must see the same root for a trial to move between them with
its checkpoint.

The study's folder is named in its first event, and a database may come from anywhere: whatever is written or deleted here
lies under the root. A name that is a path, or a link that leads out of the root, is refused; and where the database names the
root, too, so is a name that does not end as those that are made here.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from xstar.core.checks import whole_number
from xstar.core.hints import warn_once
from xstar.errors import CorruptJournal, StorageError
from xstar.journal import History
from xstar.journal.events import Created
from xstar.journal.trial import State, Trial, folder_name

CHECKPOINT = "checkpoint"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_OWN = re.compile(r".+-[0-9a-f]{6}")


DEFAULT_FOLDER = "xstar-files"
"""In the current folder: where the files of studies are whose database is no file."""


class CheckpointStore(Protocol):
    """Where else checkpoints are kept: on a cluster whose nodes do not see the study's folder."""

    def fetch(self, trial: int, folder: Path, home: int = 0) -> bool:
        """Put the trial's checkpoint there; False if there is none."""

    def drop(self, trial: int, home: int = 0) -> None:
        """Delete the trial's checkpoint, if there is one."""


class Folders:
    """The folders of one study."""

    def __init__(
        self, study: str, directory: str | os.PathLike[str] | None, database: Path | None, temporary: bool
    ) -> None:
        self._study = check_folder(study)
        self.store: CheckpointStore | None = None
        self._root: Path | None = None
        self._finalizer: weakref.finalize[..., Folders] | None = None
        if directory is not None:
            self._root = Path(directory).expanduser().absolute()
        elif database is not None:
            self._root = database.absolute().with_name(f"{database.stem}-files")
        elif not temporary:
            self._root = Path(DEFAULT_FOLDER).absolute()

    @classmethod
    def of_study(
        cls, created: Created, directory: str | os.PathLike[str] | None, database: Path | None, temporary: bool = False
    ) -> Folders:
        """Those of a stored study: where ``directory`` says, else where the study says."""
        if directory is None and created.directory is not None:
            if not _OWN.fullmatch(created.files):  # whoever wrote the journal has named the whole path
                raise CorruptJournal(
                    f"the study keeps its files in {created.directory[:200]!r}, in a folder called {created.files[:200]!r}, "
                    "which xstar would not have made: its names end in six random characters. Pass directory=… (--directory) "
                    "if it is yours; `xstar delete --keep-files` removes the study from the storage"
                )
            directory = created.directory
        folders = cls(created.files, directory, database, temporary)
        if directory != created.directory and _OWN.fullmatch(created.files):  # of a folder of others nothing is advised
            folders._warn_of_others(cls(created.files, created.directory, database, temporary)._root)
        return folders

    def _warn_of_others(self, stored: Path | None) -> None:
        """Where files of the study lie in the stored folder, too: nothing here looks for them there."""
        if stored is None or not os.path.isdir(old := stored / self._study):
            return
        new = self.folder
        if not (new.is_dir() and new.samefile(old)):
            text = (
                f"the study has files in {str(old)!r}, but directory= says {str(new.parent)!r}: checkpoints are looked for "
                f"only there, so paused trials are trained again. Move {str(old)!r} there first, and pass directory= in every "
                "later call"
            )
            warn_once(f"{old} {new}", text)

    @property
    def folder(self) -> Path:
        """The study's folder (made when the first trial needs it)."""
        if self._root is None:
            self._root = Path(tempfile.mkdtemp(prefix="xstar-"))
            self._finalizer = weakref.finalize(self, shutil.rmtree, self._root, True)
        return self._root / self._study

    def of(self, trial: Trial | int) -> Path:
        """The trial's folder; of a number, the one that its first attempt had."""
        return self._of(trial, 0) if isinstance(trial, int) else self._of(trial.number, trial.runs.homes[-1])

    def _of(self, number: int, home: int) -> Path:
        return self._inside(self.folder / folder_name(number, home))

    def checkpoint(self, trial: Trial) -> Path | None:
        """The folder of the trial's checkpoint, if there is one."""
        folder = self.of(trial) / CHECKPOINT
        if self.store is not None:
            self.store.fetch(trial.number, folder, trial.runs.homes[-1])
        return folder if folder.is_dir() and any(folder.iterdir()) else None

    def drop_checkpoint(self, trial: Trial) -> None:
        """Delete the trial's checkpoint, and those that count no more; its output stays."""
        for home in trial.runs.homes:
            if self.store is not None:
                self.store.drop(trial.number, home)
            shutil.rmtree(self._of(trial.number, home) / CHECKPOINT, ignore_errors=True)  # of a link it removes nothing

    def remove(self) -> None:
        """Delete all checkpoints and output of the study. Links are removed, what they point to stays."""
        folder = self.check()
        if folder.is_symlink():
            folder.unlink()
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            raise StorageError(f"{folder} cannot be removed; check the permissions of what is in it, then try again")

    def check(self) -> Path:
        """The study's folder; refused if it is a link that leads out of the root."""
        return self._inside(self.folder)

    def _inside(self, path: Path) -> Path:
        folder = self.folder
        if not os.path.islink(folder) and not os.path.islink(path):
            return path
        root = os.path.realpath(folder.parent)  # the root itself may be a link: to a larger disk, say
        real = os.path.realpath(path)
        if not real.startswith(os.path.join(root, "")):
            raise StorageError(
                f"{path} leads to {real} by a link; that is outside of {root}, where the files of this study belong. "
                "Remove the link, or pass directory=… to keep the files elsewhere"
            )
        return path

    def close(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
            self._root = None


def check_folder(name: str) -> str:
    """The name of a study's folder, as its journal says; one that could lead elsewhere is refused."""
    if not _NAME.fullmatch(name):
        raise CorruptJournal(
            f"the study's folder is called {name[:200]!r} in its first event, but such a name has letters, digits, '.', '_' "
            "and '-' only, and begins with a letter or digit; nothing is read, written or deleted there. Who wrote this study? "
            "`xstar delete --keep-files` removes it from the storage"
        )
    return name


# ---------------------------------------------------------------- which checkpoints stay


DEFAULT_CHECKPOINTS = 5
"""The best model is usually wanted, a few runners-up for an ensemble; a thousand others would fill the disk."""

Retired = Callable[[History, Trial], Iterable[int]]
"""A scheduler's ``retired``: the paused trials that can no longer be promoted since a trial reported."""


def check_kept(checkpoints: int) -> int:
    """How many of the best trials keep their checkpoint, as a whole number."""
    return whole_number("checkpoints", checkpoints, least=0, remedy="None keeps all of them")


class Checkpoints:
    """Removes checkpoints as soon as nothing can need them any more; the best few keep theirs, and paused, waiting and running
    trials."""

    def __init__(self, folders: Folders, history: History, retired: Retired, best: int) -> None:
        self._folders = folders
        self._history = history
        self._retired = retired
        self._best = check_kept(best)
        self._kept = [trial.number for trial in history.trials if trial.state is State.COMPLETE]
        self._beyond()

    def clean_up(self, number: int) -> None:
        """Look at a trial whose run on this machine has just ended."""
        trial = self._history.trials[number]
        if trial.state is State.PAUSED:
            for retired in self._retired(self._history, trial):
                self._folders.drop_checkpoint(self._history.trials[retired])
        elif trial.state is State.COMPLETE:
            if number not in self._kept:
                self._kept.append(number)
            for dropped in self._beyond():
                self._folders.drop_checkpoint(self._history.trials[dropped])
        elif trial.state.over:
            self._folders.drop_checkpoint(trial)

    def _beyond(self) -> list[int]:
        """The trials that are not among the best any more. All of a front stay: who leaves it has left it
        for good."""
        history, most = self._history, self._best
        kept = sorted(self._kept)
        if len(kept) <= most:
            return []
        if most and len(history.fronts) >= most:
            front = set(history.fronts.in_order)
            self._kept = [number for number in kept if number in front]
            return [number for number in kept if number not in front]
        order = history.goals.ordered([history.trials[number].scores for number in kept]).tolist()
        self._kept = [kept[index] for index in order[:most]]
        return [kept[index] for index in order[most:]]
