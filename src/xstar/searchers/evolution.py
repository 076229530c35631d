"""Evolutionary search and its random counterpart: baselines of NASBOT (C.1) that work in any space.

Choose ``evolution`` when trials are cheap and numerous, and a model would take longer to decide than a trial to run.
For expensive trials it is inefficient: every suggestion is close to a configuration that was already evaluated.

``Evolution``       after an initial design (the networks of the pool), it draws parents with probability π ∝
                    exp(-loss/σ) among all feasible trials that have a loss, and ``per_generation`` children from one
                    such distribution. If the scheduler has rungs, parents are trials at one budget: the highest that
                    ``per_generation`` trials reached.
``RegularisedEvolution``  the same mutations, but only the newest ``population`` trials may be parents, and a parent is the best
                    of a few drawn among them (a tournament). Old trials die, however good they were: what lasts are
                    configurations whose descendants do well again, not those that were lucky once. Reference: Real et al.
                    (2019), Regularized evolution for image classifier architecture search, AAAI.
``NetworkRandom``   NASBOT's own procedure with a random number instead of the acquisition function: a random choice
                    among the networks that NASBOT could have considered.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from xstar.core.checks import check_counts
from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.journal.trial import Config, Done, New, Origin, Suggestion, Trial
from xstar.models.targets import Targets
from xstar.searchers.acquisition.evolve import chances, evaluations, evolve
from xstar.searchers.base import SEARCHERS, at_random, exhausted, highest_budget
from xstar.searchers.bo.observations import Table
from xstar.searchers.mutation import first_design, initial_trial, mutated, pools, untried_child

PARENTS = 1_000
"""Maximum number of trials that may become parents: the best ones. With all of 100,000 trials a suggestion took 128 ms,
most of it spent on standardising their losses."""
POPULATION = 100
"""Maximum number of evaluated configurations that ``NetworkRandom`` starts from. Scores are random: any hundred will
do."""

LOSS = 3
"""The column of the first loss among the latest ones."""


@dataclass(frozen=True, slots=True)
class Evolution:
    """Suggest mutations of good configurations."""

    initial: int = 10
    """Trials before mutation begins: the paper's initial pools have this many networks."""
    per_generation: int = 10
    """N_mut: the parents of this many trials are drawn from the results known before the first of them (C.1)."""

    def __post_init__(self) -> None:
        check_counts(self, {"initial": 1, "per_generation": 1})

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        if (done := exhausted(history)) is not None:
            return done
        number = len(history.trials)
        known = history.memo.fold(LatestLosses, history)
        if number < self.initial or not known.table.count:
            return initial_trial("evolution", first_design(history, task, rng), number)
        generation = (number - self.initial) // self.per_generation
        trials, losses = known.before(self.initial + generation * self.per_generation, self.per_generation)
        if not len(trials):  # no trial of the earlier generations has ended yet
            trials, losses = known.before(number, self.per_generation)
        # Transformed (Yeo–Johnson) and standardised: a single diverged run would otherwise determine the paper's σ.
        g = -Targets.of(losses, transform=True)(losses)
        parent = int(trials[rng.choice(len(trials), p=chances(g))])
        said = "generation {generation}, mutated from trial {parent}"
        origin = Origin("evolution", said, generation=generation + 1, parent=parent)
        return untried_child(history, history.trials[parent].config, rng, origin, parent)


@dataclass(frozen=True, slots=True)
class RegularisedEvolution:
    """Suggest mutations of the best of a few young configurations."""

    population: int = 50
    """P: the trials that may become parents, the newest ones with a loss. The first so many trials are a Sobol design, or
    random networks after those of the pool. The paper has 100, for 20,000 trials. After 300 trials (mean of 8 seeds), 100,
    50, 20 and 10 end at 26.51, 26.64, 26.83 and 26.92 on NAS-Bench-201 (CIFAR-100; ``Evolution`` at 26.91), at −3.26, −3.26,
    −3.22 and −3.23 on Hartmann6 (−3.02), with a quarter of them in a tournament; 50 leave time to evolve in 100 trials."""
    tournament: int = 12
    """S: how many of them are drawn; the best is the parent. The paper has a quarter of the population."""

    def __post_init__(self) -> None:
        check_counts(self, {"population": 2, "tournament": 1})
        if self.tournament > self.population:
            rule = f"must not be above the population, {self.population}"
            raise InvalidArgument("tournament", rule, self.tournament, "a quarter of the population")

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        if (done := exhausted(history)) is not None:
            return done
        number = len(history.trials)
        known = history.memo.fold(LatestLosses, history)
        if number < self.population or not known.table.count:
            return initial_trial("regularised-evolution", first_design(history, task, rng), number)
        alive = known.comparable(number, self.tournament)
        alive = alive[np.argsort(alive[:, 0], kind="stable")][-self.population :]
        drawn = alive[rng.permutation(len(alive))[: self.tournament]]
        parent = int(drawn[np.lexsort((drawn[:, 0], drawn[:, LOSS]))[0], 0])  # the lowest loss, the older of equals
        said = "mutated from trial {parent}, the best of {drawn}"
        origin = Origin("regularised-evolution", said, parent=parent, drawn=len(drawn))
        return untried_child(history, history.trials[parent].config, rng, origin, parent)


