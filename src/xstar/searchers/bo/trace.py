"""What a decision was made of, for those who explain it or compare it with another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from xstar.journal.trial import Config
from xstar.models.kernels import Array
from xstar.searchers.acquisition.criterion import Criterion, LogProbability
from xstar.searchers.acquisition.hypervolume import HypervolumeCriterion
from xstar.searchers.bo.surrogate import Data, DecisionSettings, Known

MOST_LEADING = 6
APART = 0.05
"""The share of a parameter's range by which runners-up differ: the optimiser ends at the same point from many starts."""

AnyCriterion = Criterion | HypervolumeCriterion


@dataclass
class DecisionTrace:
    """What a decision was made of. Who wants one explained puts a trace into ``history.memo`` before it is made again."""

    data: Data | None = None
    settings: DecisionSettings | None = None
    known: Known | None = None
    criterion: AnyCriterion | None = None
    feasible: Sequence[LogProbability] = ()
    """The models of constraints, and of what fails."""
    leading: list[tuple[Config, float]] = field(default_factory=list)
    """The best untried configurations that were compared, with their acquisition values."""

    @property
    def thompson(self) -> bool:
        """Whether candidates were compared by a draw of the function."""
        return self.settings is not None and self.settings.acquisition == "thompson"

    def compared(self, data: Data, rows: Array, values: Array) -> None:
        """Note the best untried configurations that are not next to a better one, from rows in descending order."""
        taken: list[Array] = []
        for row, value in zip(rows, values.tolist(), strict=True):
            if len(self.leading) < MOST_LEADING and all(float(np.abs(row - other).max()) > APART for other in taken):
                config = data.observed.cube.decode(row)
                if data.history.tried(config) is None:
                    self.leading.append((config, value))
                    taken.append(row)
