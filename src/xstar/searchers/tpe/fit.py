"""One suggestion of TPE: the split into good and bad, the two densities, and the candidates.

Notation

============  ====================================================================================
symbol        meaning
============  ====================================================================================
``γ``         the share of the observations that are good
``l, g``      the densities of good and of bad configurations
``d``         the number of parameters
============  ====================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xstar.journal import History
from xstar.journal.trial import Config, Done, Origin, Suggestion
from xstar.models.kernels import Array
from xstar.models.linalg import single_threaded
from xstar.models.parzen import Parzen
from xstar.nets.describe import describe
from xstar.searchers.base import at_random
from xstar.searchers.bo.observations import Observations, Table
from xstar.searchers.mutation import is_active
from xstar.searchers.tpe.searcher import TPE
from xstar.space.axes import Axes, Points, axes_of

SPARE = 2
"""A budget has enough observations at d + 1 + SPARE (BOHB, Section 3.2: N_min = d + 1, and at least two are left for g)."""
MOST_GOOD = 25
"""The number of good ones at most (Bergstra et al. 2011's hyperopt)."""
MOST_BAD = 4_000
"""Kernels of g at most: the newest half of them, and evenly spaced ones of the older, each of which stands for several. From
there on a suggestion takes the same time however many trials there were: 33 ms with 50 Floats (24 ms if mixed) at 10,000."""
ROUNDS = 8
"""Draws of candidates, each of ``TPE.candidates``, until one was not tried."""
PROVEN, PROVEN_WEIGHT, FADING = 5, 2.0, 10
"""Of another study, so many configurations count as good, with the weight of two observations together; after more than
``FADING`` observations n it fades as 1/n."""
KEPT_NETWORK = 0.5
"""The probability that a candidate has the network of its kernel unchanged, if it has other parameters."""


def decide(settings: TPE, history: History, data: Observations, rng: np.random.Generator) -> Suggestion | Done:
    """Return the untried candidate with the largest l/g, or a random configuration."""
    if settings.random_fraction and rng.random() < settings.random_fraction:
        return at_random(history, rng, f"tpe: {settings.random_fraction:.0%} of all")
    with single_threaded():
        made = _Decision(settings, history, data, rng).suggestion()
    return made if isinstance(made, Suggestion) else at_random(history, rng, made)


# ---------------------------------------------------------------- configurations as points


class Parts:
    """Trials of a study as points, each computed once: columns of a table, one row per observation."""

    def __init__(self, history: History, data: Observations) -> None:
        self.data = data
        self.space = history.space
        widths = [len(catalogue.names) for catalogue in data.catalogues]
        self.axes: Axes = axes_of(history.space).with_numbers(sum(widths))
        self._p = len(self.axes.mean)
        self._table = Table(2 * self._p + len(self.axes.probabilities))

    @classmethod
    def of(cls, history: History, data: Observations) -> Parts:
        """Return the parts of all observations, brought up to date."""
        kept = history.memo.get(Parts) or history.memo.put(cls(history, data))
        new = data.trial[kept._table.count :].tolist()
        if new:
            points = kept.points([history.trials[number].searched for number in new])
            kept._table.append(np.hstack([points.numbers, points.on, points.hot]))
        return kept

    def observed(self, indices: NDArray[np.intp]) -> Points:
        """Return the points of some observations."""
        rows = self._table.rows[indices]
        p = self._p
        return Points(rows[:, :p], rows[:, p : 2 * p] > 0.0, rows[:, 2 * p :])

    def points(self, configs: Sequence[Config]) -> Points:
        """Return the points of configurations."""
        points = self.axes.split(*self.data.cube.encoder.encode(configs))
        if not self.data.catalogues:
            return points
        numbers, on = [points.numbers], [points.on]
        for name, catalogue in zip(self.data.cube.encoder.domains, self.data.catalogues, strict=True):
            found = [describe(config.get(name), catalogue.names) for config in configs]
            numbers.append(np.array(found).reshape(len(configs), len(catalogue.names)))
            there = np.array([name in config for config in configs], dtype=bool)
            on.append(np.repeat(there[:, None], len(catalogue.names), axis=1))
        return Points(np.hstack(numbers), np.hstack(on), points.hot)


def joined(*parts: Points) -> Points:
    """Return the points of all parts, one after the other."""
    return Points(*(np.vstack([getattr(part, name) for part in parts]) for name in ("numbers", "on", "hot")))


# ---------------------------------------------------------------- the decision


@dataclass(frozen=True)
class Split:
    """Observations that are good, and those that are not, in the order of the journal."""

    good: NDArray[np.intp]
    bad: NDArray[np.intp]
    budget: int | None
    """The budget of all of them; None without rungs."""


def split(settings: TPE, history: History, data: Observations) -> Split:
    """Return the good share of the feasible observations at one budget, and the others."""
    budget = None
    indices = np.arange(data.count)
    if len(history.levels) > 1 and data.count:
        budget = data.highest_budget(len(data.cube.labels) + len(data.catalogues) + 1 + SPARE)
        indices = np.flatnonzero(data.budget == budget)
    feasible = data.feasible(history, indices)
    count = min(max(1, ceil(settings.gamma * len(indices))), MOST_GOOD)
    order = feasible[history.goals.ordered(data.losses[feasible])]
    good = np.sort(order[:count])
    return Split(good, np.setdiff1d(indices, good, assume_unique=True), budget)


def thinned(indices: NDArray[np.intp], most: int) -> tuple[NDArray[np.intp], Array]:
    """Return at most ``most`` indices and the number of observations that each stands for."""
    if len(indices) <= most:
        return indices, np.ones(len(indices))
    newest = most // 2
    older = indices[:-newest]
    chosen = older[np.linspace(0, len(older) - 1, most - newest).round().astype(np.intp)]
    each = len(older) / len(chosen)
    return np.concatenate([chosen, indices[-newest:]]), np.repeat([each, 1.0], [len(chosen), newest])


@dataclass(frozen=True)
class _Decision:
    settings: TPE
    history: History
    data: Observations
    rng: np.random.Generator

    def suggestion(self) -> Suggestion | str:
        found = self.split
        if not len(found.good):
            return "tpe knows no feasible trial yet"
        for _ in range(ROUNDS):
            configs = self._candidates()
            points = self.parts.points(configs)
            ratios = self.good.log_density(points) - self.bad.log_density(points)
            for index in np.argsort(-ratios, kind="stable").tolist():
                if self.history.tried(configs[index]) is None:
                    return Suggestion(configs[index], self._origin(float(ratios[index])))
        return f"tpe: {ROUNDS * self.settings.candidates} candidates were tried before"

    @cached_property
    def parts(self) -> Parts:
        return Parts.of(self.history, self.data)

    @cached_property
    def split(self) -> Split:
        return split(self.settings, self.history, self.data)

    @cached_property
    def good(self) -> Parzen:
        """l: with the best of other studies, whose weight fades as observations come in."""
        points, weights = self.parts.observed(self.split.good), np.ones(len(self.split.good))
        if proven := self.proven:
            points = joined(points, self.parts.points(proven))
            total = PROVEN_WEIGHT * min(1.0, FADING / self.data.count)
            weights = np.append(weights, np.full(len(proven), total / len(proven)))
        return Parzen.of(self.parts.axes, points, weights)

    @cached_property
    def proven(self) -> list[Config]:
        """The best configurations of other studies (``warm_start``)."""
        return [config for source in self.history.prior_studies for config in source.best_first[:PROVEN]]

    @cached_property
    def bad(self) -> Parzen:
        """g: with failed trials, and with pending ones as constant liars."""
        history, data = self.history, self.data
        indices, weights = thinned(self.split.bad, MOST_BAD)
        failed = [history.trials[number] for number in data.failed[-MOST_BAD:] if number not in data.evaluated]
        pending = [*history.running.values(), *history.waiting.values()]
        liars = self.parts.points([trial.config for trial in (*failed, *pending)])
        points = joined(self.parts.observed(indices), liars)
        return Parzen.of(self.parts.axes, points, np.append(weights, np.ones(len(liars))))

    def _candidates(self) -> list[Config]:
        cube = self.data.cube
        which, numbers, hot = self.good.draw(self.settings.candidates, self.rng)
        rows = self.parts.axes.join(numbers[:, : len(self.parts.axes.columns)], hot)
        configs = [cube.decode(row) for row in rows]
        if not cube.encoder.domains:
            return configs
        known = [
            self.history.trials[number].config for number in self.data.trial[self.split.good].tolist()
        ] + self.proven
        parents = [known[at] if at < len(known) else None for at in which.tolist()]
        return [self._with_networks(*pair) for pair in zip(configs, parents, strict=True)]

    def _with_networks(self, plain: Config, parent: Config | None) -> Config:
        """Return a configuration with networks near those of ``parent``, or drawn from their prior."""
        space, made = self.history.space, dict(plain)
        for name in self.data.cube.encoder.domains:
            if not is_active(space, name, plain):
                continue
            domain: Any = space[name]
            if parent is None or name not in parent:
                made[name] = domain.sample(self.rng)
            elif self.data.cube.width and self.rng.random() < KEPT_NETWORK:
                made[name] = parent[name]
            else:
                made[name] = domain.mutate(parent[name], self.rng)
        return {name: made[name] for name in space.parameters if name in made}

    def _origin(self, ratio: float) -> Origin:
        numbers: dict[str, float] = {"ratio": ratio, "good": len(self.split.good)}
        numbers["n"] = len(self.split.good) + len(self.split.bad)
        detail = "log l/g {ratio:.3g}, {good} of {n} are good"
        if self.split.budget is not None:
            numbers["budget"] = self.split.budget
            detail += " at budget {budget}"
        return Origin("tpe", detail, **numbers)