@dataclass(frozen=True, slots=True)
class NetworkRandom:
    """Random search among the networks that NASBOT would consider (RAND of C.1)."""

    initial: int = 10
    """Trials before that: the paper's initial pools have this many networks."""

    def __post_init__(self) -> None:
        check_counts(self, {"initial": 1})

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        if (done := exhausted(history)) is not None:
            return done
        number = len(history.trials)
        if number < self.initial:
            return initial_trial("nasbot-random", first_design(history, task, rng), number)
        space = history.space
        starts = rng.permutation(number)[:POPULATION].tolist()
        members: list[Config] = [history.trials[index].config for index in starts]
        for name, pool in pools(space).items():
            members += [{**members[0], name: value} for value in pool if name in members[0]]

        def children(parents: list[Config]) -> list[Config]:
            return [mutated(space, parent, rng, {}) for parent in parents]

        found, scores = evolve(
            members, rng.random(len(members)), children, lambda born: rng.random(len(born)), evaluations(number), rng
        )
        for index in np.argsort(-scores, kind="stable").tolist():
            if history.tried(found[index]) is None:
                return Suggestion(found[index], Origin("nasbot-random", "one of {candidates}", candidates=len(found)))
        return at_random(history, rng, f"nasbot-random: all of {len(found)} were tried")


@dataclass
class LatestLosses:
    """The latest losses of every trial that has any, in arrays that grow: amortised O(1) per observation."""

    table: Table = field(default_factory=lambda: Table(0))
    """Columns: trial number, the budget at which it reported last, by how much it breaks the constraints, and a
    loss for each objective, of which the first is in column ``LOSS``."""
    _seen: int = 0
    _place: dict[int, int] = field(default_factory=dict)

    def catch_up(self, history: History) -> None:
        if not self.table.count:
            self.table = Table(LOSS + len(history.goals))
        for number, budget, *losses in history.observed_inside[self._seen :]:
            row = (number, budget, excess(history, history.trials[number]), *losses)
            index = self._place.setdefault(number, self.table.count)
            if index == self.table.count:
                self.table.append(np.array([row], dtype=np.float64))
            else:
                self.table.rows[index] = row
        self._seen = len(history.observed_inside)

    def before(self, number: int, enough: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the ``PARENTS`` best trials among the comparable ones, and their only losses."""
        table = self.comparable(number, enough)
        if len(table) > PARENTS:
            table = table[np.sort(np.argpartition(table[:, LOSS], PARENTS)[:PARENTS])]
        return table[:, 0], table[:, LOSS]

    def comparable(self, number: int, enough: int, infeasible: bool = False) -> NDArray[np.float64]:
        """Return the rows of trials with a lower number and losses that can be compared.

        Trials that violate a constraint are excluded as long as there are others, unless ``infeasible``. Losses at
        different budgets are not comparable: with several budgets, only trials at the highest budget that ``enough``
        trials reached are used. If there is none, the budget with the most trials is used, and the higher one in a tie.
        """
        table = self.table.rows
        table = table[table[:, 0] < number]
        if not infeasible and (fine := table[:, 2] == 0.0).any():
            table = table[fine]
        if len(table) and (table[:, 1] != table[0, 1]).any():
            table = table[table[:, 1] == highest_budget(table[:, 1], enough)]
        return table


def excess(history: History, trial: Trial) -> float:
    """Return by how much a trial breaks its constraints, each as a share of its bound, in total; 0: they hold."""
    total = 0.0
    for bound in history.bounds:
        value = trial.metrics.get(bound.metric, np.nan)
        over = bound.limit - value if bound.lower else value - bound.limit
        total += max(over, 0.0) / (abs(bound.limit) or 1.0) if np.isfinite(over) else np.inf
    return total


SEARCHERS.register("evolution", Evolution)
SEARCHERS.register("regularised-evolution", RegularisedEvolution)
SEARCHERS.register("nasbot-random", NetworkRandom)
