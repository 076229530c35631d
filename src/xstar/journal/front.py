"""The best trade-offs so far, of a study with several objectives: complete, feasible trials that no other dominates.

With one objective there is ``incumbent.py``; the history asks either of them the same questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.core.goals import Goals
from xstar.core.pareto import nowhere_above
from xstar.trial import State, Trial


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
