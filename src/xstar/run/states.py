"""What ``trial.save`` keeps and ``trial.load`` finds: the last two states of a trial, each whole or absent.

    state-000007-000009.pt      after 7 epochs, the ninth that was saved; written by ``torch.save``
    state-000007-000009.pkl     pickled
    state-000007-000009         a copy of a folder

A state is written under a name that ends in ``.new``, brought to the disk, and renamed. The epoch stands in the name, so that
the two cannot disagree.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import sys
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xstar.core.checks import whole_number
from xstar.errors import InvalidArgument, MissingExtra

_NAME = re.compile(r"state-(\d+)-(\d+)(\.pt|\.pkl|)")
_NEW = ".new"

PLAIN = (type(None), bool, int, float, complex, str, bytes)
"""Beside tensors and containers, what ``torch.load`` reads without running anybody's code."""


@dataclass(frozen=True, slots=True)
class SavedState:
    """A state on the disk."""

    epoch: int
    serial: int
    path: Path

    def load(self) -> Any:
        """The state itself; of a folder its path."""
        if self.path.suffix == ".pt":
            try:
                import torch
            except ImportError:
                raise MissingExtra(
                    f"{self.path} holds torch tensors; torch is missing: pip install '.[torch]' in a checkout of xstar"
                ) from None

            # To the CPU: the GPU it was saved from may be another worker's now, and load_state_dict() copies anyway.
            return torch.load(self.path, map_location="cpu", weights_only=True)
        if self.path.suffix == ".pkl":
            with self.path.open("rb") as file:
                return pickle.load(file)
        return self.path


class States:
    """The states in a trial's checkpoint folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> list[SavedState]:
        """Those that are whole, by epoch; of one epoch, in the order in which they were saved."""
        found = [
            SavedState(int(parts[1]), int(parts[2]), path)
            for path in self._folder.iterdir()
            if (parts := _NAME.fullmatch(path.name))
        ]
        return sorted(found, key=lambda state: (state.epoch, state.serial))

    def find(self, recorded: int, stop: int | None) -> SavedState | None:
        """The state to go on from when ``recorded`` epochs are on record and the run trains to ``stop``.

        The last one that is not ahead of the record. If all are ahead, several reports were lost with the program; then it is
        the earliest, and the reports stay lost, unless nothing would be left to train and hence to report.
        """
        states = self.all()
        known = [state for state in states if state.epoch <= recorded]
        if known:
            return known[-1]
        return states[0] if states and (stop is None or states[0].epoch < stop) else None

    def save(self, state: Any, epoch: int) -> None:
        """Add a state; only the last one of an earlier epoch stays beside it."""
        epoch = whole_number("epoch", epoch, least=0)
        if state is None:
            raise InvalidArgument(
                "state", "must be something, as trial.load() gives None where nothing was saved", None
            )
        old = self.all()
        serial = max((each.serial for each in old), default=0) + 1
        suffix = "" if isinstance(state, os.PathLike) else ".pt" if _of_torch(state) else ".pkl"
        path = self._folder / f"state-{epoch:06d}-{serial:06d}{suffix}"
        new = path.with_name(path.name + _NEW)
        try:
            _write(state, new, suffix)
            new.rename(path)
        except BaseException:
            _remove(new)
            raise
        _sync(self._folder)
        kept = [each for each in old if each.epoch < epoch][-1:]
        for each in old:
            if each not in kept:
                _remove(each.path)
        for left in self._folder.glob(f"state-*{_NEW}"):  # of a run that was killed
            _remove(left)


def _write(state: Any, path: Path, suffix: str) -> None:
    if isinstance(state, os.PathLike):
        source = Path(state)
        if not source.is_dir():
            remedy = "read a single file and save what it holds"
            raise InvalidArgument("state", "must be a folder if it is a path", source, remedy)
        shutil.copytree(source, path, symlinks=True)
        for folder, _, names in os.walk(path):
            for name in names:
                _sync(Path(folder, name))
            _sync(Path(folder))
        return
    with path.open("wb") as file:
        if suffix == ".pt":
            import torch

            torch.save(state, file)
        else:
            pickle.dump(state, file, protocol=pickle.HIGHEST_PROTOCOL)
        file.flush()
        os.fsync(file.fileno())


def _of_torch(state: Any) -> bool:
    """Whether it has tensors, and beside them only what ``torch.load`` reads without running anybody's code."""
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    tensors = False
    rest, seen = [state], set()
    while rest:
        part = rest.pop()
        if id(part) in seen:  # a list may hold itself
            continue
        seen.add(id(part))
        if type(part) in (torch.Tensor, torch.nn.Parameter):
            tensors = True
        elif type(part) in (dict, OrderedDict):
            rest += [*part.keys(), *part.values()]
        elif type(part) in (list, tuple):
            rest += part
        elif type(part) not in PLAIN:
            return False
    return tensors


def _sync(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk."""
    if path.is_symlink():
        return
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
