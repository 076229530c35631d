"""A directory of its own for an attempt that takes a trial over from a holder who may still live.

A program that was stopped, or cut off from the database, loses its trials after the lease; when it goes on it writes to its
directory as if nothing had happened. So the next attempt trains in another one. That begins with a copy of what was saved so
far: a link would show what is written to the old file later. Which directories a trial has had, and which one counts, follows
from the journal (``Trial.homes``); the others are never read again.
"""

from __future__ import annotations

import os
import platform
import shutil
import uuid
from contextlib import suppress
from pathlib import Path

from xstar.executors.orphans import RECORDS, end_orphan
from xstar.trial import Job, folder_name

NOTE = "taken-over.txt"
TRIES = 10
"""Files may come and go while they are copied, if the other one is at it; not ten times in a row."""


def take_over(job: Job) -> None:
    """End what still runs the trial on this machine, and make the directory of this attempt, unless an earlier one has."""
    if job.directory is None or len(job.homes) == 1:
        return
    own = Path(job.directory)
    earlier = [own.with_name(folder_name(job.trial, home)) for home in reversed(job.homes[:-1])]
    for folder in earlier:
        for record in RECORDS:
            if (folder / record).exists():
                (folder / NOTE).write_text(f"process {os.getpid()} on {platform.node()}")
            end_orphan(str(folder), record)
    source = next((folder for folder in earlier if folder.is_dir()), None)
    if own.is_dir() or source is None:
        return
    part = own.with_name(f".{own.name}-{uuid.uuid4().hex[:12]}")
    try:
        for left in range(TRIES, 0, -1):
            try:
                _copy(source, part)
                break
            except FileNotFoundError:
                shutil.rmtree(part)
                if left == 1:
                    raise
        with suppress(OSError):  # someone else was first: then it is as good as ours
            part.rename(own)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def taken_over(directory: str | None) -> str | None:
    """Who has ended the run in this directory, to take its trial over."""
    try:
        by = None if directory is None else (Path(directory) / NOTE).read_text()
    except OSError:
        return None
    return by and f"the worker was ended by {by}, which took the trial over: its program had been silent for too long"


def _copy(source: Path, target: Path) -> None:
    """Links as links, and nothing that is neither file nor folder."""
    target.mkdir()
    with os.scandir(source) as entries:
        for entry in entries:
            to = target / entry.name
            if entry.is_symlink():
                to.symlink_to(os.readlink(entry.path))
            elif entry.is_dir():
                _copy(Path(entry.path), to)
            elif entry.is_file() and entry.name not in (*RECORDS, NOTE):
                shutil.copy2(entry.path, to)
                with to.open("rb") as file:
                    os.fsync(file.fileno())
