"""What fails every trial does not burn the whole budget: a search ends when so many failed before any succeeded."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.waiting import appears
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
    with pytest.raises(ObjectiveError, match=r"test_fuse\.py, line \d+, .*max_failures=None") as caught:
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
    with pytest.raises(ObjectiveError, match="the same way"):
        xs.minimize(misspelt, SPACE, trials=2, max_failures=2)
    study = xs.minimize(misspelt, SPACE, trials=12, max_failures=None).study
    assert study.history.count(xs.State.FAILED) == 12
    for value in (0, -1, 1.5, "5"):
        with pytest.raises(InvalidArgument, match="max_failures"):
            xs.minimize(misspelt, SPACE, trials=1, max_failures=value)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="needs an end"):  # it is no stop rule
        xs.minimize(misspelt, SPACE, max_failures=3)


def three_messages(trial: Any) -> float:
    raise (ValueError, KeyError, OSError)[trial.number % 3](f"in turn {trial.number}")


def killed(trial: Any) -> float:
    os._exit(7)


def nan(trial: Any) -> float:
    if trial.number % 2:
        raise ValueError("or not")
    return float("nan")


def infeasible_at_times(trial: Any) -> float:
    if trial.number % 2 and trial.number < 8:
        raise xs.Infeasible("too large")
    return misspelt(trial)


@pytest.mark.parametrize(
    ("objective", "workers", "said"),
    [
        (three_messages, 1, r"5 trials failed, and none succeeded: 2 × .*ValueError: in turn 3; 2 × .*; 1 × .*OSError"),
        (killed, 2, "5 trials failed in the same way, and none succeeded: the worker exited with code 7"),
        (nan, 1, "3 × value is nan at budget 1; 2 × .*ValueError: or not"),
        (infeasible_at_times, 1, "5 trials failed in the same way.*NameError"),
    ],
)
def test_whatever_the_reasons_are(objective: Any, workers: int, said: str) -> None:
    seen: list[xs.Study] = []
    with pytest.raises(ObjectiveError, match=said):
        xs.minimize(objective, SPACE, trials=60, workers=workers, seed=1, watch=seen.append)
    failed = seen[-1].history.count(xs.State.FAILED)
    assert failed - (workers - 1) <= 5 <= failed + 1, "the watcher is not called for the last one"


def infeasible(trial: Any) -> float:
    raise xs.Infeasible("too large")


def succeed_once(trial: Any) -> float:
    return 1.0 if trial.number == 4 else misspelt(trial)


def beyond(trial: Any) -> Any:
    return {"loss": 1.0, "cost": 2.0} if trial.number == 0 else misspelt(trial)


@pytest.mark.parametrize("objective", [infeasible, succeed_once, beyond])
def test_an_outcome_among_the_first_trials_lets_the_search_go_on(objective: Any) -> None:
    seen: list[xs.Study] = []
    with contextlib.suppress(ObjectiveError):  # none has a value: said at the end
        options: Any = {"metric": "loss", "constraints": {"cost": 1.0}} if objective is beyond else {}
        xs.minimize(objective, SPACE, trials=12, seed=1, watch=seen.append, **options)
    assert len(seen[-1].history.trials) == 12


def test_while_a_trial_that_has_reported_runs_failures_are_those_of_configurations(tmp_path: Path) -> None:
    reported, ended = tmp_path / "reported", tmp_path / "ended"

    def objective(trial: Any) -> Iterator[float]:
        if trial.number:
            appears(reported)
            raise ValueError(trial.number)
        yield 1.0
        appears(ended)
        yield 2.0

    def end(study: xs.Study) -> None:
        if study.trials[0].reports:
            reported.touch()
        if study.history.count(xs.State.FAILED) >= 7:
            ended.touch()

    options: Any = {"metric": "value", "max_budget": 2, "method": "random", "workers": 2, "seed": 1}
    study = xs.minimize(objective, SPACE, trials=9, watch=end, **options).study
    assert study.history.count(xs.State.FAILED) == 8


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


def test_one_failed_trial_is_told_as_one() -> None:
    with pytest.raises(ObjectiveError, match="1 trial failed, and none succeeded"):
        xs.minimize(misspelt, SPACE, trials=3, max_failures=1, seed=1)
