"""What every executor must do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from xstar.errors import Infeasible
from xstar.executors import Executor, Objective, RunsInPoll
from xstar.trial import Failure, Finished, Job, Outcome, Report, Verdict

PATIENCE = 200
"""Polls before a job counts as stuck."""


def check_executor(make: Callable[[Objective], Executor], folder: Path) -> None:
    """``make(objective)`` gives an executor that watches the metric ``"value"``."""

    def reports(job: Job, objective: Objective = _behave, verdict: Verdict = Verdict.CONTINUE) -> list[Outcome]:
        executor = make(objective)
        try:
            assert executor.idle(), "a new executor runs nothing"
            assert executor.free() >= 1, "a new executor takes a job"
            found: list[Outcome] = []

            def hear(outcome: Outcome) -> None:
                found.append(outcome)
                if isinstance(outcome, Report):
                    executor.obey(outcome, verdict, job.full)

            if isinstance(executor, RunsInPoll):
                executor.listener = hear
            executor.submit(job)
            assert not executor.idle(), "a submitted job counts as running at once"
            for _ in range(PATIENCE):
                for outcome in executor.poll():
                    hear(outcome)
                if found and not isinstance(found[-1], Report):
                    break
            assert found, "nothing happened"
            assert isinstance(found[-1], Finished | Failure), "every job ends with Finished or Failure"
            assert executor.idle(), "a job that ended no longer runs"
            return found
        finally:
            executor.close()

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
    found = reports(job("long", stop=50, full=50), verdict=Verdict.STOP)
    assert sum(isinstance(r, Report) for r in found) < 50, "a stopped run ends early"
    assert isinstance(found[-1], Finished), "a stopped run is finished, not failed"
    failures = {
        "raise": ("exception", "on purpose"),
        "infeasible": ("infeasible", "too large"),
        "none": ("exception", "must be a number"),
    }
    for mode, (kind, word) in failures.items():
        last = reports(job(mode))[-1]
        assert isinstance(last, Failure), f"{mode}: must fail"
        assert last.kind == kind, f"{mode}: kind is {last.kind}"
        assert word in last.reason, f"{mode}: the reason does not say {word!r}: {last.reason}"


def _behave(trial: Any) -> Any:
    match trial["mode"]:
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


def _slow_epochs(trial: Any) -> Iterator[float]:
    import time

    for epoch in trial.epochs():
        time.sleep(0.05)
        yield float(epoch)
