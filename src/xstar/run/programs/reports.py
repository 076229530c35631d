"""What counts as a report: a line that is a JSON object with numbers; which epoch it is of; and those that came too early.

A pause is a signal, and a quick program has trained on by then: its checkpoint holds epochs that nobody has taken a report of.
Their reports are kept beside the checkpoint (:class:`Ahead`), and are the first ones of the next run. Without them
the program, which goes on behind its checkpoint, would say nothing of these epochs.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from xstar.errors import ProgramFailed

EPOCH = "epoch"
"""The key that says which epoch a report is of; it is no metric."""

INFEASIBLE = "infeasible"
"""The key by which a program says that its configuration cannot be evaluated: ``true``, or the reason."""


@dataclass(frozen=True, slots=True)
class Reported:
    """One report of a program."""

    metrics: Mapping[str, float]
    epoch: float | None = None
    infeasible: str | None = None
    """Why the configuration cannot be evaluated."""


def read_report(line: bytes) -> Reported | None:
    """The report that a line is; ``None``: it is none.

    >>> read_report(b'{"loss": 0.5, "epoch": 2, "note": "warm"}')
    Reported(metrics={'loss': 0.5}, epoch=2.0, infeasible=None)
    """
    text = line.strip()
    if not text.startswith(b"{") or not text.endswith(b"}"):
        return None
    try:
        data = json.loads(text.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    why = data.pop(INFEASIBLE, None)
    if why is True or (isinstance(why, str) and why):
        return Reported({}, infeasible="the program said so" if why is True else why)
    numbers = {name: number for name, value in data.items() if (number := _number(value)) is not None}
    epoch = numbers.pop(EPOCH, None)
    return Reported(numbers, epoch) if numbers else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


class HasStart(Protocol):
    """What is needed of a running trial."""

    start: int
    resumed: bool


class Epochs:
    """Counts the reports of one run; a program that says which epoch it reports is held to it."""

    def __init__(self, trial: HasStart, ahead: int = 0) -> None:
        self._trial = trial
        self._ahead = ahead
        """The last epoch whose report was kept from an earlier run and has been taken in this one; 0: there was none."""
        self._last: int | None = None

    @property
    def last(self) -> int:
        """The last epoch that was reported."""
        return max(self._trial.start, self._ahead) if self._last is None else self._last

    def count(self, epoch: float | None) -> int:
        """For how many epochs a report stands: one; none, if it repeats an earlier one.

        More than one at the start of a resumed run alone: its checkpoint was saved and then the run was killed before it
        reported. What was not reported then takes the metrics of the first report now.
        """
        if epoch is None:
            self._last = self.last + 1
            return 1
        number = self._checked(epoch)
        if self._last is None:
            return self._first(number)
        if number <= self._last:
            return 0
        if number > self._last + 1:
            raise ProgramFailed(
                f"it reported epoch {number} after epoch {self._last}; report every epoch, or leave {EPOCH!r} out and let "
                "max_budget count reports"
            )
        self._last = number
        return 1

    def _first(self, number: int) -> int:
        start = self._trial.start
        if self._ahead > start:
            self._last = max(number, self._ahead)
            return self._last - self._ahead
        self._last = number
        if number <= start + 1:
            self._trial.start = number - 1  # its checkpoint is behind the reports: what it repeats is not counted
            return 1
        if not self._trial.resumed:
            raise ProgramFailed(
                f"its first report is of epoch {number}, but there was no checkpoint to go on from; report every epoch, the "
                f"first one as 1, or leave {EPOCH!r} out and let max_budget count reports"
            )
        return number - start

    def _checked(self, epoch: float) -> int:
        if not epoch.is_integer() or epoch < 1:
            raise ProgramFailed(
                f"it reported {EPOCH} {epoch:g}; epochs are whole numbers and the first one is 1. Use another name for what "
                "is counted otherwise"
            )
        return int(epoch)


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
