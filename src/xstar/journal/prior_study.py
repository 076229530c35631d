"""What another study observed, as searchers read it: configurations of this study's space, and losses at budgets.

Losses of different studies are not comparable: a searcher compares those of one source among themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from xstar.core.goals import Losses
from xstar.core.pareto import ordered
from xstar.core.words import plural
from xstar.errors import CorruptJournal
from xstar.journal.events import PriorStudy
from xstar.journal.trial import Config


@dataclass(frozen=True, slots=True)
class PriorObservations:
    """The observations of one other study."""

    name: str
    configs: tuple[Config, ...]
    observed: tuple[tuple[Any, ...], ...]
    """(index among ``configs``, budget, loss of each objective), in the order of that study's journal."""

    @property
    def best_first(self) -> list[Config]:
        """The configurations that got furthest, lowest loss first, then the others in the same way."""
        last: dict[int, tuple[int, Losses]] = {}
        for index, budget, *losses in self.observed:
            if index not in last or budget >= last[index][0]:
                last[index] = (budget, tuple(losses))
        order: list[int] = []
        for budget in sorted({budget for budget, _ in last.values()}, reverse=True):
            alike = sorted(index for index in last if last[index][0] == budget)
            order += [alike[i] for i in ordered(np.array([last[index][1] for index in alike]))]
        return [self.configs[index] for index in order]

    @property
    def in_words(self) -> str:
        """``30 configurations of 'last-month'``."""
        return (
            f"{plural(len(self.configs), 'configuration')} of {repr(self.name) if self.name else 'a study in memory'}"
        )


def read_prior_study(
    event: PriorStudy, load: Callable[[dict[str, Any]], Config], goals: int, where: str
) -> PriorObservations:
    """The source that an event describes; a journal that contradicts itself is corrupt."""
    made: list[tuple[Any, ...]] = []
    for entry in event.observed:
        if not _is_observation(entry, len(event.configs), goals):
            what = ", ".join(["index", "budget", *["loss"] * goals])
            raise CorruptJournal(f"{where} (prior_study): an observation is [{what}], not {entry!r}")
        made.append((entry[0], entry[1], *map(float, entry[2:])))
    return PriorObservations(event.source, tuple(load(config) for config in event.configs), tuple(made))


def _is_observation(entry: Any, count: int, goals: int) -> bool:
    if not isinstance(entry, list | tuple) or len(entry) != 2 + goals:
        return False
    index, budget, *losses = entry
    whole = type(index) is int and 0 <= index < count and type(budget) is int and budget >= 1
    return whole and all(type(loss) in (int, float) and math.isfinite(loss) for loss in losses)
