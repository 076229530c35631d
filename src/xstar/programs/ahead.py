"""Epochs that a program trained and reported before it noticed that it should pause.

A pause is a signal, and a quick program has trained on by then: its checkpoint holds epochs that nobody has taken a report of.
Their reports are kept beside the checkpoint, and are the first ones of the next run. Without them the program, which goes on
behind its checkpoint, would say nothing of these epochs, or nothing at all if the checkpoint is of the last one.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

FILE = ".reports.part"
"""In the folder of the checkpoint, with which it travels. By its end it is no checkpoint itself (``executors/running.py``)."""


class Ahead:
    """The reports of a run that are still to be taken: (epoch, metrics), in order."""

    def __init__(self, checkpoint: Path, start: int, *, resumed: bool) -> None:
        self._path = checkpoint / FILE
        self._reports: deque[tuple[int, Mapping[str, float]]] = deque(_read(self._path, start) if resumed else ())
        self.last = start + len(self._reports)
        """The last epoch that earlier runs reported, taken or not."""

    def add(self, metrics: Mapping[str, float], epochs: Iterable[int]) -> None:
        """A report that stands for these epochs."""
        self._reports.extend((epoch, metrics) for epoch in epochs)

    def take(self) -> Iterator[Mapping[str, float]]:
        """Each of them. One stays until the next is asked for: whoever asks no more may not have wanted it."""
        while self._reports:
            yield self._reports[0][1]
            self._reports.popleft()

    def keep(self) -> None:
        """Write what was not taken for the next run; all of it or nothing."""
        part = self._path.with_name(f"{FILE}.new")
        with contextlib.suppress(FileNotFoundError):  # the trial is over, and its checkpoint was removed
            if self._reports:
                part.write_text("".join(json.dumps(report) + "\n" for report in self._reports), encoding="utf-8")
                os.replace(part, self._path)
            else:
                self._path.unlink()


def _read(path: Path, start: int) -> Iterator[tuple[int, Mapping[str, float]]]:
    """Those of the epochs behind ``start``, without a gap."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        epoch, metrics = json.loads(line)
        if epoch > start + 1:
            return
        if epoch == start + 1:
            start = epoch
            yield epoch, metrics
