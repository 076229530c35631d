"""Evolution: configurations mutated from good ones; and its blind twin. Baselines of NASBOT (C.1) that work in any space.

Choose ``evolution`` when trials are cheap and many, and a model would take longer to decide than a trial to run. For expensive
ones it is inefficient: whatever it suggests is close to something that was evaluated.

``Evolution``       after an initial design (the networks of the pool), parents are drawn with chances π ∝ exp(-loss/σ) among
                    all trials that have a loss and keep the constraints, ``per_generation`` children from one such
                    distribution. Under a scheduler with rungs: among those at one budget, the highest one that as many reached.
``NetworkRandom``   NASBOT's own procedure with a random number in place of the acquisition: any network that NASBOT might have
                    looked at, but not a chosen one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from xstar.acquisition.mutate import chances, evaluations, evolve
from xstar.core.checks import check_counts
from xstar.journal import History
from xstar.models.standardise import Targets
from xstar.searchers.base import SEARCHERS, exhausted, untried
from xstar.searchers.mutation import first_design, mutated, pools, untried_child
from xstar.trial import Config, Done, New, Suggestion

PARENTS = 1_000
"""Trials that may become parents, the best ones. With all of 100,000 a suggestion took 128 ms, most of it to bring their losses
to one scale."""
POPULATION = 100
"""Evaluated configurations that ``NetworkRandom`` starts from, at most: with random numbers for scores, any hundred will do."""


@dataclass(frozen=True, slots=True)
class Evolution:
    """Mutations of good configurations."""

    initial: int = 10
    """Trials before anything is mutated: the paper's initial pools have as many networks."""
    per_generation: int = 10
    """N_mut: parents of so many trials are drawn from what was known before the first of them (C.1)."""

    def __post_init__(self) -> None:
        check_counts(self, {"initial": 1, "per_generation": 1})

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        if (done := exhausted(history)) is not None:
            return done
        number = len(history.trials)
        known = _Losses.of(history)
        if number < self.initial or not known.count:
            return _initial("evolution", number, first_design(history, task, rng))
        generation = (number - self.initial) // self.per_generation
        trials, losses = known.before(self.initial + generation * self.per_generation, self.per_generation)
        if not len(trials):  # nothing of the generations before has ended yet
            trials, losses = known.before(number, self.per_generation)
        # Straightened and standardised: σ of the paper would be that of a single diverged training.
        g = -Targets.of(losses, straighten=True)(losses)
        parent = int(trials[rng.choice(len(trials), p=chances(g))])
        child = untried_child(history, history.trials[parent].config, rng, {})
        if isinstance(child, Done):
            return child
        if child is not None:
            return Suggestion(child, f"evolution: generation {generation + 1}, mutated from trial {parent}")
        return _at_random(history, rng, f"evolution: no untried mutation of trial {parent} was found")


@dataclass(frozen=True, slots=True)
class NetworkRandom:
    """Random search of the networks that NASBOT would look at (RAND of C.1)."""

    initial: int = 10
    """Trials before that: the paper's initial pools have as many networks."""

    def __post_init__(self) -> None:
        check_counts(self, {"initial": 1})

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        if (done := exhausted(history)) is not None:
            return done
        number = len(history.trials)
        if number < self.initial:
            return _initial("nasbot-random", number, first_design(history, task, rng))
        space = history.space
        starts = rng.permutation(number)[:POPULATION].tolist()
        members: list[Config] = [history.trials[place].config for place in starts]
        for name, pool in pools(space).items():
            members += [{**members[0], name: value} for value in pool if name in members[0]]

        def children(parents: list[Config]) -> list[Config]:
            return [mutated(space, parent, rng, {}) for parent in parents]

        found, scores = evolve(
            members, rng.random(len(members)), children, lambda born: rng.random(len(born)), evaluations(number), rng
        )
        for place in np.argsort(-scores, kind="stable").tolist():
            if history.tried(found[place]) is None:
                return Suggestion(found[place], f"nasbot-random: one of {len(found)}")
        return _at_random(history, rng, f"nasbot-random: all of {len(found)} were tried")


@dataclass
class _Losses:
    """The latest loss of every trial that has one, in arrays that grow with the history: amortised O(1) per observation."""

    count: int = 0
    _seen: int = 0
    _place: dict[int, int] = field(default_factory=dict)
    _table: NDArray[np.float64] = field(default_factory=lambda: np.empty((64, 4)))
    """Number, loss, the budget it was reported at, and whether all constraints hold."""

    @classmethod
    def of(cls, history: History) -> _Losses:
        kept: _Losses | None = history.memo.get(_Losses)
        if kept is None:
            kept = history.memo[_Losses] = cls()
        for number, budget, loss in history.observed[kept._seen :]:
            place = kept._place.setdefault(number, kept.count)
            if place == kept.count:
                kept.count += 1
                if place == len(kept._table):
                    kept._table = np.vstack([kept._table, np.empty_like(kept._table)])
            kept._table[place] = number, loss, budget, history.violation(history.trials[number]) is None
        kept._seen = len(history.observed)
        return kept

    def before(self, number: int, enough: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Trials with a lower number that have a loss, and their losses: the ``PARENTS`` best of them, and none that breaks
        a constraint as long as there are others.

        A loss after one epoch says nothing beside one after a hundred: of several budgets it is the highest that ``enough``
        trials are at; if there is none, the one that most are at, the higher one of equals.
        """
        table = self._table[: self.count]
        table = table[table[:, 0] < number]
        if (fine := table[:, 3] > 0.0).any():
            table = table[fine]
        if len(table) and (table[:, 2] != table[0, 2]).any():
            levels, counts = np.unique(table[:, 2], return_counts=True)
            reached = np.flatnonzero(counts >= min(enough, counts.max()))[-1]
            table = table[table[:, 2] == levels[reached]]
        if len(table) > PARENTS:
            table = table[np.sort(np.argpartition(table[:, 1], PARENTS)[:PARENTS])]
        return table[:, 0], table[:, 1]


def _initial(method: str, number: int, drawn: Suggestion | Done) -> Suggestion | Done:
    if isinstance(drawn, Done):
        return drawn
    return Suggestion(drawn.config, f"{method}: initial {number + 1}, {drawn.origin}")


def _at_random(history: History, rng: np.random.Generator, why: str) -> Suggestion | Done:
    drawn = untried(history, rng)
    return drawn if isinstance(drawn, Done) else Suggestion(drawn, f"random: {why}")


SEARCHERS.register("evolution", Evolution)
SEARCHERS.register("nasbot-random", NetworkRandom)
