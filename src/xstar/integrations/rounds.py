"""What the callbacks of boosting libraries share: rounds in units of a budget, and a booster to go on from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xstar.core.checks import whole_number
from xstar.integrations import epochs_of


class Rounds:
    """The boosting rounds of one trial: ``every`` of them are one unit of budget, and one report.

    The booster is saved where the trial may be paused, and loaded when it goes on.
    """

    def __init__(self, trial: Any, *, every: int = 1) -> None:
        super().__init__()  # of a library's own kind of callback
        self._trial = trial
        self._every = whole_number("every", every, least=1, remedy="how many rounds are one unit of budget")
        self._saved = trial.load()
        self._done = 0 if self._saved is None else trial.start * self._every
        self._reported = 0
        self._kept = 0

    @property
    def rounds(self) -> int:
        """The rounds to train: ``max_budget × every``, less those that the saved booster has."""
        return epochs_of(self._trial) * self._every - self._done

    def _completed(self, rounds: int, metrics: Mapping[str, float], dump: Callable[[], Any]) -> None:
        """So many rounds are done, in all; raises ``xs.Pruned`` when the trial shall go no further."""
        if rounds % self._every:
            return
        budget = rounds // self._every
        if budget == self._trial.stop:  # saving every round would cost more than it saves
            self._trial.save(dump(), epoch=budget)
            self._kept = budget
        self._reported = budget
        self._trial.report(metrics, budget)

    def _ended(self, dump: Callable[[int], Any]) -> None:
        """Training is over, maybe early: what ``dump`` makes of so many rounds is kept, those of the last report."""
        if self._reported > self._kept:
            self._keep(dump)

    def _keep(self, dump: Callable[[int], Any]) -> None:
        """The same, in place of what was kept at the last report, if any."""
        if self._reported:
            self._trial.save(dump(self._reported * self._every), epoch=self._reported)
            self._kept = self._reported
