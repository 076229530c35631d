"""Ask, report, tell, fail, add, enqueue, best: the study as a user drives it."""

from __future__ import annotations

import math
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.trials import ask, run_trials
from xstar.errors import (
    InvalidArgument,
    InvalidConfig,
    InvalidReport,
    NoValue,
    StudyMismatch,
    UnknownStudy,
    UnknownTrial,
)
from xstar.journal import events as ev
from xstar.look.audit import audit
from xstar.schedulers import ASHA
from xstar.searchers import GP

SPACE = xs.Space(x=xs.Float(0, 1), kind=xs.Choice(["a", "b"]))


def test_ask_and_tell() -> None:
    study = xs.Study(SPACE, seed=1)
    for _ in range(10):
        trial = ask(study)
        assert study.history.trials[-1].state is xs.State.RUNNING
        study.tell(trial, {"value": trial["x"], "other": 1})
        assert trial.state is xs.State.COMPLETE
        assert trial.value == trial["x"]
        assert trial.metrics["other"] == 1.0
    assert study.best is min(study.history.trials, key=lambda trial: trial["x"])
    assert [trial.number for trial in study.history.trials] == list(range(10))


@pytest.mark.parametrize(
    "value", [0.5, 1, np.float32(0.5), np.array(0.5), np.int64(3), {"value": np.float64(2.0), "b": 1}]
)
def test_any_number_is_a_value(value: Any) -> None:
    study = xs.Study(SPACE)
    study.tell(ask(study), value)
    assert type(study.best.value) is float


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (None, "must be a number"),
        ("0.5", "must be a number"),
        (True, "must be a number"),
        ({"loss": 1.0, "error": 1.0}, "must contain the watched metric 'value'"),
        ({"value": [1, 2]}, "metric 'value'"),
        ({1: 1.0}, "names that are strings"),
        (np.array([1.0, 2.0]), "take its mean"),
    ],
)
def test_what_is_no_value_is_refused_and_the_journal_unharmed(value: Any, word: str) -> None:
    study = xs.Study(SPACE)
    trial = ask(study)
    with pytest.raises(InvalidReport, match=word):
        study.tell(trial, value)
    assert len(list(study.journal.read(0))) == 2
    study.tell(trial, 1.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_that_are_not_finite_fail_the_trial(value: float) -> None:
    study = xs.Study(SPACE, metric="error", method="random", max_budget=5)
    trial = ask(study)
    assert study.report(trial, {"error": 1.0, "other": math.nan}) is xs.Verdict.CONTINUE
    assert study.report(trial, {"error": value}) is xs.Verdict.STOP
    assert trial.state is xs.State.FAILED
    assert trial.reason == f"error is {value} at budget 2"
    with pytest.raises(NoValue, match=f"error is {value}"):
        _ = study.best


def test_reports_count_budgets_and_the_last_one_completes() -> None:
    study = xs.Study(SPACE, method="random", max_budget=3)
    trial = ask(study)
    for epoch in trial.epochs():
        assert study.report(trial, 1 / epoch) is xs.Verdict.CONTINUE
    assert trial.state is xs.State.COMPLETE
    assert [(reading.budget, reading.metrics["value"]) for reading in trial.reports] == [(1, 1), (2, 0.5), (3, 1 / 3)]
    study.tell(trial, 1 / 3)  # says nothing new
    with pytest.raises(InvalidReport, match="must be running"):
        study.tell(trial, 0.0)


@pytest.mark.parametrize(
    ("budget", "word"),
    [
        (1, "above the last one, 2"),
        (0, "at least 1"),
        (9, "not pass its target, 5"),
        (2.5, "whole number"),
        (True, "whole number"),
    ],
)
def test_budgets_that_go_back_or_too_far_are_refused(budget: Any, word: str) -> None:
    study = xs.Study(SPACE, method="random", max_budget=5)
    trial = ask(study)
    study.report(trial, 1.0, budget=2)
    with pytest.raises(InvalidReport, match=word):
        study.report(trial, 1.0, budget=budget)
    assert trial.budget == 2
    study.report(trial, 1.0, budget=4)


def test_a_trial_that_is_over_takes_no_report() -> None:
    study = xs.Study(SPACE)
    trial = ask(study)
    study.fail(trial, "boom")
    before = len(list(study.journal.read(0)))
    with pytest.raises(InvalidReport, match="state=failed"):
        study.report(trial, 1.0)
    study.fail(trial, "again")  # a second end says nothing new
    study.complete(trial)
    assert len(list(study.journal.read(0))) == before
    for number in (-1, 1, 99):
        with pytest.raises(UnknownTrial, match=f"no trial {number}"):
            study.tell(number, 1.0)


def test_failures_by_kind() -> None:
    study = xs.Study(SPACE, retries=0)
    for kind, state in {
        "exception": "failed",
        "timeout": "failed",
        "killed": "failed",
        "infeasible": "infeasible",
    }.items():
        trial = ask(study)
        study.fail(trial, f"a {kind}", kind=kind)
        assert trial.state.value == state
        assert trial.reason == f"a {kind}"
    with pytest.raises(InvalidArgument, match="must be one of"):
        study.fail(ask(study), "x", kind="bored")


def test_a_killed_trial_is_tried_again_as_often_as_asked_for() -> None:
    study = xs.Study(SPACE, retries=2)
    first = ask(study)
    for attempt in (1, 2):
        study.fail(first, "signal 9", kind="killed")
        again = ask(study)
        assert again is first
        assert again.attempt == attempt
    study.fail(first, "signal 9", kind="killed")
    assert first.state is xs.State.FAILED
    assert ask(study).number == 1


def test_added_observations_count_for_the_best_but_not_for_the_total() -> None:
    study = xs.Study(SPACE)
    study.add({"x": 0.25, "kind": "b"}, 0.5)
    assert study.best.config == {"x": 0.25, "kind": "b"}
    limits = xs.Limits(trials=1)
    assert study.ask(limits) is not None
    assert study.ask(limits) is None
    with pytest.raises(InvalidConfig, match="x"):
        study.add({"x": 7, "kind": "a"}, 0.5)
    with pytest.raises(InvalidReport, match="finite"):
        study.add({"x": 0.1, "kind": "a"}, math.nan)


@pytest.mark.parametrize("method", ["random", "sobol", "grid"])
def test_an_exhausted_space_ends_with_a_word(method: str) -> None:
    study = xs.Study(xs.Space(a=xs.Bool(), b=xs.Int(1, 3)), method=method)
    trials = []
    while (trial := study.ask()) is not None:
        trials.append(trial)
    assert len({(trial["a"], trial["b"]) for trial in trials}) == len(trials) == 6
    assert study.ended is None, "six trials still run"
    for trial in trials:
        study.tell(trial, 1.0)
    assert study.ask() is None
    assert study.ended is not None
    assert "all 6" in study.ended


def test_a_durable_study_is_resumed_and_continues_alike(storage: str, name: str) -> None:
    whole = xs.Study(SPACE, seed=9, method="sobol")
    run_trials(whole, 12, lambda trial: trial["x"])
    for _ in range(4):
        with xs.Study(SPACE, study=name, storage=storage, seed=9, method="sobol") as study:
            run_trials(study, 3, lambda trial: trial["x"])
    with xs.Study.open(name, storage=storage) as study:
        assert [trial.config for trial in study.history.trials] == [trial.config for trial in whole.history.trials]
        assert repr(study.best) == repr(whole.best)
        assert audit(study).findings == []


def test_a_different_study_by_the_same_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    xs.Study(SPACE, study="s", storage=path, seed=1, metric="error").close()
    wider = xs.Space(x=xs.Float(0, 2), kind=xs.Choice(["a", "b"]))
    with pytest.raises(StudyMismatch) as caught:
        xs.Study(
            wider, study="s", storage=path, seed=2, metric="loss", direction="maximize", method="sobol", max_budget=4
        )
    message = str(caught.value)
    for word in (
        *("space: x: high is", "metric: 'maximize loss' here, 'minimize error' in the stored study"),
        *("seed: 2 here, 1", "method: sobol here, auto in the stored study"),
        *("max_budget", "another study name"),
    ):
        assert word in message
    xs.Study(study="s", storage=path).close()  # nothing asked for, nothing to differ
    with pytest.raises(UnknownStudy, match="it has: s"):
        xs.Study.open("t", storage=path)


def test_opening_a_study_makes_no_storage(tmp_path: Path) -> None:
    with pytest.raises(UnknownStudy, match=r"no study 's': there is no storage .*misspelt\.db; check the path"):
        xs.Study.open("s", storage=tmp_path / "misspelt.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({}, "space"),
        ({"space": 3}, "must be an xs.Space"),
        ({"space": SPACE, "method": "magic"}, "must be one of"),
        ({"space": SPACE, "seed": -1}, "seed"),
        ({"space": SPACE, "metric": ""}, "metric"),
        ({"space": SPACE, "max_budget": 0}, "max_budget"),
        ({"space": SPACE, "max_budget": 2.5}, "max_budget"),
        ({"space": SPACE, "retries": 1.5}, "retries"),
        ({"space": SPACE, "storage": "x.db"}, "needs a name"),
        ({"space": SPACE, "study": "a/b"}, "letters, digits"),
        ({"space": SPACE, "study": ""}, "letters, digits"),
        ({"space": SPACE, "constraints": [("latency", 50.0)]}, "constraints: must map names"),
        ({"space": SPACE, "constraints": {3: 1.0}}, "constraints: must name metrics"),
        ({"space": SPACE, "constraints": {"value": 1.0}}, "constraints: .*other than 'value'"),
        ({"space": SPACE, "metric": "error", "constraints": {"error": 1.0}}, "constraints: .*other than 'error'"),
        *[
            ({"space": SPACE, "constraints": {"latency": value}}, "constraints: .*finite number")
            for value in (math.nan, math.inf, "fast", True)
        ],
        *[
            ({"space": SPACE, "constraints": {"size": bound}}, "constraints: the bound")
            for bound in (xs.at_least("high"), xs.between(2, 1))
        ],
    ],
)
def test_bad_settings_are_named(options: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidArgument, match=word):
        xs.Study(**options)


