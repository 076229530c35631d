"""What searchers with a model share: which spaces they take, how many trials come before the model, and what if it fails."""

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
from xstar.searchers.model_based.observations import Observations
from xstar.searchers.mutation import first_design, initial_trial
from xstar.space import Space
from xstar.space.cube import cube_of
from xstar.trial import Done, New, Suggestion

if TYPE_CHECKING:
    from xstar.searchers.model_based.learner import Learner

LEAST_WITH_NETWORKS = 10
"""Trials before a model is asked where a parameter is an architecture: the initial pools of NASBOT have as many."""


@dataclass(frozen=True, slots=True)
class Design:
    """The trials before the surrogate is asked."""

    method: str
    initial: int | None = None
    """How many. By default twice as many as there are parameters, between 5 and 12; under a scheduler with rungs one more than
    there are parameters, between 4 and 10; with an architecture at least ``LEAST_WITH_NETWORKS``."""
    in_numbers: bool = False
    """Whether the surrogate knows networks by number, or by the columns that describe them."""


def suggest(
    history: History, task: New, rng: np.random.Generator, design: Design, learner: Callable[..., Learner]
) -> Suggestion | Done:
    """A trial of the initial design, what the ``learner(history, data)`` suggests, or a random one and why it suggests none."""
    if (done := exhausted(history)) is not None:
        return done
    if others := _without_networks(history.space):
        rule = f"{design.method} needs parameters with positions, or architectures"
        raise InvalidArgument("space", rule, ", ".join(others), "give its values an attribute graph, or leave it out")
    data = Observations.of(history, design.in_numbers)
    started = len(history.trials)
    known = data.count + len(data.failed)
    if started < (design.initial or _initial(history, data)) or known < 2 or not data.width:
        return initial_trial(design.method, first_design(history, task, rng), started)
    from xstar.searchers.model_based.decision import decide  # at use: see there

    made = decide(learner(history, data), rng)
    return made if isinstance(made, Suggestion) else at_random(history, rng, made)


def _initial(history: History, data: Observations) -> int:
    d = len(data.cube.labels)
    over_budgets = len(history.levels) > 1  # an observation at the lowest rung costs little
    count = min(max(d + 1, 4), 10) if over_budgets else min(max(2 * d, 5), 12)
    return max(count, LEAST_WITH_NETWORKS) if data.networks else count


@lru_cache(maxsize=16)
def _without_networks(space: Space) -> list[str]:
    """The domains whose values are no networks."""
    return [name for name in cube_of(space).encoder.domains if not is_of_networks(space[name])]
