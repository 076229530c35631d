"""What another study observed, as searchers read it: configurations of this study's space, and losses at budgets.

Losses of different studies are not comparable: a searcher compares those of one source among themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xstar.core.words import plural
from xstar.errors import CorruptJournal
from xstar.journal.events import PriorStudy
from xstar.trial import Config


@dataclass(frozen=True, slots=True)
class PriorObservations:
    """The observations of one other study."""

    name: str
    configs: tuple[Config, ...]
    observed: tuple[tuple[int, int, float], ...]
    """(index among ``configs``, budget, loss), in the order of that study's journal."""

    @property
    def best_first(self) -> list[Config]:
        """The configurations that got furthest, lowest loss first, then the others in the same way."""
        last: dict[int, tuple[int, float]] = {}
        for index, budget, loss in self.observed:
            if index not in last or budget >= last[index][0]:
                last[index] = (budget, loss)
        order = sorted(last, key=lambda index: (-last[index][0], last[index][1], index))
        return [self.configs[index] for index in order]

    @property
    def in_words(self) -> str:
        """``30 configurations of 'last-month'``."""
        return (
            f"{plural(len(self.configs), 'configuration')} of {repr(self.name) if self.name else 'a study in memory'}"
        )


def read_prior_study(event: PriorStudy, load: Callable[[dict[str, Any]], Config], where: str) -> PriorObservations:
    """The source that an event describes; a journal that contradicts itself is corrupt."""
    made: list[tuple[int, int, float]] = []
    for entry in event.observed:
        if not _is_observation(entry, len(event.configs)):
            raise CorruptJournal(f"{where} (prior_study): an observation is [index, budget, loss], not {entry!r}")
        made.append((entry[0], entry[1], float(entry[2])))
    return PriorObservations(event.source, tuple(load(config) for config in event.configs), tuple(made))


def _is_observation(entry: Any, count: int) -> bool:
    if not isinstance(entry, list | tuple) or len(entry) != 3:
        return False
    index, budget, loss = entry
    whole = type(index) is int and 0 <= index < count and type(budget) is int and budget >= 1
    return whole and type(loss) in (int, float) and math.isfinite(loss)
