"""What every executor must do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from xstar.errors import Infeasible, Pruned
from xstar.journal.trial import Failure, Finished, Job, Noted, Outcome, Report, Verdict
from xstar.run import Executor, Objective, RunsInPoll

MOST_POLLS = 1_000
"""Polls before a job counts as stuck: on a busy machine a worker takes many to start."""

LONG = 10_000
"""Epochs of a run that is to be stopped: more than it trains before it hears of it, however busy the machine is."""


def check_executor(make: Callable[[Objective], Executor], folder: Path) -> None:
    """``make(objective)`` gives an executor that watches the metric ``"value"``."""

    executor = make(_behave)
    try:
        _check(executor, folder)
    finally:
        executor.close()


def _check(executor: Executor, folder: Path) -> None:
    def reports(job: Job, *, verdict: Verdict = Verdict.CONTINUE) -> list[Outcome]:
        assert executor.idle(), "a new executor runs nothing, nor does one whose jobs have ended"
        assert executor.free() >= 1, "such an executor takes a job"
        found: list[Outcome] = []

        def hear(outcome: Outcome) -> None:
            found.append(outcome)
            if isinstance(outcome, Report):
                assert job.stop is not None
                executor.obey(outcome, verdict, job.stop if outcome.budget < job.stop else job.full)

        if isinstance(executor, RunsInPoll):
            executor.listener = hear
        executor.submit(job)
        assert not executor.idle(), "a submitted job counts as running at once"
        for _ in range(MOST_POLLS):
            for outcome in executor.poll():
                hear(outcome)
            if found and isinstance(found[-1], Finished | Failure):
                break
        assert found, "nothing happened"
        assert isinstance(found[-1], Finished | Failure), "every job ends with Finished or Failure"
        return found

    def job(mode: str, start: int = 0, stop: int = 3, attempt: int = 0, full: int = 3) -> Job:
        return Job(4, {"mode": mode}, attempt, start, stop, full, str(folder / mode))

    found = reports(job("return"))
    assert [(r.budget, r.metrics) for r in found if isinstance(r, Report)] == [(3, {"value": 1.5})], "a returned number"
    assert all(outcome.trial == 4 and outcome.attempt == 0 for outcome in found), (
        "outcomes name their trial and attempt"
    )
    found = reports(job("yield"))
    budgets = [(r.budget, r.metrics["value"]) for r in found if isinstance(r, Report)]
    assert budgets == [(1, 1.0), (2, 2.0), (3, 3.0)], "one report per yield"
    assert isinstance(found[-1], Finished), "a generator that ends is finished"
    found = reports(job("yield", start=2, attempt=1))
    assert [r.budget for r in found if isinstance(r, Report)] == [3], "a resumed run reports only what is new"
    found = reports(job("yield", stop=2, full=5))
    assert [r.budget for r in found if isinstance(r, Report)] == [1, 2, 3, 4, 5], (
        "told to go on at its stop, a run does"
    )
    found = reports(job("return", stop=2, full=5))
    assert [r.budget for r in found if isinstance(r, Report)] == [2, 5], "an objective that returns is called again"
    found = reports(job("yield", stop=2, full=5), verdict=Verdict.PAUSE)
    assert len(found) <= 3, "a run that is paused goes no further than its stop"
    assert isinstance(found[-1], Finished), "a paused run is finished, its worker free"
    found = reports(job("long", stop=LONG, full=LONG), verdict=Verdict.STOP)
    assert sum(isinstance(r, Report) for r in found) < LONG, "a stopped run ends early"
    assert isinstance(found[-1], Finished), "a stopped run is finished, not failed"
    _check_reporting(reports, job)
    _check_saving(reports, job)
    _check_promotion(executor, job)
    failures = {
        "raise": ("exception", "on purpose"),
        "infeasible": ("infeasible", "too large"),
        "none": ("report", "must be a number"),
        "both": ("report", "yields or reports, not both"),
        "report another": ("report", "reported last"),
    }
    for mode, (kind, word) in failures.items():
        last = reports(job(mode))[-1]
        assert isinstance(last, Failure), f"{mode}: must fail"
        assert last.kind == kind, f"{mode}: kind is {last.kind}"
        assert word in last.reason, f"{mode}: the reason does not say {word!r}: {last.reason}"


class _Reports(Protocol):
    """Runs a job on a new executor, gives every report the verdict, and returns all that came of it."""

    def __call__(self, job: Job, *, verdict: Verdict = Verdict.CONTINUE) -> list[Outcome]: ...


class _MakeJob(Protocol):
    def __call__(self, mode: str, start: int = 0, stop: int = 3, attempt: int = 0, full: int = 3) -> Job: ...


def _check_reporting(reports: _Reports, job: _MakeJob) -> None:
    found = reports(job("report", stop=2, full=5))
    assert [(r.budget, r.metrics["value"]) for r in found if isinstance(r, Report)] == [
        (epoch, float(epoch)) for epoch in range(1, 6)
    ], "trial.report goes on at its stop as a generator does"
    assert isinstance(found[-1], Finished), "an objective that reported and returned is finished"
    noted = [outcome for outcome in found if isinstance(outcome, Noted)]
    assert noted == [Noted(4, 0, {"seen": [1, 2]})], "trial.note is sent with the next report, once"
    found = reports(job("report", stop=2, full=5), verdict=Verdict.PAUSE)
    assert len([r for r in found if isinstance(r, Report)]) <= 2, "xs.Pruned ends a paused run at its stop"
    assert isinstance(found[-1], Finished), "xs.Pruned is a clean end, though the objective catches exceptions"
    found = reports(job("report long", stop=LONG, full=LONG), verdict=Verdict.STOP)
    assert sum(isinstance(r, Report) for r in found) < LONG, "a stopped run ends at one of its next reports"
    assert isinstance(found[-1], Finished), "a run stopped by xs.Pruned is finished, not failed"
    found = reports(job("report thread"), verdict=Verdict.STOP)
    assert isinstance(found[-1], Finished), "a thread of the objective may report, and gets xs.Pruned"


def _check_saving(reports: _Reports, job: _MakeJob) -> None:
    found = reports(job("save", stop=2, full=2))
    assert [r.metrics["value"] for r in found if isinstance(r, Report)] == [1.0, 2.0]
    found = reports(job("save", start=2, stop=4, attempt=1, full=4))
    told = [(r.budget, r.metrics["value"]) for r in found if isinstance(r, Report)]
    assert told == [(3, 3.0), (4, 4.0)], (
        "trial.load gives the state after the last report, trial.epochs goes on from there"
    )
    found = reports(job("save", start=3, stop=5, attempt=2, full=5))
    told = [(r.budget, r.metrics["value"]) for r in found if isinstance(r, Report)]
    assert told == [(4, 4.0), (5, 5.0)], "a state that is ahead of the record is not loaded"


def _check_promotion(executor: Executor, job: _MakeJob) -> None:
    """A trial that was paused goes on, at once where there is room for it."""
    waiting = [job("close slowly", start=1, stop=2, attempt=1)]
    ended: list[Outcome] = []

    def hear(outcome: Outcome) -> None:
        if isinstance(outcome, Report):
            executor.obey(outcome, Verdict.PAUSE, None)
        elif not isinstance(outcome, Noted):
            ended.append(outcome)
        if waiting and executor.free():
            executor.submit(waiting.pop())

    if isinstance(executor, RunsInPoll):
        executor.listener = hear
    executor.submit(job("close slowly", stop=1))
    for _ in range(MOST_POLLS):
        for outcome in executor.poll():
            hear(outcome)
        if len(ended) == 2:
            break
    assert ended == [Finished(4, 0), Finished(4, 1)], f"two runs of a trial are not at work at once: {ended}"


def _behave(trial: Any) -> Any:
    match trial["mode"]:
        case "close slowly":
            return _close_slowly(trial)
        case "report":
            trial.note("seen", [1, 2])
            return _report(trial)
        case "report long":
            return _report(trial, pause=0.01)
        case "report thread":
            return _report_from_a_thread(trial)
        case "report another":
            trial.report(1.0)
            return 2.0
        case "both":
            return _both(trial)
        case "save":
            return _save(trial)
        case "return":
            return 1.5
        case "yield":
            return _epochs(trial)
        case "long":
            return _slow_epochs(trial)
        case "raise":
            raise RuntimeError("failed on purpose")
        case "infeasible":
            raise Infeasible("too large")
    return None


def _epochs(trial: Any) -> Iterator[float]:
    (trial.checkpoint / "saved").write_text("yes")
    for epoch in trial.epochs():
        yield float(epoch)


def _close_slowly(trial: Any) -> Iterator[float]:
    import time

    running = trial.checkpoint.parent / "running"  # not in the checkpoint, which may travel with it
    running.touch(exist_ok=False)
    try:
        for epoch in trial.epochs():
            yield float(epoch)
    finally:
        time.sleep(0.1)
        running.unlink()


def _slow_epochs(trial: Any) -> Iterator[float]:
    import time

    for epoch in trial.epochs():
        time.sleep(0.01)
        yield float(epoch)


def _report(trial: Any, pause: float = 0.0) -> float:
    import time

    for epoch in trial.epochs():
        time.sleep(pause)
        with suppress(Exception):  # a library between the loop and the objective that holds on to errors
            trial.report({"value": float(epoch)}, budget=epoch)
    return float(epoch)


def _report_from_a_thread(trial: Any) -> None:
    caught: list[BaseException] = []

    def report_all() -> None:
        try:
            for _ in range(100):
                trial.report(1.0)
        except Pruned as ended:
            caught.append(ended)

    thread = threading.Thread(target=report_all)
    thread.start()
    thread.join()
    assert caught
    assert trial.pruned
    try:
        trial.report(2.0)
    except Pruned:
        return
    raise AssertionError("a report after xs.Pruned raises it again")


def _both(trial: Any) -> Iterator[float]:
    trial.report(1.0)
    yield 1.0


def _save(trial: Any) -> None:
    trained = trial.load() or {"epochs": 0}
    for _ in trial.epochs():
        trained["epochs"] += 1
        trial.save(trained)
        trial.report(float(trained["epochs"]))
