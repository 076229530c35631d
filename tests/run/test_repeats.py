"""An objective that returns under a scheduler with rungs is trained again and again: the user is told, once, at once."""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest

import xstar as xs
from xstar.core import hints as module

SPACE = xs.Space(x=xs.Float(0, 1))


@pytest.fixture(autouse=True)
def _not_told_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_told", set())


def returning(trial: Any) -> float:
    return float(trial["x"])


def saving(trial: Any) -> float:
    (trial.checkpoint / "model").write_text("weights")
    return float(trial["x"])


def yielding(trial: Any) -> Iterator[float]:
    for _ in trial.epochs():
        yield float(trial["x"])


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("method", ["asha", "asha-stop", "hyperband"])
def test_a_returning_objective_is_warned_of_once(method: str, workers: int, caplog: pytest.LogCaptureFixture) -> None:
    xs.minimize(returning, SPACE, trials=30, method=method, max_budget=9, workers=workers, seed=1)
    (told,) = (text for text in warnings(caplog) if "returns instead of yielding" in text)
    assert re.search(r"finished epochs? (is|are) trained again", told)
    assert "Yield once per epoch" in told
    assert "trial.checkpoint" in told


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("objective", [saving, yielding, functools.partial(yielding)])
def test_others_are_not(objective: Any, workers: int, caplog: pytest.LogCaptureFixture) -> None:
    for method in ("asha-stop", "gp"):
        xs.minimize(objective, SPACE, trials=12, method=method, max_budget=9, workers=workers, seed=1)
    xs.minimize(returning, SPACE, trials=5, workers=workers, seed=1)
    assert [text for text in warnings(caplog) if "returns" in text] == []


@pytest.mark.parametrize("workers", [1, 2])
def test_one_that_yields_without_a_checkpoint_hears_of_the_checkpoint(
    workers: int, caplog: pytest.LogCaptureFixture
) -> None:
    xs.minimize(lambda trial: yielding(trial), SPACE, trials=12, method="asha", max_budget=9, workers=workers, seed=1)
    (told,) = warnings(caplog)
    assert re.search(r"has no checkpoint, so .* finished epochs? (is|are) trained again", told)
