"""What tests of executors share."""

from __future__ import annotations

from typing import Any

from xstar.core.goals import DEFAULT
from xstar.journal.trial import Failure, Finished, Job
from xstar.run import Answer, Objective, run_job


class Recorder:
    """A channel that keeps what a run says, and answers from a list: at its stop, else when it is asked."""

    def __init__(self, *answers: Answer | None) -> None:
        self.reports: list[tuple[int, dict[str, float]]] = []
        self.notes: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self.waits: list[int] = []
        self._answers = list(answers)

    def report(self, budget: int, metrics: dict[str, float]) -> None:
        self.reports.append((budget, metrics))

    def note(self, attrs: dict[str, Any]) -> None:
        self.notes.append(attrs)

    def warn(self, key: str, text: str) -> None:
        self.warnings.append(key)

    def answer(self, *, wait: bool) -> Answer | None:
        if wait:
            self.waits.append(self.reports[-1][0])
        found = self._answers.pop(0) if self._answers else None
        return found or (Answer(False, self.reports[-1][0]) if wait else None)

    @property
    def budgets(self) -> list[int]:
        return [budget for budget, _ in self.reports]


def run(objective: Objective, job: Job, channel: Recorder) -> Finished | Failure:
    return run_job(objective, DEFAULT, job, channel)
