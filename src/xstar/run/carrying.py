"""Checkpoints of workers that do not see the study's folder: brought to them before a run, and kept elsewhere during it.

A worker then trains in a folder of its own machine. Before a report is handed on, and when the run is over, a checkpoint that
has changed is packed and brought to safety: with the messages to the main program (:class:`MessageCarrier`), or to a URL
(:class:`UrlCarrier`). It is done in the worker, between two epochs, where nothing else writes to the folder.
"""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from xstar.errors import MissingExtra
from xstar.journal.trial import Job, folder_name

CHECKPOINT = "checkpoint"
OUTPUT = ("stdout.txt", "stderr.txt")

LONGEST_OUTPUT = 1_000_000
"""Bytes at the end of a run's output that are sent to the main program."""


def own_folder(session: int) -> Path:
    """Where a worker without the study's folder keeps its trials."""
    return Path(tempfile.gettempdir()) / f"xstar-worker-{session}"


def pack(folder: Path, file: IO[bytes]) -> None:
    """Write what is in a folder as one archive."""
    with tarfile.open(fileobj=file, mode="w") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name)


def packed(folder: Path) -> bytes | None:
    """What is in a folder; ``None`` if that is nothing."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return None
    buffer = io.BytesIO()
    pack(folder, buffer)
    return buffer.getvalue()


def unpack(file: IO[bytes], folder: Path) -> None:
    """Put what was packed in the place of a folder: all of it, or the folder stays as it was."""
    new, old = (folder.with_name(f"{folder.name}.{word}") for word in ("new", "old"))
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    new.mkdir(parents=True)
    with tarfile.open(fileobj=file) as archive:
        archive.extractall(new, filter="tar")
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _signature(folder: Path) -> frozenset[tuple[str, int, int, int]]:
    """Differs when a file was added, removed, or written to."""
    found = []
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            status = os.lstat(path)
            found.append((path, status.st_ino, status.st_size, status.st_mtime_ns))
    return frozenset(found)


class Carrier(ABC):
    """Goes to the workers at their start. One trial at a time."""

    def __init__(self) -> None:
        self._seen: frozenset[tuple[str, int, int, int]] = frozenset()

    def bring(self, job: Job, brought: bytes | None) -> Job:
        """Make the trial's folder on this machine; the job with that folder."""
        folder = own_folder(os.getsid(0)) / f"{job.trial:05d}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if job.attempt:
            self._fetch(job, brought, folder / CHECKPOINT)
        self._seen = _signature(folder / CHECKPOINT)
        return replace(job, directory=str(folder))

    def keep(self, job: Job) -> bytes | None:
        """Bring the checkpoint to safety if it has changed; what is returned goes to the main program."""
        assert job.directory is not None
        folder = Path(job.directory) / CHECKPOINT
        seen = _signature(folder)
        if seen == self._seen:
            return None
        data = self._store(job, folder)
        self._seen = seen
        return data

    def output(self, job: Job) -> dict[str, bytes]:
        """What the run printed, at its end; its folder is removed."""
        assert job.directory is not None
        found: dict[str, bytes] = {}
        for name in OUTPUT:
            path = Path(job.directory) / name
            if path.is_file() and path.stat().st_size:
                with path.open("rb") as file:
                    file.seek(max(0, path.stat().st_size - LONGEST_OUTPUT))
                    found[name] = file.read()
        shutil.rmtree(job.directory, ignore_errors=True)
        return found

    @abstractmethod
    def _fetch(self, job: Job, brought: bytes | None, folder: Path) -> None:
        """Put the trial's checkpoint there, if there is one."""

    @abstractmethod
    def _store(self, job: Job, folder: Path) -> bytes | None:
        """Bring what is in the folder to safety, or return it for the main program to do so."""


class MessageCarrier(Carrier):
    """Checkpoints travel with the messages, and are kept in the study's folder by the main program."""

    def _fetch(self, job: Job, brought: bytes | None, folder: Path) -> None:
        if brought is not None:
            unpack(io.BytesIO(brought), folder)

    def _store(self, job: Job, folder: Path) -> bytes | None:
        return packed(folder)


class UrlCarrier(Carrier):
    """Checkpoints are kept at a URL that every worker reaches, each as one object, named as the folder: ``<url>/00017.tar``."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url

    def path(self, trial: int, home: int = 0) -> tuple[Any, str]:
        """The file system of the URL, and the trial's path in it."""
        try:
            import fsspec
        except ImportError:
            raise MissingExtra(
                f"checkpoints at {self.url} need fsspec, which is not installed: pip install '.[ray]' in a checkout of xstar"
            ) from None

        system, root = fsspec.core.url_to_fs(self.url)
        return system, f"{root}/{folder_name(trial, home)}.tar"

    def fetch(self, trial: int, folder: Path, home: int = 0) -> bool:
        """Put the trial's checkpoint there; False if there is none."""
        system, path = self.path(trial, home)
        with tempfile.TemporaryDirectory(prefix="xstar-") as scratch:
            local = Path(scratch) / "checkpoint.tar"
            try:
                system.get_file(path, str(local))
            except FileNotFoundError:
                return False
            with local.open("rb") as file:
                unpack(file, folder)
        return True

    def drop(self, trial: int, home: int = 0) -> None:
        """Delete the trial's checkpoint, if there is one."""
        system, path = self.path(trial, home)
        if system.exists(path):
            system.rm_file(path)

    def _fetch(self, job: Job, brought: bytes | None, folder: Path) -> None:
        for home in reversed(job.homes):
            if self.fetch(job.trial, folder, home):
                return

    def _store(self, job: Job, folder: Path) -> bytes | None:
        system, path = self.path(job.trial, job.homes[-1])
        with tempfile.NamedTemporaryFile(suffix=".tar") as file:
            pack(folder, file)
            file.flush()
            if "file" in system.protocol:  # object stores put whole objects, disks do not
                system.makedirs(os.path.dirname(path), exist_ok=True)
                system.put_file(file.name, f"{path}.new")
                os.replace(f"{path}.new", path)
            else:
                system.put_file(file.name, path)
        return None
