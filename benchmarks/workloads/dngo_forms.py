"""DNGO with options that users do not set, to measure one at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from xstar.journal import History
from xstar.journal.trial import Done, New, Suggestion
from xstar.searchers.bo.design import Design, before_model
from xstar.searchers.bo.observations import Observations
from xstar.searchers.dngo.fit import DNGOOptions, Sizes
from xstar.searchers.dngo.surrogate import LastLayers, suggest_by


@dataclass(frozen=True)
class Form:
    """A searcher with these options and sizes."""

    options: DNGOOptions
    sizes: Sizes = field(default_factory=Sizes)

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        observed = before_model(history, task, rng, Design(self.options.method))
        if not isinstance(observed, Observations):
            return observed
        return suggest_by(LastLayers(self.options, self.sizes), history, observed, rng)
