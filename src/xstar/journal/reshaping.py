"""What becomes of a history when a user makes the space wider or narrower.

A wider space holds every trial so far. Of a narrower one some lie outside: they stay on record, and among the best, but
searchers learn nothing from them: an incumbent that cannot be reached, an option that is not there or another value of what
is frozen would mislead a model. (The distribution of PBIL keeps what it has learned; it sees them at the nearest place.) If
the space becomes wider again, they count again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from xstar.errors import InvalidConfig, Words
from xstar.journal.prior_study import PriorObservations
from xstar.journal.trial import Config, Trial, reshape as reshape_trial
from xstar.space import Space
from xstar.space.transfer import in_wider, narrower, nearest


def reshape(trials: Iterable[Trial], old: Space, new: Space, fill: Config) -> None:
    """Give every trial its configuration in the new space; raises ``InvalidConfig`` where one has none, but should."""
    lost = narrower(old, new)
    if lost and narrower(new, old):
        raise InvalidConfig("space", "must become wider or narrower, not both", Words("; ".join(lost)))
    for trial in trials:
        try:
            reshape_trial(trial, in_wider(trial.config, new, fill))
        except InvalidConfig:
            if not lost and trial.inside:
                raise
            reshape_trial(trial, None, nearest(trial.config, new))


def inside(prior: PriorObservations, old: Space, new: Space, fill: Config) -> PriorObservations:
    """What another study observed inside of the new space."""
    kept: dict[int, Config] = {}
    lost = bool(narrower(old, new))
    for place, config in enumerate(prior.configs):
        try:
            kept[place] = in_wider(config, new, fill)
        except InvalidConfig:
            if not lost:
                raise
    index = {place: number for number, place in enumerate(kept)}
    observed = tuple((index[place], *rest) for place, *rest in prior.observed if place in index)
    return replace(prior, configs=tuple(kept.values()), observed=observed)


def queue_inside(queue: Sequence[tuple[int, Config]], space: Space) -> deque[tuple[int, Config]]:
    """The configurations of the queue that can still be tried."""
    kept: deque[tuple[int, Config]] = deque()
    for number, config in queue:
        try:
            kept.append((number, space.parse_partial(config)))
        except InvalidConfig:
            continue
    return kept
