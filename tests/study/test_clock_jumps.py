"""A wall clock that is set back or forward while a search runs: no search ends early, no living program is given up."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.executors import clock

SPACE = xs.Space(x=xs.Float(0, 1))


@dataclass
class Time:
    """What ``xstar.executors.clock`` takes for the module ``time``."""

    wall: float = 1000.0
    passed: Callable[[], float] = time.monotonic

    def time(self) -> float:
        return self.wall

    def monotonic(self) -> float:
        return self.passed()

    def process_time(self) -> float:
        return time.process_time()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Time:
    fake = Time()
    monkeypatch.setattr(clock, "time", fake)
    return fake


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_a_jump_does_not_end_a_search(fake: Time, jump: float) -> None:
    def objective(trial: Any) -> float:
        fake.wall += jump
        return float(trial["x"])

    result = xs.minimize(objective, SPACE, trials=6, seconds=3000, seed=1)
    assert result.reason == "all 6 trials are done"


def test_a_clock_that_stands_still_does_not_keep_a_search_alive(fake: Time) -> None:
    result = xs.minimize(lambda trial: time.sleep(0.01) or 1.0, SPACE, trials=500, seconds=0.1)  # type: ignore[func-returns-value]
    assert result.reason == "the time limit of 0.1 s is reached"


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_a_jump_does_not_give_up_a_living_program(fake: Time, tmp_path: Path, jump: float) -> None:
    passed = {"seconds": 0.0}
    fake.passed = lambda: passed["seconds"]

    def advance(seconds: float) -> None:
        fake.wall += seconds
        passed["seconds"] += seconds

    place = tmp_path / "s.db"
    first: Any = xs.Study(SPACE, name="s", storage=place, seed=1)
    second: Any = xs.Study(SPACE, name="s", storage=place)
    trial = first.ask()
    advance(20)
    fake.wall += jump
    assert second.ask().number == 1
    assert second.history.trials[trial.number].times_lost == 0, "it looked at the old leases with the new time"
    for _ in range(5):
        first.journal.renew(fake.time())
        advance(20)
        assert second.ask() is not None
        assert second.history.trials[trial.number].times_lost == 0
    advance(61)  # the first program is silent for longer than its lease
    assert second.ask().number == 0, "who is silent is given up, by the new time as by the old"
    for study in (first, second):
        study.close()
