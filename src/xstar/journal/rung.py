"""What a history keeps of one budget of a scheduler's ladder."""

from __future__ import annotations

from sortedcontainers import SortedList


class Rung:
    """The records at one budget, kept in order: (loss, trial number), so ties go to the earlier trial."""

    __slots__ = ("closed", "dropped", "paused", "records")

    def __init__(self) -> None:
        self.closed = 0
        """Trials that ended at this very budget, and so cannot go on from it."""
        self.dropped = 0
        """Trials on their way here that ended before: they failed, or their objective had nothing more to train."""
        self.records: SortedList[tuple[float, int]] = SortedList()
        """Every trial that reported at this budget."""
        self.paused: SortedList[tuple[float, int]] = SortedList()
        """Those of them that pause here."""
