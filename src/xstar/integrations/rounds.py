"""What the callbacks of boosting libraries share: rounds in units of a budget, and a booster to go on from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xstar.core.checks import whole_number
from xstar.errors import InvalidArgument


class Rounds:
    """The boosting rounds of one trial: ``every`` of them are one unit of budget, and one report.

    The booster is saved where the trial may be paused, and loaded when it goes on.
    """

    def __init__(self, trial: Any, every: int = 1) -> None:
        self.trial = trial
        self.every = whole_number("every", every, least=1, remedy="how many rounds are one unit of budget")
        self.saved = trial.load()
        self.done = 0 if self.saved is None else trial.start * self.every
        """Rounds that the saved booster has."""

    @property
    def left(self) -> int:
        """Rounds to a full training: ``max_budget × every`` in all."""
        if self.trial.max_budget is None:
            rule, remedy = "is needed to count the rounds that are left", "pass max_budget=… to the search"
            raise InvalidArgument("max_budget", rule, None, remedy)
        return int(self.trial.max_budget * self.every - self.done)

    def completed(self, rounds: int, metrics: Mapping[str, float], dump: Callable[[], Any]) -> None:
        """So many rounds are done, in all; raises ``xs.Pruned`` when the trial shall go no further."""
        if rounds % self.every:
            return
        budget = rounds // self.every
        if budget == self.trial.stop:  # saving every round would cost more than it saves
            self.trial.save(dump(), epoch=budget)
        self.trial.report(metrics, budget)
