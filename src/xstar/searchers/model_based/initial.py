"""Code shared by searchers with a model: supported spaces, the size of the initial design, and the fallback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.nets.catalogue import is_of_networks
from xstar.searchers.base import at_random, exhausted
from xstar.searchers.model_based import blind
from xstar.searchers.model_based.observations import Observations
from xstar.searchers.model_based.prior_design import has_priors, next_trial, trials_of_design
from xstar.searchers.model_based.restarts import Restart, restart
from xstar.searchers.model_based.steps import MOST_PARAMETERS, next_step, trials_of_steps
from xstar.searchers.mutation import first_design, initial_trial
from xstar.space import Constant, Float, Int, Ordinal, Space
from xstar.space.cube import cube_of
from xstar.trial import Config, Done, New, Suggestion

if TYPE_CHECKING:
    from xstar.searchers.model_based.learner import Learner

LEAST_WITH_NETWORKS = 10
"""Minimum number of initial trials with an architecture in the space: NASBOT's initial pools have this many
networks."""

LEAST_WITH_SOURCES = 3
"""Minimum number of initial trials where other studies brought something along; otherwise it is half of what it would be."""


MakeLearner = Callable[..., "Learner"]
"""Makes a learner of a history and observations, and of the number of their first trial where they are those of a restart."""


@dataclass(frozen=True, slots=True)
class Design:
    """The trials before the first model-based suggestion."""

    method: str
    initial: int | None = None
    """The number of trials. The default is twice the number of parameters, between 5 and 12. Under a scheduler with
    rungs it is the number of parameters plus one, between 4 and 10. With an architecture it is at least
    ``LEAST_WITH_NETWORKS``."""
    middle: bool = False
    """Whether the first trial is the middle of the space, at the full budget and where all parameters are numbers."""
    steps: bool = False
    """Whether the trials after the middle are steps of one parameter each (``steps.py``): as many as there are parameters, if
    these are at most ``MOST_PARAMETERS`` and have no priors."""
    in_numbers: bool = False
    """Whether the surrogate represents networks by their index, or by their descriptive features."""
    doubts: bool = False
    """Whether priors place only some of the trials (``prior_design.py``)."""
    patience: int = 0
    """Trials without improvement after which the search begins anew beside itself (``restarts.py``); 0: never."""
    blind: str = "classifier"
    """Whether trials go on to ``spread`` while fewer than two have a value, or while losses are ``level``, too (``rungs``: all
    of them then, over budgets; ``blind.py``)."""


def suggest(
    history: History, task: New, rng: np.random.Generator, design: Design, learner: MakeLearner
) -> Suggestion | Done:
    """Suggest a trial of the initial design, the choice of the learner, one of a restart, or a random one."""
    data = before_models(history, task, rng, design)
    if not isinstance(data, Observations):
        return data
    if design.blind != "classifier":
        steps = _has_steps(history, data)
        made = blind.next_trial(history, data, rng, design.method, design.blind, steps=steps)
        if made is not None:
            return made
    from xstar.searchers.model_based.decision import explains_nothing, is_noisy  # imported at use: see that module

    whole = learner(history, data)
    if design.blind in blind.WHILE_LEVEL and blind.has_turn(history, data) and explains_nothing(whole):
        return blind.spread(history, rng, design.method, "losses differ by noise alone")
    anew = restart(history, data, design.patience)
    if anew is None or is_noisy(whole):
        return _decided(whole, history, rng)
    return _anew(anew, history, task, rng, design, learner)


def _anew(
    restart: Restart, history: History, task: New, rng: np.random.Generator, design: Design, learner: MakeLearner
) -> Suggestion | Done:
    """Suggest a trial of a restart: a Sobol point, or the choice of a learner that knows its own trials alone."""
    data = Observations.of(history, design.in_numbers)
    own, started = data.among(restart.owns), len(restart.own)
    if started < (design.initial or _initial(history, data)) or own.count < 2:
        made = initial_trial(design.method, first_design(history, task, rng), started)
    else:
        made = _decided(learner(history, own, restart.begun), history, rng)
    return made if isinstance(made, Done) else restart.named(made)


def _decided(learner: Learner, history: History, rng: np.random.Generator) -> Suggestion | Done:
    from xstar.searchers.model_based.decision import decide  # imported at use: see that module

    made = decide(learner, rng)
    return made if isinstance(made, Suggestion) else at_random(history, rng, made)


def before_models(
    history: History, task: New, rng: np.random.Generator, design: Design
) -> Observations | Suggestion | Done:
    """Suggest a trial of the initial design; the observations, if they are enough for a model."""
    if (done := exhausted(history)) is not None:
        return done
    if others := _without_networks(history.space):
        rule = f"{design.method} needs parameters with positions, or architectures"
        raise InvalidArgument("space", rule, ", ".join(others), "give its values an attribute graph, or leave it out")
    data = Observations.of(history, design.in_numbers)
    started = len(history.trials)
    known = data.count + len(data.failed)
    doubts = design.doubts and has_priors(history.space)
    steps = design.steps and _has_steps(history, data)
    count = design.initial or (trials_of_steps(data.cube.width) if steps else _initial(history, data))
    if doubts and design.initial is None and started < count:
        count = trials_of_design(history, data, count)
    if started < count or known < 2 or not data.width:
        drawn = next_trial(history, data, task, rng) if doubts else first_design(history, task, rng)
        begins = started == 0 and not doubts and isinstance(drawn, Suggestion)
        if begins and design.middle and _has_middle(history, data):
            drawn = Suggestion(middle(history.space), "the middle of the space")
        elif steps and started:
            drawn = next_step(history, data, rng) or drawn
        return initial_trial(design.method, drawn, started)
    return data


def _has_middle(history: History, data: Observations) -> bool:
    """Over budgets and after other studies the first trials have another purpose; networks and options have no middle.

    Numbers beside options have one, but it favours the option that it is tried with: losses after 50 trials were lower in 10
    searches and higher in 14 (7 problems with options of ``benchmarks/generality.py``, 4 seeds).
    """
    return len(history.levels) <= 1 and not history.brought and not data.networks and bool(data.cube.numeric.all())


def _has_steps(history: History, data: Observations) -> bool:
    many = data.cube.width > MOST_PARAMETERS
    return not many and bool(data.cube.width) and _has_middle(history, data) and not has_priors(history.space)


def middle(space: Space) -> Config:
    """Return the configuration whose numbers are the medians of their priors, in a space of numbers."""
    config: Config = {}
    for name in space.structure.order:
        active, given = space.structure.activity.get(name), space[name]
        if active is not None and not active(config):
            continue
        assert isinstance(given, Float | Int | Ordinal | Constant), "a space of numbers"
        config[name] = given.quantile((0.5,) * given.draws)
    return {name: config[name] for name in space.parameters if name in config}


def _initial(history: History, data: Observations) -> int:
    d = len(data.cube.labels)
    over_budgets = len(history.levels) > 1  # an observation at the lowest rung is cheap
    count = min(max(d + 1, 4), 10) if over_budgets else min(max(2 * d, 5), 12)
    count = max(count, LEAST_WITH_NETWORKS) if data.networks else count
    return max((count + 1) // 2, LEAST_WITH_SOURCES) if history.brought else count


@lru_cache(maxsize=16)
def _without_networks(space: Space) -> list[str]:
    """Return the domains whose values are not networks."""
    return [name for name in cube_of(space).encoder.domains if not is_of_networks(space[name])]
