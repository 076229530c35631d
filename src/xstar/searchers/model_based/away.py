"""Away from copies: where suggestions have proved to repeat a trial, the next one goes elsewhere.

Where a parameter has no effect, or counts in steps only, or where curves come from a table, many configurations train exactly
alike (``journal/copies.py`` says when trials count as copies). To a surrogate each is an observation of its own. It sees that
they are good, cannot see that all around is the same thing, and keeps suggesting its neighbourhood: of 1,062 trials of one
search of MOBSTER on the table of ``problems/electricity.py``, 551 had one curve.

What the next suggestion near a trial would be, those so far tell. Of m trials with one curve, m − 1 were copies, so the next is
none with probability 1/(m + 1), by the rule of succession, if the trial that is nearest to it (in the encoded space) is one of
these. The acquisition function is multiplied by that, relative to 1/2 around a trial whose curve no other has. But the model
stays too hopeful there, as it does not know that the loss is flat: by this factor alone one curve was suggested 661 times. So
from ``LEFT`` trials on, such a place is suggested only if all that was compared is one.
"""

from __future__ import annotations

import numpy as np

from xstar.acquisition.criterion import LogProbability, ToRows
from xstar.journal import History
from xstar.journal.copies import Copies
from xstar.models.kernels import Array
from xstar.searchers.model_based.observations import Observations

LEFT = 10
"""Trials with one curve from which on their surroundings are left. Two were too few: on nine tables on which it was not chosen,
searches for the time of four trainings ended lower in 24 and higher in 34 (``benchmarks/budgets.py``; not on record). With ten
it is 21 and 31 there, as chance would have it, and for the time of 24 trainings 8 and 1 of 16 (``--trainings 24``)."""
PENALTY = 50.0
"""Of the logarithm of expected improvement: more than what candidates differ by."""

ROOM = 1 << 22
"""Distances that are computed at once, 32 MiB of them: with 100,000 trials all would be gigabytes."""


def away_from_copies(history: History, data: Observations) -> list[LogProbability]:
    """Return a term that keeps suggestions away from copies; nothing, while there are none."""
    number, counts = history.memo.fold(Copies, history).alike()
    if not (counts > 1.0).any():
        return []
    values = np.where(counts < LEFT, -np.log((counts + 1.0) / 2.0), -PENALTY)
    return [away(data.tried(history)[number], values)]


def away(X: Array, values: Array) -> LogProbability:
    """Return the value of the nearest of ``X``; it is constant around each of them, so its gradient is zero."""
    halves = 0.5 * np.einsum("ij,ij->i", X, X)

    def log_probability(rows: Array) -> tuple[Array, ToRows | None]:
        nearest = [np.argmin(halves - some @ X.T, axis=1) for some in in_blocks(rows, len(X))]
        return values[np.concatenate(nearest)], lambda w: np.zeros_like(rows)

    return log_probability


def in_blocks(rows: Array, others: int) -> list[Array]:
    """Return the rows in parts whose distances to ``others`` rows take ``ROOM`` numbers at most: one part for most searches."""
    return np.array_split(rows, max(1, min(len(rows), -(-len(rows) * others // ROOM))))
