"""The observations of a history for searchers with a surrogate, as arrays that grow with it.

Notation

===============  ====================================================================================  ==========
symbol           meaning                                                                               shape
===============  ====================================================================================  ==========
``X``            encoded configurations of the observations: the columns of the cube, then one column  (n, width)
                 per architecture parameter, with the index of its network
``budget``       the budget r of each observation                                                      (n,)
``loss``         its loss                                                                              (n,)
``trial``        the number of its trial                                                               (n,)
``failed``       trials that failed, in the order in which they ended, and trials that ended as infeasible for a
                 reason that no modelled metric shows (they raised ``Infeasible``, a metric is missing or not finite, or
                 it was within its bound at the first rung)
``evaluated``    trials with an observation, in the order of their first one
``measured``     trials whose constraint metrics are known, in the order in which they became known
===============  ====================================================================================  ==========

There is one row per observation, in the order of the journal, so that "the first n observations" is always the same
set.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from xstar.core.table import Table
from xstar.journal import History
from xstar.journal.divergence import Divergence
from xstar.nets.catalogue import Catalogue
from xstar.space.cube import Cube, cube_of
from xstar.trial import Config, State, Trial

Array = NDArray[np.float64]

SILENT = 9
"""η² with the usual η, from which on such a rung promotes all (``schedulers/asha.py``)."""


@dataclass
class Observations:
    """Observations, updated incrementally from the history: amortised O(1) per observation."""

    cube: Cube
    networks: tuple[Catalogue, ...] = ()
    """One catalogue for each architecture parameter."""
    in_numbers: bool = True
    """Whether a network is one column with its index; if not, it is the columns of its descriptive features."""
    per_level: Counter[int] = field(default_factory=Counter)
    """The number of observations at each budget."""
    failed: list[int] = field(default_factory=list)
    has_failed: set[int] = field(default_factory=set)
    """The same as a set."""
    evaluated: dict[int, list[float] | None] = field(default_factory=dict)
    """Maps each evaluated trial to its constraint metrics at the first observation that has them all."""
    measured: list[int] = field(default_factory=list)
    diverged: tuple[int, ...] = ()
    """Trials that count as failed because their loss rose too far (``journal/divergence.py``)."""
    _ended: int = 0
    _table: Table = field(init=False)
    _tried: Table = field(init=False)
    _rows: dict[int, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._table = Table(self.width + 3)
        self._tried = Table(self.width)

    @classmethod
    def of(cls, history: History, in_numbers: bool = True) -> Observations:
        """Return the observations of ``history``, brought up to date."""
        kept = history.memo.get(Observations, in_numbers)
        if kept is None:
            cube = cube_of(history.space)
            domains = [history.space[name] for name in cube.encoder.domains]
            kept = history.memo.put(cls(cube, tuple(Catalogue(domain) for domain in domains), in_numbers), in_numbers)
        kept.catch_up(history)
        return kept

    def catch_up(self, history: History) -> None:
        """Add the new observations and outcomes of the history."""
        self._observe(history)  # first: the metrics decide how an ended trial is classified
        for number in history.ended[self._ended :]:
            if self._is_failure(history, history.trials[number]):
                self.failed.append(number)
                self.has_failed.add(number)
        self._ended = len(history.ended)

    def _is_failure(self, history: History, trial: Trial) -> bool:
        """Return whether a trial ended without a value, or is infeasible for a reason that no metric shows."""
        if trial.state is State.FAILED:
            return True
        if trial.state is not State.INFEASIBLE:
            return False
        metrics = self.evaluated.get(trial.number)
        return metrics is None or within(history, metrics)

    def _observe(self, history: History) -> None:
        new = history.observed[self.count :]
        if not new:
            return
        rows = self.rows(history.trials[number] for number, _, _ in new)
        for number, budget, _ in new:
            self.per_level[budget] += 1
            if self.evaluated.get(number) is None:
                self.evaluated[number] = metrics = constraint_metrics(history, number, budget)
                if metrics is not None:
                    self.measured.append(number)
        self._table.append(np.hstack([rows, np.array(new, dtype=np.float64)]))

    def among(self, trials: Callable[[NDArray[np.int64]], NDArray[np.bool_]]) -> Observations:
        """Return the observations of some trials alone, as of now; failures and constraint metrics are those of all."""
        made = copy(self)
        made._table = Table(self.width + 3)
        made._table.append(self._table.rows[trials(self.trial)])
        return made

    def at(self, budget: int) -> Observations:
        """Return the observations at one budget alone, as of now; failures and constraint metrics are those of all."""
        made = copy(self)
        made._table = Table(self.width + 3)
        made._table.append(self._table.rows[self.budget == budget])
        return made

    def equal_at(self, levels: Sequence[int]) -> tuple[int, ...]:
        """Return the rungs below the full budget at which ``SILENT`` trials or more have all had the same loss."""
        return tuple(level for level in levels[:-1] if self._is_silent(self.loss[self.budget == level]))

    def telling(self, silent: tuple[int, ...]) -> tuple[Observations, tuple[int, ...]]:
        """Return the observations without those of rungs that say nothing, and these rungs.

        Where all trials have had the same loss, as while they are at chance, a model learns only that the loss does not depend
        on the configuration, and believes it of the rungs above, too. If all were left out, none is.
        """
        kept = ~np.isin(self.budget, silent)
        if not silent or np.count_nonzero(kept) < 2:
            return self, ()
        made = copy(self)
        made._table = Table(self.width + 3)
        made._table.append(self._table.rows[kept])
        made.per_level = Counter({level: n for level, n in self.per_level.items() if level not in silent})
        return made, silent

    def without_diverged(self, divergence: Divergence) -> Observations:
        """Return the observations with diverged trials among the failures, and without what they have reported since."""
        if not divergence.order:
            return self
        until = np.full(max(int(self.trial.max(initial=0)), *divergence.order) + 1, np.inf)
        until[list(divergence.at)] = list(divergence.at.values())
        made = copy(self)
        made._table = Table(self.width + 3)
        made._table.append(self._table.rows[self.budget < until[self.trial]])
        made.per_level = Counter(dict(zip(*_counted(made.budget), strict=True)))
        made.diverged = tuple(number for number in divergence.order if number not in self.has_failed)
        made.has_failed = self.has_failed.union(made.diverged)
        return made

    @property
    def lost(self) -> list[int]:
        """Trials that failed or diverged."""
        return [*self.failed, *self.diverged]

    @staticmethod
    def _is_silent(losses: Array) -> bool:
        return len(losses) >= SILENT and bool((losses == losses[0]).all())

    def rows(self, trials: Iterable[Trial]) -> Array:
        """Return the encoded configurations of some trials; each is encoded once."""
        listed = list(trials)
        unknown = [trial for trial in listed if trial.number not in self._rows]
        if unknown:
            encoded = self.encoded([trial.config for trial in unknown])
            self._rows.update(zip((trial.number for trial in unknown), encoded, strict=True))
        return np.array([self._rows[trial.number] for trial in listed]).reshape(len(listed), self.width)

    def tried(self, history: History) -> Array:
        """Return the encoded configurations of all trials; amortised O(1) per trial."""
        if new := history.trials[self._tried.count :]:
            self._tried.append(self.rows(new))
        return self._tried.rows

    def encoded(self, configs: Sequence[Config]) -> Array:
        """Return encoded configurations; their networks are entered into the catalogues."""
        encoded, _ = self.cube.encoder.encode(configs)
        numbers = [
            catalogue.enter([config.get(name) for config in configs])
            for name, catalogue in zip(self.cube.encoder.domains, self.networks, strict=True)
        ]
        encoded = np.column_stack([encoded, *numbers])
        return encoded if self.in_numbers else self.described(encoded)

    def positions(self, rows: Array) -> Array:
        """Return rows in which descriptive features replace the index of each network."""
        return self.described(rows) if self.in_numbers and self.networks else rows

    def described(self, rows: Array) -> Array:
        """Replace the columns of network indices by descriptive features."""
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
    def count(self) -> int:
        """n, the number of observations."""
        return self._table.count

    @property
    def X(self) -> Array:
        return self._table.rows[:, : self.width]

    @property
    def trial(self) -> NDArray[np.int64]:
        return self._table.rows[:, self.width].astype(np.int64)

    @property
    def budget(self) -> Array:
        return self._table.rows[:, self.width + 1]

    @property
    def loss(self) -> Array:
        return self._table.rows[:, self.width + 2]


def _counted(budgets: Array) -> tuple[list[int], list[int]]:
    """Return the different budgets, and how often each is there."""
    found, counts = np.unique(budgets.astype(np.int64), return_counts=True)
    return found.tolist(), counts.tolist()


def within(history: History, metrics: list[float]) -> bool:
    """Return whether all constraint metrics are within their bounds."""
    bounds = history.created.constraints or {}
    return all(value <= bound for value, bound in zip(metrics, bounds.values(), strict=True))


def constraint_metrics(history: History, number: int, budget: int) -> list[float] | None:
    """Return the metrics reported at ``budget``; ``None`` without constraints, or if one is missing or not finite."""
    bounds = history.created.constraints
    if not bounds:
        return None
    reading = next(each for each in reversed(history.trials[number].reports) if each.budget == budget)
    found = [reading.metrics.get(name, math.nan) for name in bounds]
    return found if all(map(math.isfinite, found)) else None


def feasible_places(history: History, data: Observations, places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the observations that may be the incumbent: their trial is feasible and did not fail later."""
    if data.has_failed:
        places = places[[number not in data.has_failed for number in data.trial[places].tolist()]]
    if history.created.constraints:
        metrics = [data.evaluated[number] for number in data.trial[places].tolist()]
        places = places[[values is not None and within(history, values) for values in metrics]]
    return places
