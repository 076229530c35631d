"""The trials of a searcher with a surrogate that need no model: the initial design, and while nothing is informative.

The first trials are those of the initial design: the middle of the space and steps of one parameter each, or Sobol points.
While nothing tells configurations apart, points of a Sobol sequence follow. From then on the surrogate decides
(``suggest.py``).

*Steps.* In a space of numbers at full budget, each trial moves one parameter of the best trial so far, the first of which is
the middle. After one step of each a model knows the slopes, and what was better on the way was kept. Sobol points in many
dimensions are far from each other and from the optimum, so that a model learns its first slope late. (Powell's COBYLA begins
so.)

*User priors.* The first trial is where the user expects the optimum. From then on Sobol points through the priors and Sobol
points without them take turns, so that the two can be compared (``trust`` in ``user_prior.py``). If what the priors favour
turns out to be no better, they are left out, and the design is as long as without priors: a wrong prior costs the trials it
placed before that, two as a rule. If it is better, half as many trials are enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.journal.trial import Done, New, Origin, Suggestion
from xstar.nets.catalogue import is_of_networks
from xstar.searchers.base import exhausted
from xstar.searchers.bo.observations import Observations
from xstar.searchers.mutation import first_design, initial_trial
from xstar.searchers.sobol import BLOCK, point
from xstar.space import Bool, Choice, Config, Constant, Float, Int, Ordinal, Space, Value
from xstar.space.cube import cube_of
from xstar.space.numeric import prior_position

ENOUGH = 2
"""The observations from which a model is made."""
SPREAD_FROM = BLOCK // 2
"""The first Sobol point of trials that spread: those of the initial design come before."""

LEAST_WITH_NETWORKS = 10
"""Minimum number of initial trials with an architecture in the space: NASBOT's initial pools have this many networks."""
LEAST_WITH_SOURCES = 3
"""Minimum number of initial trials where other studies are learned from; otherwise it is half of what it would be."""
LEAST_TRUSTED = 4
"""The shortest design with user priors, and the observations from which on these are doubted: two that they placed and two
others, if one trial runs at a time."""

STEP = 0.2
"""In sides of the cube. Between 0.17 and 0.25 there was no difference (33 searches lower and 39 higher after 25 evaluations,
36 and 34 after 50)."""
FEWEST_STEPS = 3
MOST_STEPS = 20
"""With more parameters, a model learns more from Sobol points than from the first of many steps."""


def before_model(
    history: History, task: New, rng: np.random.Generator, design: Design
) -> Observations | Suggestion | Done:
    """Suggest a trial that needs no model; or return the observations, if they are enough for one."""
    if (done := exhausted(history)) is not None:
        return done
    check_space(history.space, design.method)
    data = Observations.of(history, design.networks_by_index)
    drawn = design.next_trial(history, data, task, rng)
    if drawn is None and (uninformed := without_information(history, data)) is not None:
        number, why = uninformed
        made = point(history, history.space, rng, SPREAD_FROM + number)
        drawn = (
            made if isinstance(made, Done) else Suggestion(made.config, Origin(design.method, f"{made.origin}, {why}"))
        )
    return data if drawn is None else drawn


