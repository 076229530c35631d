"""A disk that is full, by name: on which machine, and which folder. The exception itself says neither, as a rule."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import tempfile
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT)


def full_disk(error: BaseException, directory: str | None) -> str | None:
    """A sentence, if ``error`` or what led to it is a disk without room; ``directory`` is the trial's own."""
    found = _cause(error)
    if found is None:
        return None
    # An error of `write` knows no name. Then it is the fullest of the places that a trial writes to.
    named = [os.fsdecode(found.filename)] if isinstance(found.filename, str | bytes) else []
    places = named or [each for each in (directory, os.getcwd(), tempfile.gettempdir()) if each is not None]
    free, folder = min((shutil.disk_usage(each).free, str(each)) for each in map(_existing, places))
    limit = "the quota is used up" if found.errno == errno.EDQUOT else "the disk is full"
    return (
        f"{limit} on {platform.node()}: {free / 1e6:,.1f} MB are left in {folder}; make room there, or keep checkpoints on "
        "another disk (directory=…)"
    )


def _cause(error: BaseException | None) -> OSError | None:
    seen = 0
    while error is not None and seen < 100:  # a chain may be a circle
        if isinstance(error, OSError) and error.errno in FULL:
            return error
        error, seen = error.__cause__ or error.__context__, seen + 1
    return None


def _existing(place: str) -> Path:
    """The folder itself, or the nearest one above it that is there."""
    path = Path(place).absolute()
    while not path.is_dir() and path != path.parent:
        path = path.parent
    return path
