"""The initial design where parameters have priors, for a searcher that believes them only as far as they prove right.

The first trial is where the user expects the optimum. From then on Sobol points through the priors and Sobol points without
them take turns, so that the two can be compared (``trust`` in ``beliefs.py``). If what the priors favour turns out to be no
better, they are left out, and the design is as long as without priors: a wrong prior costs the trials it placed before that,
two as a rule. If it is better, half as many trials are enough.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from xstar.journal import History
from xstar.searchers.model_based.observations import Observations
from xstar.searchers.mutation import first_design
from xstar.space import Bool, Choice, Float, Int, Ordinal, Space, Value
from xstar.space.number import prior_position
from xstar.trial import Done, New, Origin, Suggestion

ENOUGH = 4
"""Observations from which on priors are doubted: two that they placed and two others, if one trial runs at a time."""
LEAST_TRUSTED = 4
"""The shortest design."""


def has_priors(space: Space) -> bool:
    """Return whether any parameter has a prior."""
    return any(getattr(given, "prior", None) is not None for given in space.parameters.values())


def trials_of_design(history: History, data: Observations, usual: int) -> int:
    """Return how many trials the design has, where it has ``usual`` without priors."""
    return max((usual + 1) // 2, LEAST_TRUSTED) if _trusted(history, data) else usual


def next_trial(history: History, data: Observations, task: New, rng: np.random.Generator) -> Suggestion | Done:
    """Return the next trial of the design."""
    number = len(history.trials)
    if history.brought and number % 2 == 0:
        return first_design(history, task, rng)  # one of the best of other studies, which have every second trial
    turn = number // 2 if history.brought else number
    if turn % 2 or not _trusted(history, data):
        return first_design(history, task, rng, without_priors(history.space))
    drawn = first_design(history, task, rng)
    if turn or isinstance(drawn, Done):
        return drawn
    config = history.space.complete(_expected(history.space), drawn.config, rng)
    return (
        Suggestion(config, Origin("prior", "where the priors are largest")) if history.tried(config) is None else drawn
    )


def _trusted(history: History, data: Observations) -> bool:
    if data.count < ENOUGH:
        return True
    from xstar.searchers.model_based.beliefs import trusted  # imported at use: SciPy loads slowly

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