def without_information(history: History, data: Observations) -> tuple[int, str] | None:
    """Return which Sobol point is next and why, where nothing tells configurations apart; ``None`` if something does.

    A model of losses that are all the same favours what is farthest from the trials: the corners of the space, one after the
    other. It never looks inside. So does a classifier of failures alone, and takes every second trial: until the first with a
    value, where 5 or 15 % of a cube of 2, 4 or 8 parameters have one (216 searches), it took 12.2 trials with the classifier
    alone, 7.3 with Sobol points alone, and 6.8 with both in turn.
    """
    started = len(history.trials)
    if (
        data.catalogues or len(data.measured) >= ENOUGH
    ):  # networks have no sequence; metrics of constraints tell something
        return None
    if data.count < ENOUGH:
        # One point after the other: every second one of a Sobol sequence has its first coordinate in one half.
        return (started // 2, "too few trials have a value") if data.failed and started % 2 else None
    return (started, "all losses are the same") if bool((data.losses == data.losses[0]).all()) else None


def check_space(space: Space, method: str) -> None:
    """Refuse a space with parameters of which no surrogate knows positions."""
    if others := _without_networks(space):
        rule = f"{method} needs parameters with positions, or architectures"
        raise InvalidArgument("space", rule, ", ".join(others), "give its values an attribute graph, or leave it out")


@lru_cache(maxsize=16)
def _without_networks(space: Space) -> list[str]:
    """Return the domains whose values are not networks."""
    return [name for name in cube_of(space).encoder.domains if not is_of_networks(space[name])]


# ---------------------------------------------------------------- the initial design


@dataclass(frozen=True, slots=True)
class Design:
    """The trials before the first model-based suggestion."""

    method: str
    initial: int | None = None
    """The number of trials. The default of steps is one more than there are parameters; of Sobol points twice the number of
    parameters, between 5 and 12. Under a scheduler with rungs it is the number of parameters plus one, between 4 and 10. With
    an architecture it is at least ``LEAST_WITH_NETWORKS``."""
    steps: bool = False
    """Whether to begin with the middle and steps, where the space and the scheduler allow it."""
    networks_by_index: bool = False
    """Whether the surrogate represents networks by their index, or by their descriptive features."""
    learns_trust: bool = False
    """Whether user priors place only some of the trials."""

    def next_trial(
        self, history: History, data: Observations, task: New, rng: np.random.Generator
    ) -> Suggestion | Done | None:
        """Return the next trial of the design; ``None`` if it is over and there is something to learn from."""
        started, known = len(history.trials), data.count + len(data.failed)
        learns = self.learns_trust and has_priors(history.space)
        middle = self.steps and not learns and has_middle(history, data)
        steps = middle and 0 < data.cube.width <= MOST_STEPS and not has_priors(history.space)
        if started >= self._count(history, data, learns, steps) and known >= 2 and data.width:
            return None
        drawn = _beside_priors(history, data, task, rng) if learns else first_design(history, task, rng)
        if middle and not started and not isinstance(drawn, Done):
            drawn = Suggestion(middle_of(history.space), "the middle of the space")
        elif steps and started:
            drawn = next_step(history, data, rng) or drawn
        return initial_trial(self.method, drawn, started)

    def _count(self, history: History, data: Observations, learns: bool, steps: bool) -> int:
        if self.initial is not None:
            return self.initial
        usual = max(data.cube.width + 1, FEWEST_STEPS) if steps else _usual(history, data)
        if learns and len(history.trials) < usual and _trusted(history, data):
            return max((usual + 1) // 2, LEAST_TRUSTED)
        return usual


def _usual(history: History, data: Observations) -> int:
    d = len(data.cube.labels)
    over_budgets = len(history.levels) > 1  # an observation at the lowest rung is cheap
    count = min(max(d + 1, 4), 10) if over_budgets else min(max(2 * d, 5), 12)
    count = max(count, LEAST_WITH_NETWORKS) if data.catalogues else count
    return max((count + 1) // 2, LEAST_WITH_SOURCES) if history.prior_studies else count


# ---------------------------------------------------------------- the middle, and steps of one parameter


def has_middle(history: History, data: Observations) -> bool:
    """Return whether a search may begin in the middle.

    Over budgets and after other studies the first trials have another purpose; networks and options have no middle. Numbers
    beside options have one, but it favours the option that it is tried with: losses after 50 trials were lower in 10 searches
    and higher in 14 (7 problems with options of ``benchmarks/generality.py``, 4 seeds).
    """
    return (
        len(history.levels) <= 1 and not history.prior_studies and not data.catalogues and bool(data.cube.numeric.all())
    )


def middle_of(space: Space) -> Config:
    """Return the configuration whose numbers are the medians of their priors, in a space of numbers."""
    config: Config = {}
    for name in space.structure.order:
        active, given = space.structure.activity.get(name), space[name]
        if active is not None and not active(config):
            continue
        assert isinstance(given, Float | Int | Ordinal | Constant), "a space of numbers"
        config[name] = given.quantile((0.5,) * given.draws)
    return {name: config[name] for name in space.parameters if name in config}


def next_step(history: History, data: Observations, rng: np.random.Generator) -> Suggestion | None:
    """Return a step of the next parameter, up or down at random; ``None`` if no loss is known, or all steps were tried."""
    known = data.feasible(history)
    if not len(known):
        return None
    cube, best = data.cube, int(known[np.argmin(data.sort_keys[known])])
    for turn in range(cube.width):
        column = (len(history.trials) - 1 + turn) % cube.width
        step = STEP if rng.random() < 0.5 else -STEP
        row = data.X[best].copy()
        row[column] += step if 0.0 <= row[column] + step <= 1.0 else -step
        config = cube.decode(cube.snap(row[None])[0])
        if history.tried(config) is None:
            parameter = cube.labels[cube.groups[column]]
            return Suggestion(config, f"a step of {parameter} from trial {data.trial[best]}")
    return None


# ---------------------------------------------------------------- user priors


def has_priors(space: Space) -> bool:
    """Return whether any parameter has a prior."""
    return any(_prior(given) is not None for given in space.parameters.values())


def _beside_priors(history: History, data: Observations, task: New, rng: np.random.Generator) -> Suggestion | Done:
    """Return the next trial of a design in which user priors place only some of the trials."""
    number = len(history.trials)
    if history.prior_studies and number % 2 == 0:
        return first_design(history, task, rng)  # one of the best of other studies, which have every second trial
    turn = number // 2 if history.prior_studies else number
    if turn % 2 or not _trusted(history, data):
        return first_design(history, task, rng, without_priors(history.space))
    drawn = first_design(history, task, rng)
    if turn or isinstance(drawn, Done):
        return drawn
    config = history.space.complete(_expected(history.space), drawn.config, rng)
    expected = Suggestion(config, Origin("prior", "where the priors are largest"))
    return expected if history.tried(config) is None else drawn


def _trusted(history: History, data: Observations) -> bool:
    if data.count < LEAST_TRUSTED:
        return True
    from xstar.searchers.bo.user_prior import trusted  # imported at use: SciPy loads slowly

    return trusted(history, data) > 0.0


@lru_cache(maxsize=16)
def without_priors(space: Space) -> Space:
    """Return the space with no prior."""
    plain: dict[str, Any] = dict(space.parameters)
    plain |= {name: replace(given, prior=None) for name, given in plain.items() if _prior(given) is not None}
    return Space(plain)


def _expected(space: Space) -> dict[str, Value]:
    """Return the most probable value of each parameter that has a prior."""
    made: dict[str, Value] = {}
    for name, given in space.parameters.items():
        if (prior := _prior(given)) is None:
            continue
        match given:
            case Float() | Int():
                made[name] = given.decoder(0)((prior_position(given, prior),))
            case Bool():
                made[name] = prior >= 0.5
            case Choice() | Ordinal():
                made[name] = given.value_at(int(np.argmax(prior)))
    return made


def _prior(given: Any) -> Any:
    return getattr(given, "prior", None)
