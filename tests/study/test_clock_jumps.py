"""A wall clock that is set back or forward while a search runs: no search ends early, no living program is given up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.clocks import Time

SPACE = xs.Space(x=xs.Float(0, 1))


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_a_jump_does_not_end_a_search(frozen: Time, jump: float) -> None:
    def objective(trial: Any) -> float:
        frozen.wall += jump
        return float(trial["x"])

    result = xs.minimize(objective, SPACE, trials=6, seconds=3000, seed=1)
    assert result.reason == "all 6 trials are done"


def test_a_wall_clock_that_stands_still_does_not_keep_a_search_alive(frozen: Time) -> None:
    passed = iter(range(10**6))
    frozen.passed = lambda: float(next(passed))
    result = xs.minimize(lambda trial: 1.0, SPACE, trials=500, method="random", seconds=100)
    assert result.reason == "the time limit of 100 s is reached"


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_a_jump_does_not_give_up_a_living_program(frozen: Time, tmp_path: Path, jump: float) -> None:
    passed = {"seconds": 0.0}
    frozen.passed = lambda: passed["seconds"]

    def advance(seconds: float) -> None:
        frozen.wall += seconds
        passed["seconds"] += seconds

    place = tmp_path / "s.db"
    first: Any = xs.Study(SPACE, study="s", storage=place, seed=1)
    second: Any = xs.Study(SPACE, study="s", storage=place)
    trial = first.ask()
    advance(20)
    frozen.wall += jump
    assert second.ask().number == 1
    assert second.history.trials[trial.number].runs.lost == 0, "it looked at the old leases with the new time"
    advance(40)  # three renewals in a row may fail
    assert second.ask() is not None
    assert second.history.trials[trial.number].runs.lost == 0, "it may still renew by the new time"
    for _ in range(5):
        first.journal.renew(frozen.time())
        advance(20)
        assert second.ask() is not None
        assert second.history.trials[trial.number].runs.lost == 0
    advance(61)  # the first program is silent for longer than its lease
    assert second.ask().number == 0, "who is silent is given up, by the new time as by the old"
    for study in (first, second):
        study.close()
