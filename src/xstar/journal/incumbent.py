"""The best so far, now and at any time before: the one place that says what it is.

Values are compared at equal budgets only. A complete trial has its full budget, so the best of the complete trials is the
incumbent; before there is one, it is the best of those that got furthest, at the highest budget that any trial has reached.
Without that rule the lucky first epoch of one trial would stand against the last epoch of another. What a trial's value is,
its last report or its best one up to that budget, the study says (``Created.best``).

Of several objectives it is the front: the complete, feasible trials that no other dominates.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xstar.core.goals import Goals
from xstar.core.pareto import nowhere_above
from xstar.journal.trial import State, Trial


@dataclass(frozen=True, slots=True)
class Step:
    """What was the best from some moment on, until the next step."""

    at: float
    """The moment, on the study's clock."""
    begun: int
    """How many trials had been begun by then."""
    trial: Trial | None
    """``None``: the only trial with a value failed after all."""
    value: float
    """In the user's own direction; NaN where there is no trial."""
    budget: int
    complete: bool
    """Whether the trial is complete. From the first such step on all are, and the values only get better."""


class Incumbent:
    """Follows the best trial through a history. Each call costs O(log n), amortised."""

    __slots__ = ("_best", "_excluded", "_partial", "_trials", "steps")

    def __init__(self, trials: list[Trial], excluded: Callable[[Trial], bool]) -> None:
        self.steps: list[Step] = []
        """Every change of the best, in the order of the journal."""
        self._trials = trials
        self._excluded = excluded
        self._best: Trial | None = None
        # A heap of (-budget, loss, number) of reports. One whose trial has reported again is dropped when it is met.
        self._partial: list[tuple[int, float, int]] = []

    @property
    def best(self) -> Trial | None:
        """The best trial at the moment."""
        if self._best is not None:
            return self._best
        while self._partial:
            budget, loss, number = self._partial[0]
            trial = self._trials[number]
            if trial.scores[0] == loss and trial.budget == -budget and not self._fails(trial):
                return trial
            heapq.heappop(self._partial)
        return None

    def report(self, trial: Trial, at: float) -> None:
        """Take notice of a trial's new report."""
        if self._best is None:
            heapq.heappush(self._partial, (-trial.budget, trial.scores[0], trial.number))
            self._note(at)

    def end(self, trial: Trial, at: float) -> bool:
        """Take notice of a trial's end; returns whether it is now the best of the complete trials."""
        better = trial.state is State.COMPLETE and trial.loss is not None
        if better and self._best is not None:
            better = (trial.scores, trial.number) < (self._best.scores, self._best.number)
        if better:
            self._best = trial
            self._partial.clear()
        if better or self._best is None:
            self._note(at)
        return better

    def _note(self, at: float) -> None:
        """Keep the step, if this is one."""
        best, last = self.best, self.steps[-1] if self.steps else None
        if best is None:
            if last is not None and last.trial is not None:
                self.steps.append(Step(at, len(self._trials), None, float("nan"), 0, False))
            return
        assert best.value is not None
        complete = self._best is not None
        if last is not None and (last.trial, last.budget, last.value) == (best, best.budget, best.value):
            if complete == last.complete:
                return
            self.steps.pop()  # its last report came with its end
        self.steps.append(Step(at, len(self._trials), best, best.value, best.budget, complete))

    def _fails(self, trial: Trial) -> bool:
        return trial.state in (State.FAILED, State.INFEASIBLE) or self._excluded(trial)


# ---------------------------------------------------------------- several objectives


@dataclass(frozen=True, slots=True)
class Joined:
    """A trial that came to the front."""

    at: float
    """The moment, on the study's clock."""
    begun: int
    """How many trials had been begun by then."""
    trial: Trial
    front: int
    """How many trials were in the front from then on."""


class Front:
    """Follows the front through a history. A trial that ends is compared with the front alone."""

    __slots__ = ("_in_order", "_losses", "_thresholds", "_trials", "steps")

    def __init__(self, goals: Goals) -> None:
        self._thresholds = np.array(goals.thresholds)
        self._losses = np.empty((len(goals), 0))
        self._trials = np.empty(0, dtype=np.intp)
        self._in_order: list[int] | None = []
        self.steps: list[Joined] = []
        """Every trial that came to the front, in the order of the journal."""

    def __len__(self) -> int:
        return len(self._trials)

    @property
    def in_order(self) -> list[int]:
        """The trials, the best in the first objective first."""
        if self._in_order is None:
            self._in_order = self._trials[np.lexsort((self._trials, *self._losses[::-1]))].tolist()
        return self._in_order

    def end(self, trial: Trial, at: float, begun: int) -> bool:
        """Take notice of a trial's end; returns whether it has come to the front.

        One that is beyond a threshold does not: it is of no interest, whatever its other objectives are. Of equal trials the
        first one stays alone.
        """
        if trial.state is not State.COMPLETE or trial.losses is None:
            return False
        losses = np.array(trial.losses)[:, None]
        if (losses[:, 0] > self._thresholds).any() or nowhere_above(self._losses, losses).any():
            return False
        stay = ~nowhere_above(losses, self._losses)
        self._losses = np.concatenate([self._losses[:, stay], losses], axis=1)
        self._trials = np.append(self._trials[stay], trial.number)
        self._in_order = None
        self.steps.append(Joined(at, begun, trial, len(self)))
        return True
