"""Restarts: a search that has not improved for long begins anew, beside itself.

A surrogate that has seen a hundred trials around one optimum is sure that there is no better one far away, and mostly right;
where it is not, expected improvement stays where it is. A search that begins with other trials often ends at another optimum.
So after ``patience`` trials without improvement every second suggestion is made as if the search had just begun: an initial
design, then a model of its own trials alone. Once one of either is better than all before, the model of all trials takes over.

Notation: p the patience. Of the trials since the best one, the first p go on as before; then come stretches of 2p, each a
restart. Trials that were added or enqueued by hand do not count.

Measured on the development set of ``benchmarks/generality.py`` (54 problems, searches of 200 trials, three seeds and a part of
a fourth; noisy ones, too), beside none: with p = 50, losses were lower in 22 searches, higher in 20 and the same in 153; if
all suggestions are the restart's, 11, 19 and 128; with p = 30, 16, 30 and 112; if an improvement counts from a thousandth of
the difference between the median and the lowest loss on, 30, 20 and 108, of which 11 and 12 were large. There is little to
gain within 200 trials, and much for a search that is stuck: one of NAS-Bench-201's, for 425 trials, ended at the optimum after
146 with p = 50, after 199 with p = 100, after 285 with p = 200 (``benchmarks/nasbot_real.py``).

Within 250 trials (``--part restarts``) p = 100 costs as often as it gains, and more where the difference is large (5 searches
lower, 8 higher). In searches of 500 trials on 26 problems where many get stuck (``--part stuck``, 121 searches) it is lower in
28 and higher in 19, of large differences in 6 and 11: in spaces of numbers, half of the trials are missed sooner than the
restart finds anything. With p = 200, lower in 15 and higher in 11, of large differences in 5 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xstar.core.table import Table
from xstar.journal import History
from xstar.models.kernels import Array
from xstar.searchers.model_based.observations import Observations, feasible_places
from xstar.trial import Origin, Suggestion

EVERY = 2
"""One suggestion in so many is the restart's; the others go on as before."""
BY_HAND = ("added", "enqueued")
"""Origins of trials that no search chose: they are no sign that one is stuck."""
STRETCH = 2
"""How long a restart lasts, in multiples of the patience."""


@dataclass(frozen=True, slots=True)
class Restart:
    """A search within a search."""

    begun: int
    """The number of its first trial."""
    own: NDArray[np.int64]
    """The numbers of its trials so far."""

    def owns(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which trials are its own."""
        return np.isin(numbers, self.own)

    def named(self, made: Suggestion) -> Suggestion:
        """Return its suggestion, with an origin that says whose it is."""
        origin = Origin.of(made.origin)
        detail = origin.detail if origin.numbers else origin.detail.replace("{", "{{").replace("}", "}}")
        numbers = {**origin.numbers, "restart": self.begun}
        return Suggestion(
            made.config, Origin(origin.method, detail + ", a search anew from trial {restart} on", **numbers)
        )


def restart(history: History, data: Observations, patience: int) -> Restart | None:
    """Return the restart that the next trial belongs to, if it belongs to one: at full budget, of numbers and options."""
    if not patience or len(history.levels) > 1 or history.brought or data.networks:
        return None
    kept = history.memo.get(Lowest, data.in_numbers) or history.memo.put(Lowest(), data.in_numbers)
    if (lowest := kept.of(history, data)) is None:
        return None
    best = int(data.trial[lowest])
    if len(history.trials) - (best + 1) < patience:
        return None
    asked = history.memo.fold(Asked, history).numbers[:, 0]
    asked = asked[np.searchsorted(asked, best, side="right") :]
    since = len(asked) - patience
    if since < 0 or since % EVERY:
        return None
    first = patience + since // (STRETCH * patience) * STRETCH * patience
    own = asked[first::EVERY].astype(np.int64)
    return Restart(int(own[0]) if len(own) else len(history.trials), own)


class Lowest:
    """The observation with the lowest loss that may be the incumbent; follows the observations."""

    def __init__(self) -> None:
        self._seen = 0
        self._place: int | None = None

    def of(self, history: History, data: Observations) -> int | None:
        """Return its place; ``None`` if there is none."""
        if self._place is not None and not len(feasible_places(history, data, np.array([self._place]))):
            self._seen, self._place = 0, None  # its trial has failed since
        new = feasible_places(history, data, np.arange(self._seen, data.count))
        self._seen = data.count
        if len(new):
            place = int(new[np.argmin(data.loss[new])])
            if self._place is None or data.loss[place] < data.loss[self._place]:
                self._place = place
        return self._place


class Asked:
    """The numbers of the trials that a search chose, ascending."""

    def __init__(self) -> None:
        self._seen = 0
        self._numbers = Table(1)

    @property
    def numbers(self) -> Array:
        return self._numbers.rows

    def catch_up(self, history: History) -> None:
        """Take in the trials that the history has gained since the last call."""
        new = history.trials[self._seen :]
        self._seen += len(new)
        chosen = [trial.number for trial in new if Origin.of(trial.origin).method not in BY_HAND]
        self._numbers.append(np.array(chosen, dtype=np.float64).reshape(-1, 1))
