"""What a GP searcher knows of a history, as arrays that grow with it.

Notation

===============  ====================================================================================  ==========
symbol           meaning                                                                               shape
===============  ====================================================================================  ==========
``X``            encoded configurations of the observations, a column with the number of its network   (n, width)
                 for each parameter that is an architecture behind the columns of the cube
``budget``       r of each                                                                             (n,)
``loss``         its loss                                                                              (n,)
``trial``        the number of its trial                                                               (n,)
``broken``       trials that failed or could not be evaluated, in the order in which they ended: also those that ended as
                 infeasible although no bounded metric that is in the model says so (raised ``Infeasible``, a metric that is
                 missing or not finite, or one that was within its bound at the first rung)
``whole``        trials with an observation, in the order of their first one
===============  ====================================================================================  ==========

One row per observation, in the order of the journal, so that "the first n observations" means the same to whoever reads it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from xstar.journal import History
from xstar.nets.catalogue import Catalogue
from xstar.space.cube import Cube, cube_of
from xstar.trial import State, Trial

Array = NDArray[np.float64]


@dataclass
class Observations:
    """Grows by what a history has observed since the last look: amortised O(1) per observation."""

    cube: Cube
    networks: tuple[Catalogue, ...] = ()
    """One for each parameter that is an architecture."""
    in_numbers: bool = True
    """Whether a network is a column with its number; if not, it is the columns that describe it."""
    count: int = 0
    per_level: Counter[int] = field(default_factory=Counter)
    """How many observations there are at each budget."""
    broken: list[int] = field(default_factory=list)
    is_broken: set[int] = field(default_factory=set)
    """The same as a set."""
    whole: dict[int, list[float] | None] = field(default_factory=dict)
    """Trials with an observation → their constraint metrics at the first one that has them all."""
    told: list[int] = field(default_factory=list)
    """Those with constraint metrics, in the order in which they told them."""
    _ended: int = 0
    _table: Array = field(default_factory=lambda: np.empty((0, 0)))
    _rows: dict[int, Array] = field(default_factory=dict)

    @classmethod
    def of(cls, history: History, in_numbers: bool = True) -> Observations:
        """Those of ``history``, brought up to date."""
        kept = history.memo.get(Observations, in_numbers)
        if kept is None:
            cube = cube_of(history.space)
            domains = [history.space[name] for name in cube.encoder.domains]
            kept = history.memo.put(cls(cube, tuple(Catalogue(domain) for domain in domains), in_numbers), in_numbers)
        kept._catch_up(history)
        return kept

    def _catch_up(self, history: History) -> None:
        self._observe(history)  # first: what ended is judged by what it told
        for number in history.ended[self._ended :]:
            if self._ended_broken(history, history.trials[number]):
                self.broken.append(number)
                self.is_broken.add(number)
        self._ended = len(history.ended)

    def _ended_broken(self, history: History, trial: Trial) -> bool:
        """Whether a trial ended without a value, or as infeasible for a reason that no model of a bounded metric can learn."""
        if trial.state is State.FAILED:
            return True
        if trial.state is not State.INFEASIBLE:
            return False
        told = self.whole.get(trial.number)
        return told is None or within(history, told)

    def _observe(self, history: History) -> None:
        new = history.observed[self.count :]
        if not new:
            return
        width = self.width
        need = self.count + len(new)
        if need > len(self._table):
            table = np.empty((max(64, 2 * need), width + 3))
            if self.count:
                table[: self.count] = self._table[: self.count]
            self._table = table
        rows = self._table[self.count : need]
        rows[:, :width] = self.rows(history.trials[number] for number, _, _ in new)
        rows[:, width:] = new
        for number, budget, _ in new:
            self.per_level[budget] += 1
            if self.whole.get(number) is None:
                self.whole[number] = metrics = constraint_metrics(history, number, budget)
                if metrics is not None:
                    self.told.append(number)
        self.count = need

    def rows(self, trials: Iterable[Trial]) -> Array:
        """The encoded configurations of some trials, each encoded once."""
        listed = list(trials)
        unknown = [trial for trial in listed if trial.number not in self._rows]
        if unknown:
            encoded, _ = self.cube.encoder.encode([trial.config for trial in unknown])
            numbers = [
                catalogue.enter([trial.config.get(name) for trial in unknown])
                for name, catalogue in zip(self.cube.encoder.domains, self.networks, strict=True)
            ]
            encoded = np.column_stack([encoded, *numbers])
            if not self.in_numbers:
                encoded = self.described(encoded)
            self._rows.update(zip((trial.number for trial in unknown), encoded, strict=True))
        return np.array([self._rows[trial.number] for trial in listed]).reshape(len(listed), self.width)

    def described(self, rows: Array) -> Array:
        """Rows with positions only: numbers of networks, a column each, are replaced by what describes them."""
        width = self.cube.width
        columns = [rows[:, width + place].astype(np.int64) for place in range(len(self.networks))]
        parts = [catalogue.described(column) for catalogue, column in zip(self.networks, columns, strict=True)]
        return np.hstack([rows[:, :width], *parts])

    @property
    def width(self) -> int:
        """The number of columns of ``X``."""
        if self.in_numbers:
            return self.cube.width + len(self.networks)
        return self.cube.width + sum(len(catalogue.names) for catalogue in self.networks)

    @property
    def X(self) -> Array:
        return self._table[: self.count, : self.width]

    @property
    def trial(self) -> NDArray[np.int64]:
        return self._table[: self.count, self.width].astype(np.int64)

    @property
    def budget(self) -> Array:
        return self._table[: self.count, self.width + 1]

    @property
    def loss(self) -> Array:
        return self._table[: self.count, self.width + 2]


def within(history: History, metrics: list[float]) -> bool:
    """Whether constraint metrics are all within their bounds."""
    bounds = history.created.constraints or {}
    return all(value <= bound for value, bound in zip(metrics, bounds.values(), strict=True))


def constraint_metrics(history: History, number: int, budget: int) -> list[float] | None:
    """What a trial reported at ``budget``; ``None`` without constraints, or if one is missing or not finite."""
    bounds = history.created.constraints
    if not bounds:
        return None
    reading = next(each for each in reversed(history.trials[number].reports) if each.budget == budget)
    found = [reading.metrics.get(name, math.nan) for name in bounds]
    return found if all(map(math.isfinite, found)) else None
