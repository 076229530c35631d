"""The rungs that multi-fidelity schedulers share.

Notation (Section 2 of the MOBSTER paper)

    symbol      here            meaning
    r_min       min_budget      budget of the lowest rung, one epoch by default
    r_max       max_budget      full budget, always the highest rung
    η           eta             a rung keeps the best 1/η of its records
    R           rungs           r_min, r_min·η, r_min·η², …, r_max
    K           top             index of the highest rung

Where r_max is no power of η times r_min, the last step is the shorter one: 1, 3, 9, 27, 52.

Rungs are found by multiplying integers. The usual ⌊log(r_max / r_min) / log η⌋ loses one at 243 = 3⁵, because the quotient of
the logarithms is 4.999…; five public implementations do that.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from xstar.core.checks import check_counts, whole_number
from xstar.core.randomness import Streams
from xstar.errors import InvalidArgument
from xstar.journal.trial import Trial

DEFAULT_ETA = 3
"""The paper uses 3 throughout; 2 to 4 behave alike, larger values drop more trials on less evidence."""


def geometric_rungs(min_budget: int, max_budget: int, eta: int) -> tuple[int, ...]:
    """The ladder from ``min_budget`` to ``max_budget``, which need not be a power of ``eta`` times ``min_budget``.

    >>> geometric_rungs(1, 243, 3)
    (1, 3, 9, 27, 81, 243)
    >>> geometric_rungs(27, 100, 3)
    (27, 81, 100)
    """
    steps = itertools.takewhile(lambda r: r < max_budget, (min_budget * eta**k for k in itertools.count()))
    return (*steps, max_budget)


@dataclass(frozen=True)
class OnRungs:
    """The settings of schedulers that compare trials at rungs (abstract)."""

    max_budget: int
    min_budget: int | None = None
    """The lowest rung; ``None``: one epoch."""
    eta: int = DEFAULT_ETA
    rung_levels: Sequence[int] | None = None
    """The rungs one by one, in place of ``min_budget`` and ``eta``; the last one is ``max_budget``."""
    brackets: int | None = 1
    """Bracket s begins at rung s, for s = 0 … brackets − 1; ``None``: as many as there are rungs (Hyperband)."""
    rungs: tuple[int, ...] = field(init=False, repr=False, compare=False)
    sizes: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """How many configurations Hyperband starts in bracket s."""

    def __post_init__(self) -> None:
        least = {"max_budget": 1, "min_budget": 1, "eta": 2, "brackets": 1}
        check_counts(self, least, optional=("brackets", "min_budget"), remedies=_REMEDIES)
        rungs = checked_rungs(self.max_budget, self.min_budget, self.eta, self.rung_levels)
        brackets = len(rungs) if self.brackets is None else self.brackets
        if brackets > len(rungs):
            raise InvalidArgument("brackets", f"must be at most the number of rungs, {len(rungs)} here", brackets)
        top = len(rungs) - 1
        # Hyperband gives every bracket the same budget: (K + 1)/(K + 1 − s) · η^(K − s) configurations, rounded up.
        sizes = tuple(-(-(top + 1) * self.eta ** (top - s) // (top + 1 - s)) for s in range(brackets))
        object.__setattr__(self, "rung_levels", None if self.rung_levels is None else rungs)
        object.__setattr__(self, "rungs", rungs)
        object.__setattr__(self, "sizes", sizes)

    def bracket_of(self, seed: int, number: int) -> int:
        """The bracket of a new trial: drawn in proportion to the number of configurations Hyperband starts in each."""
        if len(self.sizes) == 1:
            return 0
        draw = _streams(seed).generator(number, "bracket").random() * sum(self.sizes)
        for bracket, size in enumerate(self.sizes):
            draw -= size
            if draw < 0:
                return bracket
        return len(self.sizes) - 1

    def at_rung(self, trial: Trial, budget: int) -> bool:
        """Whether a report at ``budget`` is one that is decided on: the trial came this far to be compared."""
        return budget == trial.target and budget < self.max_budget


def checked_rungs(
    max_budget: int, min_budget: int | None, eta: int, rung_levels: Sequence[int] | None
) -> tuple[int, ...]:
    """The ladder that these settings describe."""
    if rung_levels is None:
        if min_budget is not None and min_budget > max_budget:
            found = f"min_budget={min_budget}, max_budget={max_budget}"
            raise InvalidArgument("min_budget", "must not be above max_budget", found, "swap them")
        return geometric_rungs(1 if min_budget is None else min_budget, max_budget, eta)
    if min_budget is not None:
        remedy = "leave one of the two out"
        raise InvalidArgument("min_budget", "is the first of rung_levels where these are given", min_budget, remedy)
    remedy = "e.g. rung_levels=[1, 3, 9]"
    levels = tuple(whole_number("rung_levels", level, least=1, remedy=remedy) for level in rung_levels)
    if not levels or list(levels) != sorted(set(levels)):
        raise InvalidArgument("rung_levels", "must be ascending whole numbers of at least 1", list(levels))
    if levels[-1] != max_budget:
        found = f"rung_levels={list(levels)}, max_budget={max_budget}"
        raise InvalidArgument("rung_levels", "must end with max_budget", found)
    return levels


_REMEDIES = {
    "max_budget": "e.g. max_budget=81, the number of epochs of a full training run",
    "min_budget": "e.g. min_budget=1, the number of epochs after which trials are first compared",
    "eta": "e.g. eta=3 keeps the best third at every rung",
    "brackets": "brackets=1 is successive halving",
}


@lru_cache(maxsize=8)
def _streams(seed: int) -> Streams:
    return Streams(seed)
