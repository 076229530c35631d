"""What searchers with a model share: which spaces they take, how many trials come before the model, and what if it fails."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.nets.catalogue import is_of_networks
from xstar.searchers.base import exhausted, untried
from xstar.searchers.model_based.observations import Observations
from xstar.searchers.mutation import first_design
from xstar.space import Space
from xstar.space.cube import cube_of
from xstar.trial import Done, New, Suggestion

NETWORKS = 10
"""Trials before a model is asked where a parameter is an architecture: the initial pools of NASBOT have as many."""


def suggest(
    history: History,
    task: New,
    rng: np.random.Generator,
    *,
    name: str,
    initial: int | None,
    in_numbers: bool,
    decide: Callable[[Observations], Suggestion | str],
) -> Suggestion | Done:
    """A trial of the initial design, what ``decide`` suggests, or a random one with the reason why it suggests nothing.

    ``initial`` trials come first: by default twice as many as there are parameters, between 5 and 12; under a scheduler with
    rungs one more than there are parameters, between 4 and 10; with an architecture at least ``NETWORKS``.
    """
    if (done := exhausted(history)) is not None:
        return done
    if others := _without_networks(history.space):
        rule = f"{name} needs parameters with positions, or architectures"
        raise InvalidArgument("space", rule, ", ".join(others), "give its values an attribute graph, or leave it out")
    data = Observations.of(history, in_numbers)
    started = len(history.trials)
    known = data.count + len(data.broken)
    if started < (initial or _initial(history, data)) or known < 2 or not data.width:
        drawn = first_design(history, task, rng)
        if isinstance(drawn, Done):
            return drawn
        return Suggestion(drawn.config, f"{name}: initial {started + 1}, {drawn.origin}")
    made = decide(data)
    if isinstance(made, Suggestion):
        return made
    at_random = untried(history, rng)
    return at_random if isinstance(at_random, Done) else Suggestion(at_random, f"random: {made}")


def _initial(history: History, data: Observations) -> int:
    d = len(data.cube.labels)
    over_budgets = len(history.levels) > 1  # an observation at the lowest rung costs little
    count = min(max(d + 1, 4), 10) if over_budgets else min(max(2 * d, 5), 12)
    return max(count, NETWORKS) if data.networks else count


@lru_cache(maxsize=16)
def _without_networks(space: Space) -> list[str]:
    """The domains whose values are no networks."""
    return [name for name in cube_of(space).encoder.domains if not is_of_networks(space[name])]
