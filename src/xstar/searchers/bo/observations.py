"""The observations of a history for searchers with a surrogate, as arrays that grow with it.

Notation

===============  ====================================================================================  ==========
symbol           meaning                                                                               shape
===============  ====================================================================================  ==========
``X``            encoded configurations of the observations: the columns of the cube, then one column  (n, width)
                 per architecture parameter, with the index of its network
``budget``       the budget r of each observation                                                      (n,)
``losses``       its losses, one for each of m objectives                                              (n, m)
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
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from xstar.core.goals import DEFAULT, Goals
from xstar.journal import History
from xstar.journal.trial import Config, State, Trial
from xstar.nets.catalogue import Catalogue
from xstar.searchers.base import highest_budget
from xstar.space.cube import Cube, cube_of

Array = NDArray[np.float64]


class Table:
    """Appending a row costs amortised O(width): room for as many rows again is made whenever it is full.

    >>> table = Table(2)
    >>> table.append(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> table.rows[1].tolist()
    [3.0, 4.0]
    """

    __slots__ = ("_room", "count")

    def __init__(self, width: int) -> None:
        self.count = 0
        self._room: Array = np.empty((0, width))

    @property
    def rows(self) -> Array:
        """All rows: a view, valid until the next ``append``."""
        return self._room[: self.count]

    def append(self, rows: Array) -> None:
        """Add rows at the end."""
        need = self.count + len(rows)
        if need > len(self._room):
            grown = np.empty((max(64, 2 * need), self._room.shape[1]))
            grown[: self.count] = self.rows
            self._room = grown
        self._room[self.count : need] = rows
        self.count = need


@dataclass
class Observations:
    """Observations, updated incrementally from the history: amortised O(1) per observation."""

    cube: Cube
    catalogues: tuple[Catalogue, ...] = ()
    """One catalogue for each architecture parameter."""
    goals: Goals = DEFAULT
    networks_by_index: bool = True
    """Whether a network is one column with its index; if not, it is the columns of its descriptive features."""
    failed: list[int] = field(default_factory=list)
    has_failed: set[int] = field(default_factory=set)
    """The same as a set."""
    evaluated: dict[int, list[float] | None] = field(default_factory=dict)
    """Maps each evaluated trial to its constraint metrics at the first observation that has them all."""
    measured: list[int] = field(default_factory=list)
    _ended: int = 0
    _table: Table = field(init=False)
    _rows: dict[int, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._table = Table(self.width + 2 + len(self.goals))

    @classmethod
    def of(cls, history: History, networks_by_index: bool = True) -> Observations:
        """Return the observations of ``history``, brought up to date."""
        kept = history.memo.get(Observations, networks_by_index)
        if kept is None:
            cube = cube_of(history.space)
            domains = [history.space[name] for name in cube.encoder.domains]
            catalogues = tuple(Catalogue(domain) for domain in domains)
            kept = history.memo.put(cls(cube, catalogues, history.goals, networks_by_index), networks_by_index)
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
        if not trial.inside:
            return False
        if trial.state is State.FAILED:
            return True
        if trial.state is not State.INFEASIBLE:
            return False
        metrics = self.evaluated.get(trial.number)
        return metrics is None or within(history, metrics)

    def _observe(self, history: History) -> None:
        new = history.observed_inside[self.count :]
        if not new:
            return
        rows = self.rows(history.trials[number] for number, *_ in new)
        for number, budget, *_ in new:
            if self.evaluated.get(number) is None:
                self.evaluated[number] = metrics = constraint_metrics(history, number, budget)
                if metrics is not None:
                    self.measured.append(number)
        self._table.append(np.hstack([rows, np.array(new, dtype=np.float64)]))

    def feasible(self, history: History, indices: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
        """Return the observations (of those at ``indices``) that may be the incumbent: their trial is feasible and did not fail
        later."""
        if indices is None:
            indices = np.arange(self.count)
        if self.has_failed:
            indices = indices[[number not in self.has_failed for number in self.trial[indices].tolist()]]
        if history.created.constraints:
            metrics = [self.evaluated[number] for number in self.trial[indices].tolist()]
            indices = indices[[values is not None and within(history, values) for values in metrics]]
        return indices

    def at(self, budget: int) -> Observations:
        """Return the observations at one budget alone, as of now; the outcomes of trials are those of all."""
        made = copy(self)
        made._table = Table(self.width + 2 + len(self.goals))
        made._table.append(self._table.rows[self.budget == budget])
        return made

    def highest_budget(self, least: int, among: NDArray[np.bool_] | None = None) -> int:
        """Return the highest budget with at least so many observations (``among`` some of them), or that with most of them."""
        budgets = self.budget if among is None or not among.any() else self.budget[among]
        return int(highest_budget(budgets, least))

    @property
    def parameters(self) -> int:
        """The number of parameters; an architecture is one."""
        return len(self.cube.labels) + len(self.catalogues)

    def reached(self, rungs: Sequence[int]) -> int | None:
        """Return the largest rung with at least as many observations as there are parameters (MOBSTER, Section 3: r_acq);
        ``None`` if there is none."""
        budgets, least = self.budget, max(2, self.parameters)  # a single observation teaches no model
        return next((rung for rung in reversed(rungs) if np.count_nonzero(budgets == rung) >= least), None)

    def rows(self, trials: Iterable[Trial]) -> Array:
        """Return the encoded configurations of some trials; each is encoded once."""
        listed = list(trials)
        unknown = [trial for trial in listed if trial.number not in self._rows]
        if unknown:
            encoded = self.encoded([trial.searched for trial in unknown])
            self._rows.update(zip((trial.number for trial in unknown), encoded, strict=True))
        return np.array([self._rows[trial.number] for trial in listed]).reshape(len(listed), self.width)

    def encoded(self, configs: Sequence[Config]) -> Array:
        """Return encoded configurations; their networks are entered into the catalogues."""
        encoded, _ = self.cube.encoder.encode(configs)
        numbers = [
            catalogue.enter([config.get(name) for config in configs])
            for name, catalogue in zip(self.cube.encoder.domains, self.catalogues, strict=True)
        ]
        encoded = np.column_stack([encoded, *numbers])
        return encoded if self.networks_by_index else self.described(encoded)

    def decoded(self, rows: Array) -> list[Config]:
        """Return the configurations of rows with the indices of networks."""
        if not self.catalogues:
            return [self.cube.decode(row) for row in rows]
        plain, numbers = rows[:, : self.cube.width], rows[:, self.cube.width :].astype(np.int64)
        made = []
        for row, own in zip(plain, numbers.tolist(), strict=True):
            nets = zip(self.cube.encoder.domains, self.catalogues, own, strict=True)
            made.append(self.cube.decode(row) | {name: catalogue.value(n) for name, catalogue, n in nets if n})
        return made

    def positions(self, rows: Array) -> Array:
        """Return rows in which descriptive features replace the index of each network."""
        return self.described(rows) if self.networks_by_index and self.catalogues else rows

    def described(self, rows: Array) -> Array:
        """Replace the columns of network indices by descriptive features."""
        width = self.cube.width
        columns = [rows[:, width + index].astype(np.int64) for index in range(len(self.catalogues))]
        parts = [catalogue.described(column) for catalogue, column in zip(self.catalogues, columns, strict=True)]
        return np.hstack([rows[:, :width], *parts])

    @property
    def width(self) -> int:
        """The number of columns of ``X``."""
        if self.networks_by_index:
            return self.cube.width + len(self.catalogues)
        return self.cube.width + sum(len(catalogue.names) for catalogue in self.catalogues)

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
    def losses(self) -> Array:
        return self._table.rows[:, self.width + 2 :]

    @property
    def loss(self) -> Array:
        """The losses of the only objective: (n,)."""
        assert not self.goals.several, "one of several losses"
        return self._table.rows[:, self.width + 2]

    @property
    def sort_keys(self) -> Array:
        """Numbers by which observations compare, lower is better: losses, or places in the order of fronts: (n,)."""
        if not self.goals.several:
            return self.loss
        made = np.empty(self.count)
        made[self.goals.ordered(self.losses)] = np.arange(self.count)
        return made


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


# ---------------------------------------------------------------- refits

FIRST = 2
"""A surrogate is fitted from this many observations on."""
GROWTH = 10
"""A refit happens when the data have grown by a tenth, and after every observation up to 20."""
MOST_NEW = 100
"""A refit happens after this many new observations at the latest. They are rows below a Cholesky factor of at most 500
rows, and at 100,000 trials a tenth would be 10,000 of them."""


def last_refit(count: int, growth: int = GROWTH, most_new: int | None = MOST_NEW) -> int:
    """Return the largest count of the schedule that is at most ``count``: when a surrogate is refitted.

    Hyperparameters are a function of the observations up to there, and of nothing else. Resuming or auditing a study therefore
    reproduces the same numbers, and all programs that share a study need the same ones (``journal/memo.py``).

    >>> [last_refit(count) for count in (2, 19, 21, 23, 24)]
    [2, 19, 20, 22, 24]
    """
    at = FIRST
    steady = float("inf") if most_new is None else growth * most_new
    while at < steady and (after := at + max(1, at // growth)) <= count:
        at = after
    if most_new is not None and at >= steady:
        at += (count - at) // most_new * most_new
    return at
