"""The best trade-offs so far, of a study with several objectives: complete, feasible trials that no other dominates.

With one objective there is ``incumbent.py``; the history asks either of them the same questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.core.goals import Goals, Losses
from xstar.core.pareto import dominates
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

    __slots__ = ("_thresholds", "members", "steps")

    def __init__(self, goals: Goals) -> None:
        self._thresholds = np.array(goals.thresholds)
        self.members: dict[int, Losses] = {}
        """Trial → its losses, in the order in which they came."""
        self.steps: list[Joined] = []
        """Every trial that came to the front, in the order of the journal."""

    @property
    def in_order(self) -> list[int]:
        """The trials, the best in the first objective first."""
        return sorted(self.members, key=lambda number: (self.members[number], number))

    def end(self, trial: Trial, at: float, begun: int) -> bool:
        """Take notice of a trial's end; returns whether it has come to the front.

        One that is beyond a threshold does not: it is of no interest, whatever its other objectives are. Of equal trials the
        first one stays alone.
        """
        if trial.state is not State.COMPLETE or trial.losses is None:
            return False
        losses = trial.losses
        if (np.array(losses) > self._thresholds).any():
            return False
        if any(own == losses or dominates(own, losses) for own in self.members.values()):
            return False
        for number in [number for number, own in self.members.items() if dominates(losses, own)]:
            del self.members[number]
        self.members[trial.number] = losses
        self.steps.append(Joined(at, begun, trial, len(self.members)))
        return True
