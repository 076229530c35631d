"""A study that a user pauses or stops from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import xstar as xs
from tests.clocks import Time
from xstar.cli.main import app
from xstar.errors import CorruptJournal, InvalidArgument
from xstar.executors.inline import InlineExecutor
from xstar.inspect.audit import audit
from xstar.journal import event_json, events as ev
from xstar.loop import PAUSED, run

SPACE = xs.Space(x=xs.Float(0, 1))


def test_a_paused_study_gives_nothing_until_it_goes_on(tmp_path: Path) -> None:
    with (
        xs.Study(SPACE, name="s", storage=tmp_path / "s.db", seed=1) as study,
        xs.Study.open("s", tmp_path / "s.db") as user,
    ):
        first = study.ask()
        assert first is not None
        user.hold("pause")
        user.hold("pause")  # it is so already: nothing is appended
        assert (study.ask(), study.ended) == (None, None)
        study.tell(first, 1.0)  # what runs goes on
        user.hold("go")
        assert study.ask() is not None
        study.hold("pause")
        user.hold("go")  # which the user's own history did not know to be needed
        assert study.ask() is not None
        held = [event for event in study.journal.read(0) if isinstance(event, ev.Held)]
        assert [event.state for event in held] == ["pause", "go", "pause", "go"]
        assert audit(study).findings == []


def test_a_limit_of_time_ends_a_search_that_pauses_and_the_pause_is_told(
    caplog: pytest.LogCaptureFixture, frozen: Time
) -> None:
    passed = iter(range(0, 1000, 10))
    frozen.passed = lambda: float(next(passed))
    study = xs.Study(SPACE, seed=1)
    study.hold("pause")
    executor = InlineExecutor(lambda trial: 0.0, study.goals)
    assert "time limit" in run(study, executor, xs.Limits(seconds=5))
    assert [line for line in caplog.messages if "pauses" in line] == [PAUSED]
    assert study.trials == []


def test_a_fork_of_a_study_that_pauses_goes_on() -> None:
    study = xs.Study(SPACE, seed=1)
    study.hold("pause")
    assert study.fork().ask() is not None


def test_a_search_waits_while_its_study_pauses(tmp_path: Path) -> None:
    place, calls = tmp_path / "s.db", []

    def objective(trial: xs.Trial) -> float:
        calls.append(trial.number)
        if len(calls) == 3:
            with xs.Study.open("s", place) as user:
                user.hold("pause")
        return float(trial["x"])

    def watch(study: xs.Study) -> None:
        if study.history.hold == "pause" and len(study.trials) == study.history.over:  # all have ended, and none begins
            with xs.Study.open("s", place) as user:
                calls.append(-1)
                user.hold("go")

    result = xs.minimize(
        objective, SPACE, trials=6, study="s", storage=place, method="random", progress=False, watch=watch
    )
    assert calls == [0, 1, 2, -1, 3, 4, 5]
    result.study.close()


def test_a_stopped_search_ends_and_can_be_taken_up_again(tmp_path: Path) -> None:
    place = tmp_path / "s.db"

    def objective(trial: xs.Trial) -> float:
        if trial.number == 2:
            done = CliRunner().invoke(app, ["hold", "s", "stop", "--storage", str(place)])
            assert "study 's' stops; 1 trial still run" in done.output
        return float(trial["x"])

    result = xs.minimize(objective, SPACE, trials=6, study="s", storage=place, method="random", progress=False)
    assert "stopped" in result.reason
    assert len(result.study.trials) == 3
    result.study.close()
    result = xs.minimize(objective, SPACE, trials=6, study="s", storage=place, progress=False)
    assert len(result.study.trials) == 6
    assert audit(result.study).findings == []
    result.study.close()


def test_words_that_mean_nothing_are_refused() -> None:
    study = xs.Study(SPACE)
    with pytest.raises(InvalidArgument, match="must be one of go, pause, stop"):
        study.hold("wait")
    with pytest.raises(CorruptJournal, match="must be one of go, pause, stop"):
        event_json.load("held", '{"state":"wait","at":1.0}')
