"""What a program prints, however much it is: whole lines to look at, a log with a limit, and the last words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

LONGEST_LINE = 65_536
"""Bytes of a line that can be a report. A longer one goes to the log and is not looked at."""

TAIL = 2_000
"""Bytes of standard error that go into the reason of a failure."""


class Lines:
    """Cuts what arrives into lines, holding no more than one of :data:`LONGEST_LINE` bytes."""

    def __init__(self) -> None:
        self.done = 0
        """Bytes up to the end of the line that was given out last."""
        self._rest = b""
        self._too_long = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that are whole now."""
        *whole, rest = (self._rest + data).split(b"\n")
        self._rest = b""
        for line in whole:
            self.done += len(line) + 1
            if not self._too_long and len(line) <= LONGEST_LINE:
                yield line
            self._too_long = False
        if len(rest) > LONGEST_LINE:
            self.done += len(rest)
            self._too_long, rest = True, b""
        self._rest = rest

    def rest(self) -> Iterator[bytes]:
        """The last line, if no newline ended it."""
        rest, self._rest = self._rest, b""
        self.done += len(rest)
        if rest and not self._too_long:
            yield rest


class Log:
    """A file that a run appends to, up to a limit, and the last bytes of what it was given."""

    def __init__(self, path: Path, limit: int) -> None:
        self._path = path
        self._left = limit
        self._limit = limit
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._tail = b""

    def write(self, data: bytes) -> None:
        self._tail = (self._tail + data)[-TAIL:]
        if self._left <= 0:
            return
        kept = data[: self._left]
        self._left -= len(kept)
        _write_all(self._file, kept)
        if self._left <= 0:
            self.note(f"this run wrote {self._limit:,} bytes here, the limit; the rest is not kept (log_limit)")

    def note(self, text: str) -> None:
        """A line of our own, whatever the limit."""
        _write_all(self._file, f"\n[xstar] {text}\n".encode(errors="replace"))

    def last_words(self) -> str:
        """The end of what was written, readable whatever its bytes are."""
        return self._tail.decode(errors="replace").strip()

    def close(self) -> None:
        os.close(self._file)


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
