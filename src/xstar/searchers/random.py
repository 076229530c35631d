"""Random search: independent draws from the priors of the space.

Choose it as the baseline for every other method, and when hundreds of trials run in parallel.

Reference: Bergstra & Bengio (2012), Random search for hyper-parameter optimization, JMLR 13.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.core.goals import Goals
from xstar.journal import History
from xstar.journal.trial import Done, New, Origin, Suggestion
from xstar.searchers.base import SEARCHERS, untried

RANDOM = Origin("random")


@dataclass(frozen=True, slots=True)
class Random:
    """Independent draws from the prior, without repetition in finite spaces."""

    def handles(self, goals: Goals) -> bool:
        """It looks at no loss."""
        return True

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        config = untried(history, rng)
        return config if isinstance(config, Done) else Suggestion(config, RANDOM)


SEARCHERS.register("random", Random)
