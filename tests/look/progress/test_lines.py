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
    assert lines == [
        "trial 0 complete error=0.5 (best 0.5, trial 0), 3.2 s, about 12.8 s left",
        "trial 1 complete error=0.031 (best 0.031, trial 1), 3.2 s, about 9.6 s left",
        "trial 2 complete error=0.1 (best 0.031, trial 1), 3.2 s, about 6.4 s left",
        "all 4 trials are done",
    ]
    assert (trial_log.level, trial_log.propagate, trial_log.handlers) == (logging.NOTSET, True, [])


def test_trials_that_pause_have_a_line_and_are_counted() -> None:
    clock, lines = Clock(), list[str]()
    study = make_study(clock, method=None, metric="error", max_budget=3)
    choice = (
        "method mobster: with max_budget=3 bad trials can end early, and a Gaussian process learns from all of them"
    )
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
    assert lines == [
        choice,
        "trial 0 paused after 1 epoch error=0.5 (best 0.5, trial 0), 2.0 s, about 4.0 s left",
        "trial 1 paused after 1 epoch error=0.25 (best 0.25, trial 1), 2.0 s, about 2.0 s left",
        "trial 2 paused after 1 epoch error=0.75 (best 0.25, trial 1), 2.0 s",
        "trial 1 complete error=0.0625 (best 0.0625, trial 1), 8.0 s",
        "all 3 trials are done; 2 paused (with a larger trials= the best of them train on)",
    ]


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
    assert [line.split(", 0.00 s")[0] for line in lines] == [
        "trial 0 paused after 1 epoch error=0.5, latency is 2, above its bound 0.3",
        "trial 1 paused after 1 epoch error=0.5, latency is 3.8, above its bound 0.3",
        f"all 2 trials are done; {beyond}; 2 paused (with a larger trials= the best of them train on)",
    ]
    with pytest.raises(NoValue, match=rf"^no trial has a value yet \(2 trials so far\); {beyond}$"):
        _ = study.best


def test_what_is_infeasible_at_its_end_is_beyond_a_bound_and_said_once() -> None:
    study = make_study(metric="error", constraints={"latency": 0.3})
    study.tell(ask(study), {"error": 0.5})
    beyond = "1 of 1 is beyond a bound, trial 0: the constraint metric 'latency' was not reported"
    with pytest.raises(NoValue, match=rf"^no trial has a value yet \(1 trial so far\); {beyond}$"):
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
    assert lines[BURST:] == [
        "… and 30 more trials",
        f"trial {BURST + 30} complete value=1 (best 1, trial 0), 0.00 s",
        "… and 2 more trials",
    ]


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
        assert lines == [
            "trial 0 complete value=1 (best 1, trial 0), 0.00 s",
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
