"""The thread that keeps leases alive renews while trials run here, and leaves the database alone when none does."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import xstar as xs
from xstar.storage import heartbeat
from xstar.storage.sql import SqlJournal

SPACE = xs.Space(x=xs.Float(0, 1))


def test_leases_are_renewed_only_while_a_trial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    renewed: list[float] = []
    monkeypatch.setattr(heartbeat, "BEATS_PER_LEASE", 6000)  # every hundredth of a second
    monkeypatch.setattr(SqlJournal, "renew", lambda journal, now: renewed.append(now))
    study = xs.Study(SPACE, name="a", storage=tmp_path / "a.db")
    trial = study.ask()
    assert trial is not None
    while len(renewed) < 3:
        time.sleep(0.01)
    study.tell(trial, 1.0)
    time.sleep(0.05)  # a renewal that was under way
    before = len(renewed)
    time.sleep(0.2)
    assert len(renewed) == before
    assert study.ask() is not None
    while len(renewed) < before + 3:
        time.sleep(0.01)
    study.close()
