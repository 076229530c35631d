"""The lines of a log: one per trial of this program, no faster than they can be read, where somebody looks for them."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.clocks import study_at
from tests.look.progress.cases import Clock, make_study
from tests.trials import ask
from xstar.errors import NoValue
from xstar.look.progress import Tracker
from xstar.look.progress.lines import BURST, LogProgress
from xstar.look.progress.tracker import LOOK
from xstar.study import Limits
from xstar.study.loop import trial_log

SPACE = xs.Space(x=xs.Float(0, 1))


def test_a_line_per_trial() -> None:
    clock, lines = Clock(), list[str]()
    study = make_study(clock, metric="error")
    progress = LogProgress(Tracker(study, Limits(trials=5)), lines.append)
    with progress:
        for value in (0.5, 0.031, 0.1):
            trial = ask(study)
            clock.now += 3.2
            study.tell(trial, value)
            progress(study)
        study.fail(ask(study), "ValueError: of which the loop speaks")
        progress.finish("all 4 trials are done")
    first, second, third, end = (line.split(", ") for line in lines)
    assert first == ["trial 0 complete error=0.5 (best 0.5", "trial 0)", "3.2 s", "about 12.8 s left"]
    assert second[0].endswith("error=0.031 (best 0.031")
    assert third[0].endswith("error=0.1 (best 0.031")
    assert end == ["all 4 trials are done"]
    assert (trial_log.level, trial_log.propagate, trial_log.handlers) == (logging.NOTSET, True, [])


def test_trials_that_pause_have_a_line_and_are_counted() -> None:
    clock, lines = Clock(), list[str]()
    study = make_study(clock, method=None, metric="error", max_budget=3)
    progress = LogProgress(Tracker(study, Limits(trials=3)), lines.append)
    with progress:
        for value in (0.5, 0.25, 0.75):
            trial = ask(study)
            clock.now += 2
            study.report(trial, {"error": value})
            progress(study)
        best = ask(study)
        assert best.number == 1
        for value in (0.125, 0.0625):
            clock.now += 2
            study.report(best, {"error": value})
        progress(study)
        progress.finish("all 3 trials are done")
    choice, *paused, complete, end = lines
    assert choice.startswith("method mobster: ")
    assert [line.partition(" (best")[0] for line in paused] == [
        f"trial {number} paused after 1 epoch error={value}" for number, value in enumerate((0.5, 0.25, 0.75))
    ]
    assert [line.partition("about ")[2] for line in paused] == ["4.0 s left", "2.0 s left", ""]
    assert complete.startswith("trial 1 complete error=0.0625")
    assert complete.endswith("8.0 s")
    assert "2 paused (with a larger trials=" in end


def test_a_trial_beyond_a_bound_has_a_line_as_nobody_else_speaks_of_it() -> None:
    clock, lines = Clock(), list[str]()
    study = make_study(clock, metric="error", constraints={"latency": 1.0})
    progress = LogProgress(Tracker(study, Limits()), lines.append)
    with progress:
        study.tell(ask(study), {"error": 0.5, "latency": 2.0})
        study.tell(ask(study), {"error": 0.5})
        study.fail(ask(study), "too large, says the loop", "infeasible")
        progress(study)
    assert lines == [
        "trial 0 infeasible: latency is 2, above its bound 1",
        "trial 1 infeasible: the constraint metric 'latency' was not reported",
    ]


def test_where_all_are_beyond_a_bound_the_lines_and_the_missing_best_trial_say_so() -> None:
    lines = list[str]()
    study = make_study(method="asha", metric="error", max_budget=3, constraints={"latency": 0.3})
    progress = LogProgress(Tracker(study, Limits()), lines.append)
    with progress:
        for latency in (2.0, 3.8):
            study.report(ask(study), {"error": 0.5, "latency": latency})
        progress(study)
        progress.finish("all 2 trials are done")
    beyond = "2 of 2 are beyond a bound, trial 1: latency is 3.8, above its bound 0.3"
    assert ["latency is 2, above its bound 0.3" in lines[0], "latency is 3.8, above" in lines[1]] == [True, True]
    assert f"{beyond}; 2 paused" in lines[2]
    with pytest.raises(NoValue, match=beyond):
        _ = study.best


def test_what_is_infeasible_at_its_end_is_beyond_a_bound_and_said_once() -> None:
    study = make_study(metric="error", constraints={"latency": 0.3})
    study.tell(ask(study), {"error": 0.5})
    beyond = "1 of 1 is beyond a bound, trial 0: the constraint metric 'latency' was not reported"
    with pytest.raises(NoValue, match=beyond):
        _ = study.best


def test_lines_come_no_faster_than_they_can_be_read() -> None:
    clock, lines = Clock(), list[str]()
    study = make_study(clock)
    progress = LogProgress(Tracker(study, Limits()), lines.append)
    with progress:
        for _ in range(BURST + 30):
            study.tell(ask(study), 1.0)
        clock.now += LOOK
        progress(study)
        assert len(lines) == BURST
        clock.now += 1
        for _ in range(3):
            study.tell(ask(study), 1.0)
        progress(study)
    before, trial, after = lines[BURST:]
    assert (before, after) == ("… and 30 more trials", "… and 2 more trials")
    assert trial.startswith(f"trial {BURST + 30} complete")


def test_each_program_speaks_of_its_own_trials_and_of_what_the_dead_left(tmp_path: Path) -> None:
    clock, lines = Clock(), list[str]()
    with make_study(clock, study="shared", storage=tmp_path / "x.db") as study:
        progress = LogProgress(Tracker(study, Limits()), lines.append)
        with progress, study_at(clock, study="shared", storage=tmp_path / "x.db") as other:
            study.tell(ask(study), 1.0)
            other.tell(ask(other), 2.0)
            lost = ask(other)
            other.leases.release("told to terminate")
            study.refresh()
            progress(study)
        assert [line.partition(" (")[0] for line in lines] == [
            "trial 0 complete value=1",
            "trial 2 will run again: told to terminate",
        ]
        assert progress.tracker.ended == 1
        clock.now += LOOK
        again = ask(study)
        assert again.number == lost.number
        study.tell(again, 0.5)
        assert progress.tracker.advance() == [again]
        assert progress.tracker.ended == 2, "it was begun elsewhere, and ended here"


def objective(trial: Any) -> float:
    if trial.number == 1:
        raise ValueError("no luck")
    return float(trial["x"])


LINE = re.compile(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d (trial \d|all) ")


def test_where_nobody_looks_at_a_screen_lines_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    xs.minimize(objective, SPACE, trials=3, method="random", seed=1)
    lines = capsys.readouterr().err.splitlines()
    assert [bool(LINE.match(line)) for line in lines] == [True, True, True]  # the failure is a warning: pytest has it
    xs.minimize(objective, SPACE, trials=1, seed=1)
    first, _ = capsys.readouterr().err.split("\n", maxsplit=1)
    assert " method auto: every trial runs to its end; a Gaussian process chooses what to try" in first
    xs.minimize(objective, SPACE, trials=3, method="random", seed=1, progress=False)
    assert capsys.readouterr().err == ""


def test_who_has_set_up_logging_has_them_there(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "xstar"):
        xs.minimize(objective, SPACE, trials=1, seed=1)
        assert sum("method auto" in message for message in caplog.messages) == 1
        caplog.clear()
        xs.minimize(objective, SPACE, trials=3, method="random", seed=1)
    mine = [record.getMessage() for record in caplog.records if record.name == "xstar.trials"]
    assert [line.split(":")[0].split("=")[0] for line in mine] == [
        "trial 0 complete value",
        "trial 1 failed",
        "trial 2 complete value",
        "all 3 trials are done",
    ]
    caplog.clear()
    with caplog.at_level(logging.ERROR, "xstar"):  # a wish to hear nothing
        xs.minimize(objective, SPACE, trials=3, method="random", seed=1)
    assert caplog.messages == []
    assert capsys.readouterr().err == ""
