"""What a trial prints, in its own files: of however much it is, the beginning and the end stay."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from xstar.run.objective import Streams

NAMES = ("stdout.txt", "stderr.txt")

LIMIT = 10_000_000
"""Bytes of one file: a day's worth of progress lines. A thousand trials that print without end would fill the disk."""

LOOK_SECONDS = 1.0
"""Between two looks at the files while a trial runs."""


@contextlib.contextmanager
def output_to(directory: str | None) -> Iterator[None]:
    """Send file descriptors 1 and 2 (so C code and child processes too) to the trial's own files."""
    if directory is None:
        yield
        return
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    files = [Bounded(folder / name) for name in NAMES]
    kept = [(number, os.dup(number)) for number in (1, 2)]
    for number, file in zip((1, 2), files, strict=True):
        opened = os.open(file.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(opened, number)
        os.close(opened)
    streams, over = Streams(), threading.Event()
    looks = threading.Thread(target=_look, args=(files, over), daemon=True)
    looks.start()
    try:
        yield
    finally:
        streams.put_back()
        for number, old in kept:
            os.dup2(old, number)
            os.close(old)
        over.set()
        looks.join()
        for file in files:
            file.cut()


def _look(files: list[Bounded], over: threading.Event) -> None:
    while not over.wait(LOOK_SECONDS):
        for file in files:
            file.cut()


class Bounded:
    """A file that others append to."""

    def __init__(self, path: Path, limit: int = LIMIT) -> None:
        self.path = path
        self._limit = limit
        self._left_out = 0

    def cut(self) -> None:
        """If it has grown beyond the limit, leave out its middle and say so there."""
        head, tail = self._limit // 2, self._limit // 4
        with contextlib.suppress(OSError), self.path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            if size <= self._limit:
                return
            file.seek(-tail, os.SEEK_END)
            end = file.read(tail)
            file.truncate(head)
            self._left_out += size - head - tail
            said = f"\n[xstar] some {self._left_out:,} bytes are left out here; the first {head:,} and the last stay\n"
            with self.path.open("ab") as added:  # behind what was written meanwhile
                added.write(said.encode() + end)
