"""``trial.report``: the same step as a yield, a clean end by ``xs.Pruned``, and what may not be mixed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.run.cases import Recorder, run
from xstar.core.goals import DEFAULT
from xstar.errors import InvalidReport, ObjectiveError, StorageError
from xstar.journal.trial import Failure, Finished, Job
from xstar.look.audit import audit
from xstar.run import Answer, InlineExecutor
from xstar.run.running import RunningTrial
from xstar.schedulers import ASHA, StoppingASHA
from xstar.study.loop import run as run_study

SPACE = xs.Space(x=xs.Float(0, 1))


def job(
    start: int = 0, stop: int | None = 3, attempt: int = 0, full: int | None = 9, folder: Path | None = None
) -> Job:
    return Job(0, {"x": 0.5}, attempt, start, stop, full, None if folder is None else str(folder))


def yielding(trial: Any) -> Iterator[float]:
    for epoch in trial.epochs():
        yield trial["x"] + 1 / epoch


def reporting(trial: Any) -> None:
    for epoch in trial.epochs():
        trial.report(trial["x"] + 1 / epoch)


def framework(trial: Any) -> None:
    """A library that owns its loop, trains as long as it was told to, and holds on to every error of a callback."""
    done = 0
    for epoch in range(trial.start + 1, trial.max_budget + 1):
        done = epoch
        try:
            trial.report({"value": trial["x"] + 1 / epoch}, budget=epoch)
        except Exception as error:
            raise AssertionError("xs.Pruned is no Exception") from error
    assert done == trial.max_budget


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("scheduler", [ASHA(9), StoppingASHA(9)])
def test_all_forms_are_judged_alike(scheduler: Any, workers: int) -> None:
    found = []
    for objective in (yielding, reporting, framework):
        # One trial at a time, so that workers cannot change the order; a time limit makes worker processes.
        options: Any = {"executor": xs.Processes(timeout=10_000)} if workers == 2 else {}
        study = xs.minimize(objective, SPACE, trials=12, scheduler=scheduler, method="random", seed=3, **options).study
        assert audit(study).findings == []
        rows = [(t.config, t.state, [(r.budget, r.metrics) for r in t.reports]) for t in study.trials]
        assert all(trial.state is not xs.State.FAILED for trial in study.trials), [t.reason for t in study.trials]
        assert len({trial.budget for trial in study.trials}) > 1
        found.append(rows)
    assert found[1] == found[0]
    assert found[2] == found[0]


def test_it_waits_where_a_generator_waits() -> None:
    for objective in (yielding, reporting):
        channel = Recorder(None, Answer(False, 4))
        assert run(objective, job(stop=2), channel) == Finished(0, 0)
        assert channel.budgets == [1, 2, 3, 4]
        assert channel.waits == [2, 4]


def test_a_verdict_in_between_ends_it_at_that_report() -> None:
    trials: list[RunningTrial] = []

    def endless(trial: Any) -> None:
        trials.append(trial)
        while True:
            trial.report(1.0)

    channel = Recorder(None, Answer(True))
    assert run(endless, job(stop=None), channel) == Finished(0, 0)
    assert channel.budgets == [1, 2]
    assert trials[-1].pruned


def test_a_report_too_many_ends_the_trial() -> None:
    def long(trial: Any) -> None:
        for _ in range(100):
            trial.report(1.0)

    channel = Recorder()
    assert run(long, job(stop=3, full=3), channel) == Finished(0, 0)
    assert channel.budgets == [1, 2, 3]


def test_pruned_is_raised_again_and_a_swallowed_one_changes_nothing() -> None:
    def stubborn(trial: Any) -> float:
        for _ in range(5):
            try:
                trial.report(1.0)
            except xs.Pruned:
                assert trial.pruned
        return 7.0  # after it was told to end nobody looks

    channel = Recorder(Answer(True))
    assert run(stubborn, job(), channel) == Finished(0, 0)
    assert channel.budgets == [1]


@pytest.mark.parametrize("returned", [None, 2.0, {"value": 2.0, "size": 3.0}])
def test_what_may_be_returned_after_reports(returned: Any) -> None:
    def objective(trial: Any) -> Any:
        trial.report(1.0)
        trial.report({"value": 2.0})
        return returned

    channel = Recorder()
    assert run(objective, job(), channel) == Finished(0, 0)
    assert channel.budgets == [1, 2]


@pytest.mark.parametrize("budgets", [[2], [1, 1], [1, 3], [0], [1.5], ["1"]])
def test_budgets_follow_each_other(budgets: list[Any]) -> None:
    def objective(trial: Any) -> None:
        for budget in budgets:
            trial.report(1.0, budget=budget)

    outcome = run(objective, job(), Recorder())
    assert isinstance(outcome, Failure)
    first = budgets[0] == 1
    rule = "must be one more than the last, 1" if first else "must be 1 in the first report: epochs count from 1"
    assert f"budget: {rule}, but got {budgets[-1]!r}" in outcome.reason


def test_a_resumed_loop_says_where_its_checkpoint_was(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "model").touch()

    def objective(trial: Any) -> None:
        assert trial.start == 5
        for epoch in range(4, 8):  # its checkpoint held three epochs
            trial.report(float(epoch), budget=epoch)

    channel = Recorder()
    assert run(objective, job(start=5, stop=7, attempt=1, folder=tmp_path), channel) == Finished(0, 1)
    assert channel.reports == [(6, {"value": 6.0}), (7, {"value": 7.0})]


def test_threads_report_one_at_a_time() -> None:
    def objective(trial: Any) -> None:
        def some() -> None:
            for _ in range(50):
                trial.report(1.0)

        threads = [threading.Thread(target=some) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    channel = Recorder()
    assert run(objective, job(stop=200, full=200), channel) == Finished(0, 0)
    assert channel.budgets == list(range(1, 201))


def test_a_thread_that_outlives_its_objective_reports_nothing() -> None:
    gate, ended = threading.Event(), []

    def objective(trial: Any) -> float:
        def late() -> None:
            gate.wait()
            try:
                trial.report(5.0)
            except xs.Pruned:
                ended.append(True)

        trial.thread = threading.Thread(target=late)
        trial.thread.start()
        threads.append(trial.thread)
        trial.report(1.0)
        return 1.0

    threads: list[threading.Thread] = []
    channel = Recorder()
    assert run(objective, job(), channel) == Finished(0, 0)
    gate.set()
    threads[0].join()
    assert ended == [True]
    assert channel.budgets == [1]


def test_bad_metrics_raise_where_they_are_reported() -> None:
    def objective(trial: Any) -> None:
        with pytest.raises(InvalidReport, match="must be a number"):
            trial.report("0.5")
        trial.report(0.5)

    channel = Recorder()
    assert run(objective, job(), channel) == Finished(0, 0)
    assert channel.budgets == [1]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("epochs", "method"), [(4, "random"), (9, "random"), (9, "asha")])
def test_another_value_returned_is_refused_before_and_at_full_budget(epochs: int, method: str, workers: int) -> None:
    def objective(trial: Any) -> float:
        for epoch in range(epochs):
            trial.report(trial["x"] + epoch)
        return float(trial["x"])

    with pytest.raises(ObjectiveError, match="returns nothing, or the value that it reported last, but got returned="):
        xs.minimize(objective, SPACE, trials=20, max_budget=9, method=method, workers=workers, seed=0)


def test_what_goes_wrong_after_the_last_report_is_told(caplog: pytest.LogCaptureFixture) -> None:
    def objective(trial: Any) -> float | None:
        trial.report(trial["x"])
        if trial.number == 2:
            raise ValueError("no room for the plot")
        return 7.0 if trial.number == 1 else None

    study = xs.minimize(objective, SPACE, trials=3, max_budget=1, method="random", seed=0, progress=False).study
    assert [trial.state for trial in study.trials] == [xs.State.COMPLETE] * 3
    told = [line.removeprefix("trial ") for line in caplog.messages if "its last report stands, but then: " in line]
    assert [line[:10] for line in told] == ["1 complete", "2 complete"]
    assert "returned=7" in told[0]
    assert told[1].endswith("then: ValueError: no room for the plot")


def test_a_copy_cannot_report() -> None:
    import pickle

    def objective(trial: Any) -> float:
        copy = pickle.loads(pickle.dumps(trial))
        assert copy.config == trial.config
        with pytest.raises(ObjectiveError, match="only the process that the objective was called in can"):
            copy.report(1.0)
        return 1.0

    assert run(objective, job(), Recorder()) == Finished(0, 0)


def test_an_error_of_the_search_is_not_the_objectives() -> None:
    """Inline the journal is written below the objective; what fails there passes it by, whatever it catches."""
    study = xs.Study(SPACE, seed=1, max_budget=3, method="random")
    seen: list[str] = []

    def objective(trial: Any) -> None:
        try:
            trial.report(1.0)
        except BaseException as error:
            seen.append(type(error).__name__)

    def fail(*args: object, **options: object) -> Any:
        raise StorageError("the database is gone")

    study.report = fail  # type: ignore[method-assign]
    with pytest.raises(StorageError, match="the database is gone"):
        run_study(study, InlineExecutor(objective, DEFAULT), xs.Limits(trials=1))
    assert seen == ["Pruned"]
    assert study.trials[0].state is xs.State.WAITING


@pytest.mark.parametrize("workers", [1, 2])
def test_notes_are_on_record(workers: int) -> None:
    def objective(trial: Any) -> float:
        trial.note("parameters", 1200)
        trial.note("parameters", 1300)
        trial.report(1.0)
        trial.note("tags", ["small", trial.number])
        return 1.0

    study = xs.minimize(objective, SPACE, trials=2, workers=workers, method="random").study
    for trial in study.trials:
        assert trial.attrs == {"parameters": 1300, "tags": ["small", trial.number]}
    with pytest.raises(xs.XstarError, match="JSON"):
        RunningTrial(job()).note("bad", object())
