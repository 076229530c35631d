"""What a user does to a study: configurations to be tried, notes about trials, and the wish that it pauses or stops."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import xstar as xs
from tests.clocks import Time
from tests.trials import ask, run_trials
from xstar.cli.main import app
from xstar.errors import CorruptJournal, InvalidArgument, InvalidConfig, UnknownTrial
from xstar.journal import event_json, events as ev
from xstar.look.audit import audit
from xstar.look.exchange import export_csv, export_events, import_events
from xstar.run.inline import InlineExecutor
from xstar.study.loop import PAUSED, run

SPACE = xs.Space(x=xs.Float(0, 1))

# ---------------------------------------------------------------- hold


def test_a_paused_study_gives_nothing_until_it_goes_on(tmp_path: Path) -> None:
    with (
        xs.Study(SPACE, study="s", storage=tmp_path / "s.db", seed=1) as study,
        xs.Study.open("s", tmp_path / "s.db") as user,
    ):
        first = ask(study)
        user.pause()
        user.pause()  # it is so already: nothing is appended
        assert (study.ask(), study.ended) == (None, None)
        study.tell(first, 1.0)  # what runs goes on
        user.resume()
        assert study.ask() is not None
        study.pause()
        user.resume()  # which the user's own history did not know to be needed
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
    study.pause()
    executor = InlineExecutor(lambda trial: 0.0, study.goals)
    assert "time limit" in run(study, executor, xs.Limits(seconds=5))
    assert [line for line in caplog.messages if "pauses" in line] == [PAUSED]
    assert study.trials == []


def test_a_fork_of_a_study_that_pauses_goes_on() -> None:
    study = xs.Study(SPACE, seed=1)
    study.pause()
    assert study.fork().ask() is not None


def test_a_search_waits_while_its_study_pauses(tmp_path: Path) -> None:
    place, calls = tmp_path / "s.db", []

    def objective(trial: xs.Trial) -> float:
        calls.append(trial.number)
        if len(calls) == 3:
            with xs.Study.open("s", place) as user:
                user.pause()
        return float(trial["x"])

    def watch(study: xs.Study) -> None:
        if study.history.hold == "pause" and len(study.trials) == study.history.over:  # all have ended, and none begins
            with xs.Study.open("s", place) as user:
                calls.append(-1)
                user.resume()

    result = xs.minimize(
        objective, SPACE, trials=6, study="s", storage=place, method="random", progress=False, watch=watch
    )
    assert calls == [0, 1, 2, -1, 3, 4, 5]
    result.study.close()


def test_a_stopped_search_ends_and_can_be_taken_up_again(tmp_path: Path) -> None:
    place = tmp_path / "s.db"

    def objective(trial: xs.Trial) -> float:
        if trial.number == 2:
            done = CliRunner().invoke(app, ["stop", "s", "--storage", str(place)])
            assert "study 's' stops; 1 trial running" in done.output
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
    with pytest.raises(CorruptJournal, match="must be one of go, pause, stop"):
        event_json.load("held", '{"state":"wait","at":1.0}')


# ---------------------------------------------------------------- annotate


def some_study(**options: Any) -> xs.Study:
    study = xs.Study(SPACE, method="gp", seed=1, **options)
    for number in range(8):
        trial = ask(study)
        study.tell(trial, trial["x"])
        if number % 3 == 0:
            study.annotate(trial, {"tags": ["a", None], "layers": np.int64(number)})
    study.annotate(0, {"tags": "b", "why": {"so": 1.5}})
    return study


def test_notes_are_kept_and_the_last_one_stands(tmp_path: Path) -> None:
    with some_study(study="s", storage=tmp_path / "s.db"):
        pass
    with xs.Study.open("s", tmp_path / "s.db") as study:
        assert study.history.trials[0].attrs == {"tags": "b", "layers": 0, "why": {"so": 1.5}}
        assert study.history.trials[3].attrs == {"tags": ["a", None], "layers": 3}
        assert study.history.trials[1].attrs == {}
        assert audit(study).findings == []
        import_events(list(export_events(study)), "copy", tmp_path / "s.db")
    with xs.Study.open("copy", tmp_path / "s.db") as study:
        assert study.history.trials[3].attrs == {"tags": ["a", None], "layers": 3}


def test_notes_change_no_decision() -> None:
    plain = xs.Study(SPACE, method="gp", seed=1)
    run_trials(plain, 8, lambda trial: trial["x"])
    assert [trial.config for trial in plain.history.trials] == [trial.config for trial in some_study().history.trials]


def test_notes_are_columns() -> None:
    file = io.StringIO()
    export_csv(some_study(), file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert [row["attr.layers"] for row in rows][:4] == ["0", "", "", "3"]
    assert rows[3]["attr.tags"] == '["a", null]'


@pytest.mark.parametrize("attrs", [5, {1: "a"}, {"a": math.nan}, {"a": object()}, {"a": {1, 2}}])
def test_notes_that_are_none_are_refused(attrs: Any) -> None:
    study = some_study()
    seen = study.history.seen
    with pytest.raises(InvalidArgument, match="attrs: must"):
        study.annotate(0, attrs)
    with pytest.raises(UnknownTrial):
        study.annotate(99, {"a": 1})
    assert study.refresh().seen == seen


# ---------------------------------------------------------------- enqueue


SOLVERS = xs.Space(
    lr=xs.Float(1e-4, 1.0, log=True),
    solver=xs.Choice(["sgd", "adam"]),
    momentum=xs.Float(0, 1, when={"solver": "sgd"}),
    net=xs.nets.Cell(when={"solver": "adam"}),
)


@pytest.mark.usefixtures("short_training")
@pytest.mark.parametrize("method", ["random", "sobol", "gp", "evolution", "pbil", "dngo"])
def test_the_searcher_completes_what_is_left_open(method: str) -> None:
    study = xs.Study(SOLVERS, method=method, seed=1)
    for number in range(14):
        if number % 2:
            study.enqueue({"lr": 0.1} if number % 4 == 1 else {"solver": "sgd", "momentum": 0.5})
        trial = ask(study)
        assert set(trial.config) == {"lr", "solver", "momentum" if trial["solver"] == "sgd" else "net"}
        if number % 4 == 1:
            assert trial["lr"] == 0.1
        elif number % 2:
            assert (trial["solver"], trial["momentum"]) == ("sgd", 0.5)
        if number % 2:
            assert trial.origin.startswith(f"enqueued: number {number // 2 + 1}, completed by ")
        study.tell(trial, trial["lr"])
    assert audit(study).findings == []


def test_the_rest_is_what_would_have_been_suggested() -> None:
    plain, queued = xs.Study(SOLVERS, method="sobol", seed=1), xs.Study(SOLVERS, method="sobol", seed=1)
    queued.enqueue({"lr": 0.1})
    one, two = ask(plain), ask(queued)
    assert two.config == {**one.config, "lr": 0.1}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"rl": 0.1}, "rl: must be the name of a parameter"),
        ({"lr": 7}, "lr: must lie in"),
        ({"momentum": 0.5}, "momentum: takes part under a condition, .*give solver, too"),
        ({"momentum": 0.5, "solver": "adam"}, "momentum: must be left out, as solver is 'adam'"),
        ("lr", "must be a mapping"),
    ],
)
def test_configurations_outside_are_refused(config: dict[str, object], message: str) -> None:
    study = xs.Study(SOLVERS)
    with pytest.raises(InvalidConfig, match=message):
        study.enqueue(config)
    assert study.refresh().seen == 1


def test_nothing_at_all_is_left_to_the_searcher() -> None:
    study = xs.Study(xs.Space(x=xs.Int(1, 2)), method="grid", seed=1)
    for config in ({"x": 1}, {"x": 2}, {}):
        study.enqueue(config)
        study.tell(ask(study), 1.0)
    assert "completed by random: all 2 points of the grid" in study.history.trials[-1].origin
    assert audit(study).findings == []
