"""What counts as a report: a line that is a JSON object with numbers; and which epoch it is of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
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
