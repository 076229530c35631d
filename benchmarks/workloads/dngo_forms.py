"""DNGO with options that users do not set, to measure one at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from xstar.journal import History
from xstar.journal.trial import Done, New, Suggestion
from xstar.searchers.bo.observations import Observations
from xstar.searchers.bo.suggest import Design, suggest
from xstar.searchers.dngo.fit import DNGOOptions, Sizes
from xstar.searchers.dngo.learner import DNGOLearner


@dataclass(frozen=True)
class Form:
    """A searcher with these options and sizes."""

    options: DNGOOptions
    sizes: Sizes = field(default_factory=Sizes)

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        return suggest(history, task, rng, Design(self.options.method), self._learner)

    def _learner(self, history: History, data: Observations) -> DNGOLearner:
        return DNGOLearner(history, data, self.options, self.sizes)