def test_threads_may_share_a_study(tmp_path: Path) -> None:
    study = xs.Study(SPACE, study="s", storage=tmp_path / "s.db")
    errors: list[BaseException] = []

    def work() -> None:
        try:
            run_trials(study, 20, lambda trial: trial["x"])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert study.history.count(xs.State.COMPLETE) == 80
    assert audit(study).findings == []
    study.close()


def test_closing_gives_up_what_runs(tmp_path: Path) -> None:
    with xs.Study(SPACE, study="s", storage=tmp_path / "s.db") as study:
        number = ask(study).number
    with xs.Study.open("s", storage=tmp_path / "s.db") as study:
        again = ask(study)
        assert again.number == number
        assert (again.attempt, again.runs.lost) == (1, 0), "closing is not held against a trial"
        study.tell(again, 1.0)


def test_an_audit_finds_what_was_tampered_with() -> None:
    study = xs.Study(SPACE, method="random", seed=1, max_budget=2)
    for _ in range(3):
        trial = ask(study)
        study.report(trial, 1.0)
        study.report(trial, 2.0)
    events = list(study.journal.read(0))
    assert audit(study).decisions == 9

    def findings(position: int, event: ev.Event) -> str:
        study.journal._events[position] = event  # type: ignore[attr-defined]
        found = audit(study).findings
        study.journal._events[position] = events[position]  # type: ignore[attr-defined]
        return " ".join(found)

    asked = events[4]
    assert isinstance(asked, ev.Asked)
    assert "config is" in findings(4, ev.Asked(1, {"x": 0.5, "kind": "a"}, "random", 4, 1.0, 2))
    assert "origin is" in findings(4, ev.Asked(1, asked.config, "gp", 4, 1.0, 2))
    assert "outside its space" in findings(4, ev.Asked(1, {"x": 5.0, "kind": "a"}, "random", 4, 1.0, 2))
    assert "claims to have seen" in findings(4, ev.Asked(1, asked.config, "random", 99, 1.0, 2))
    assert "recomputed it is Reported(trial=0" in findings(
        2, ev.Reported(0, 1, {"value": 1.0}, 1.0, 2, verdict=xs.Verdict.STOP)
    )
    assert "final=True" in findings(3, ev.Reported(0, 2, {"value": 1.0}, 1.0, 3))
    assert audit(study).findings == []


@pytest.mark.parametrize(
    ("argument", "given"),
    [("searcher", GP), ("searcher", "gp"), ("searcher", ASHA(9)), ("scheduler", ASHA), ("scheduler", "asha")],
)
def test_a_class_or_a_name_is_no_part(argument: str, given: Any) -> None:
    with pytest.raises(
        InvalidArgument, match=rf"^{argument}: must be a {argument}, not a class or a name, .*; e\.g\. "
    ):
        xs.Study(SPACE, **{argument: given})


def test_numpy_numbers_are_numbers() -> None:
    given: dict[str, Any] = {"seed": np.int64(3), "retries": np.int32(0), "constraints": {"size": np.float32(2.0)}}
    study = xs.Study(SPACE, **given)
    created = study.history.created
    assert (created.seed, created.retries, created.constraints) == (3, 0, {"size": 2.0})
    assert type(created.seed) is int
    ends: dict[str, Any] = {"trials": np.int64(3), "target": np.float32(-1.0)}
    result = xs.minimize(lambda trial: np.float32(trial["x"]), SPACE, seed=1, **ends)
    assert len(result.study.history.trials) == 3
