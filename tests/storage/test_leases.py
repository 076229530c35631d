"""The thread that keeps leases alive renews while trials run here, and leaves the database alone when none does."""

from __future__ import annotations

import pytest

from tests.waiting import until
from xstar.executors.clock import wall_clock
from xstar.storage import leases
from xstar.storage.leases import Heartbeat


class Running:
    """How many trials run; it counts how often it was asked, once in each beat."""

    def __init__(self) -> None:
        self.trials = self.asked = 0

    def __len__(self) -> int:
        self.asked += 1
        return self.trials


class Leases:
    lease_seconds = 60.0

    def __init__(self) -> None:
        self.renewed = 0

    def renew(self, now: float) -> None:
        self.renewed += 1


def test_leases_are_renewed_only_while_a_trial_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "BEATS_PER_LEASE", 6000)  # every hundredth of a second
    running, held = Running(), Leases()
    beats = Heartbeat(held, running, wall_clock, wall_clock)  # type: ignore[arg-type]

    def beat(times: int) -> int:
        """How many leases are renewed by then. The last beat asked may not have renewed yet."""
        last = running.asked + times
        until(lambda: running.asked >= last)
        return held.renewed

    beats.start()
    try:
        for trials in (0, 2, 0, 1):
            running.trials = trials
            before = beat(2)  # one that asked before may be renewing
            after = beat(4)
            assert after - before >= 3 if trials else after == before
    finally:
        beats.stop()
