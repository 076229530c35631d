"""The default searcher: a Gaussian process while there are few observations, DNGO after that.

Choose it when you do not know how many trials there will be. Its suggestions are those of ``GP()`` and ``DNGO()``. Only
the number of observations decides which of them is used, and the suggestion's origin records the choice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.core.checks import check_counts
from xstar.journal import History
from xstar.searchers.base import SEARCHERS
from xstar.searchers.dngo.searcher import DNGO
from xstar.searchers.gp.searcher import GP
from xstar.trial import Done, New, Origin, Suggestion

SWITCH = 1000
"""At this count both take 0.09 s for a suggestion (Hartmann's function, one core). At 300 the GP takes a third of
DNGO's time and at 3,000 it takes 1.4 times as long. From 500 on it is fitted to a subset of the observations only."""


@dataclass(frozen=True)
class Auto:
    """``GP()`` below ``switch`` observations, ``DNGO()`` from there on."""

    switch: int = SWITCH
    """The number of observations at which DNGO takes over."""

    def __post_init__(self) -> None:
        check_counts(self, {"switch": 1})

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        few = len(history.observed) < self.switch
        made = (GP() if few else DNGO()).suggest(history, task, rng)
        return made if isinstance(made, Done) else Suggestion(made.config, Origin.of(made.origin).within("auto"))


SEARCHERS.register("auto", Auto)
