"""What a trial left in its folder: names and sizes of files, and what it printed.

An objective owns its folder and may put anything there: a link to a password file, a device, a pipe. So a log is opened without
following links, has to be a regular file, and its folder has to lie where the study's files belong.
"""

from __future__ import annotations

import os
import stat
from typing import Any

from xstar.errors import InvalidArgument, StorageError
from xstar.journal.trial import Trial
from xstar.storage.files import Folders

MOST_FILES = 200


def listed(folders: Folders, trial: Trial) -> list[dict[str, Any]]:
    """Names and sizes of what the trial left in its folder; links are not followed."""
    folder = folders.of(trial)
    found: list[dict[str, Any]] = []
    if folder.is_dir():
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                found.append({"name": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size})
            if len(found) == MOST_FILES:
                break
    return found


STREAMS = {"stdout": "stdout.txt", "stderr": "stderr.txt"}
MOST_BYTES = 65_536
"""Of the end of a log."""


def printed(folders: Folders, trial: Trial, stream: str) -> dict[str, Any]:
    """The end of a log, from its byte ``offset`` on."""
    if stream not in STREAMS:
        raise InvalidArgument("stream", f"must be one of {', '.join(STREAMS)}", stream)
    folder = folders.of(trial)
    root = os.path.realpath(folders.folder.parent)
    if not os.path.realpath(folder).startswith(os.path.join(root, "")):
        raise StorageError(f"the folder of trial {trial.number} leads out of the study's files by a link")
    try:
        file = os.open(folder / STREAMS[stream], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return {"text": "", "offset": 0, "size": 0, "missing": True}
    except OSError as error:
        raise StorageError(f"the {stream} of trial {trial.number} cannot be read: {error.strerror}") from None
    with os.fdopen(file, "rb") as log:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode):
            raise StorageError(f"the {stream} of trial {trial.number} is not a regular file")
        start = max(0, about.st_size - MOST_BYTES)
        log.seek(start)
        text = log.read(MOST_BYTES).decode("utf-8", errors="replace")
    return {"text": text, "offset": start, "size": about.st_size, "missing": False}
