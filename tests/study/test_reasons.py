"""How much of a failure is kept, and studies that were asked to be kept nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.core.words import LONGEST_REASON, last_line, shortened
from xstar.errors import InvalidArgument

SPACE = xs.Space(x=xs.Float(0, 1))
HUGE = 3_000_000


@pytest.mark.parametrize("workers", [1, 2])
def test_an_exception_without_end_does_not_fill_the_database(tmp_path: Path, workers: int) -> None:
    def objective(trial: Any) -> float:
        if trial.number == 1:
            raise xs.Infeasible("q" * HUGE)
        raise ValueError("first words " + "x" * HUGE + " last words")

    place = tmp_path / "s.db"
    result = xs.minimize(
        objective, SPACE, trials=3, workers=workers, study="s", storage=place, seed=1, max_failures=None
    )
    study = result.study
    for trial in study.history.trials:
        reason = trial.reason or ""
        assert len(reason) < LONGEST_REASON + 100
        assert "characters left out" in reason
        assert len(last_line(reason)) <= 1000
    failed = study.history.trials[0].reason or ""
    assert failed.startswith("Traceback (most recent call last)")
    assert "ValueError: first words xxx" in failed
    assert failed.endswith("xxx last words")
    study.close()
    assert place.stat().st_size < 1_000_000


def test_a_reason_that_a_user_gives_is_shortened_too() -> None:
    study = xs.Study(SPACE, seed=1)
    trial: Any = study.ask()
    study.fail(trial, "a" * HUGE)
    assert len(trial.reason) < LONGEST_REASON + 100
    trial = study.ask()
    study.leases.release("b" * HUGE)
    assert len(trial.reason) < LONGEST_REASON + 100


def test_what_is_left_out_is_counted() -> None:
    assert shortened("x" * LONGEST_REASON) == "x" * LONGEST_REASON
    text = shortened("a" * LONGEST_REASON + "b" * 1234)
    assert "[… 1,234 characters left out …]" in text
    assert len(text) == LONGEST_REASON + len("\n[… 1,234 characters left out …]\n")
    assert text.endswith("b")


def test_a_study_in_memory_has_no_name() -> None:
    with pytest.raises(InvalidArgument, match="leave out storage and the study's name"):
        xs.Study(SPACE, study="s", storage=":memory:")
    with pytest.raises(InvalidArgument, match="storage: must name a file or a server, but got ':memory:'"):
        xs.minimize(lambda trial: 1.0, SPACE, trials=1, study="s", storage=":memory:")
