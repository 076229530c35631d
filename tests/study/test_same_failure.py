"""A typing error does not burn the whole budget: the first trials all fail alike, and the search ends with that error."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.errors import InvalidArgument, ObjectiveError
from xstar.study.limits import raised_at

SPACE = xs.Space(x=xs.Float(0, 1))


def misspelt(trial: Any) -> float:
    return float(trail["x"])  # type: ignore[name-defined]  # noqa: F821


def careless(trial: Any) -> Iterator[float]:
    for epoch in trial.epochs():
        raise ValueError(f"trial {trial.number}\nof several lines, each time\nanother: {epoch}")
        yield 1.0


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("objective", [misspelt, careless])
def test_the_search_ends_with_the_error(tmp_path: Path, objective: Any, workers: int) -> None:
    place = tmp_path / "s.db"
    with pytest.raises(ObjectiveError, match=r"test_same_failure\.py, line \d+, .*max_failures=None") as caught:
        xs.minimize(
            objective,
            SPACE,
            trials=60,
            workers=workers,
            method="random",
            max_budget=3,
            study="s",
            storage=place,
            seed=1,
        )
    expected = "NameError: name 'trail' is not defined" if objective is misspelt else "another: 1"
    assert expected in str(caught.value)
    with xs.Study.open("s", place) as study:
        assert study.history.count(xs.State.FAILED) == 5
        assert len(study.history.trials) <= 5 + workers
    # Mended, the search goes on; what failed stays on record.
    result = xs.minimize(lambda trial: trial["x"], SPACE, trials=20, study="s", storage=place)
    assert result.study.history.count(xs.State.COMPLETE) == 15
    result.study.close()


def test_of_programs_that_say_nothing_it_is_told_once() -> None:
    with pytest.raises(ObjectiveError, match="infeasible_exit") as caught:
        xs.minimize(xs.Command("true {x}"), SPACE, metric="loss", trials=2, max_failures=2)
    assert str(caught.value).count("ended without a report") == 1


def test_how_many_is_yours_to_say() -> None:
    with pytest.raises(ObjectiveError, match="the same place"):
        xs.minimize(misspelt, SPACE, trials=2, max_failures=2)
    study = xs.minimize(misspelt, SPACE, trials=12, max_failures=None).study
    assert study.history.count(xs.State.FAILED) == 12
    for value in (0, -1, 1.5, "5"):
        with pytest.raises(InvalidArgument, match="max_failures"):
            xs.minimize(misspelt, SPACE, trials=1, max_failures=value)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="needs an end"):  # it is no stop rule
        xs.minimize(misspelt, SPACE, max_failures=3)


def fail_elsewhere(trial: Any) -> float:
    if trial.number == 3:
        raise KeyError("the same line does not matter if the exception is another")
    return misspelt(trial)


def fail_otherwise(trial: Any) -> float:
    if trial.number == 2:
        raise xs.Infeasible("too large")
    return misspelt(trial)


def succeed_once(trial: Any) -> float:
    return 1.0 if trial.number == 4 else misspelt(trial)


def fail_later(trial: Any) -> float:
    return 1.0 if trial.number == 0 else misspelt(trial)


def end_with_nan(trial: Any) -> float:
    return float("nan") if trial.number == 0 else misspelt(trial)


def leave(trial: Any) -> float:
    if trial.number % 2:
        sys.exit(1)
    raise ValueError("or not")


@pytest.mark.parametrize("objective", [fail_elsewhere, fail_otherwise, succeed_once, fail_later, end_with_nan, leave])
def test_anything_else_among_the_first_trials_lets_the_search_go_on(objective: Any) -> None:
    seen: list[xs.Study] = []
    with contextlib.suppress(ObjectiveError):  # none has a value: said at the end
        xs.minimize(objective, SPACE, trials=12, seed=1, watch=seen.append)
    assert len(seen[-1].history.trials) == 12


def test_a_study_that_has_a_value_goes_on(tmp_path: Path) -> None:
    place = tmp_path / "s.db"
    xs.minimize(lambda trial: 1.0, SPACE, trials=1, study="s", storage=place).study.close()
    study = xs.minimize(misspelt, SPACE, trials=12, study="s", storage=place).study
    assert study.history.count(xs.State.FAILED) == 11
    study.close()


def test_where_and_what_a_traceback_ends_with() -> None:
    trace = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\n    ^^^\n{}'
    assert raised_at(trace.format("ValueError: no\n  File nothing\nmore: words")) == ("a.py, line 3", "ValueError")
    assert raised_at(trace.format("KeyboardInterrupt")) == ("a.py, line 3", "KeyboardInterrupt")
    assert raised_at("no traceback at all") is None
