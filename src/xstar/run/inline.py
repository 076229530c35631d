"""One trial at a time, in this very process: nothing to pickle, breakpoints work. The default for one worker."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NoReturn

from xstar.core.goals import Goals
from xstar.core.hints import warn_once
from xstar.errors import Pruned
from xstar.journal.trial import Job, Noted, Outcome, Report, Verdict
from xstar.run.contract import TICK
from xstar.run.descriptors import Witness
from xstar.run.devices import HERE, Place
from xstar.run.objective import Objective, Streams, check_objective
from xstar.run.orphans import end_orphan, take_over
from xstar.run.run import Answer, run_job


def _nobody(outcome: Outcome) -> NoReturn:
    raise AssertionError(
        "an InlineExecutor needs a listener: its objective waits for the answer to a report within poll()"
    )


class InlineExecutor:
    """Runs the objective within one call of ``poll``; its reports go to the ``listener`` meanwhile."""

    uses_files = True

    def __init__(self, objective: Objective, goals: Goals, place: Place = HERE) -> None:
        check_objective(objective)
        self.listener: Callable[[Outcome], None] = _nobody
        self._objective = objective
        self._goals = goals
        self._place = place
        self._job: Job | None = None
        self._answer: Answer | None = None
        self._error: BaseException | None = None
        self._streams = Streams()
        self._witness = Witness()

    def free(self) -> int:
        return 0 if self._job is not None else 1

    def idle(self) -> bool:
        return self._job is None

    def submit(self, job: Job) -> None:
        assert self._job is None, "submit only while free() > 0"
        if job.attempt:
            take_over(job)
            end_orphan(job.directory)
        self._job = job

    def poll(self) -> list[Outcome]:
        job = self._job
        if job is None:
            time.sleep(TICK)
            return []
        self._answer = self._error = None
        self._streams = Streams()
        try:
            outcome = run_job(self._objective, self._goals, job, self, self._place)
        finally:
            self._streams.put_back()
        if self._error is not None:
            raise self._error
        self._witness.check(job.trial)
        self._job = None
        return [outcome]

    def obey(self, report: Report, verdict: Verdict, stop: int | None) -> None:
        self._answer = Answer(verdict is not Verdict.CONTINUE, stop)

    def close(self) -> None:
        self._job = None
        self._witness.close()

    # ------------------------------------------------------------ the channel of its own run

    def report(self, budget: int, metrics: dict[str, float]) -> None:
        job = self._job
        assert job is not None
        self._tell(Report(job.trial, job.attempt, budget, metrics))

    def note(self, attrs: dict[str, Any]) -> None:
        job = self._job
        assert job is not None
        self._tell(Noted(job.trial, job.attempt, attrs))

    def warn(self, key: str, text: str) -> None:
        warn_once(key, text)

    def answer(self, *, wait: bool) -> Answer | None:
        found, self._answer = self._answer, None
        return found

    def _tell(self, outcome: Outcome) -> None:
        """An error of the listener is none of the objective's, which might even catch it: end that, then raise this."""
        if self._error is None:
            try:
                self._witness.check(outcome.trial)
                self._streams.reopen()  # what shows the search may write to them
                self.listener(outcome)
                return
            except BaseException as error:
                self._error = error
        raise Pruned("the search ends")
