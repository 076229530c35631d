"""The rungs that multi-fidelity schedulers share.

Notation (Section 2 of the MOBSTER paper)

    symbol      here            meaning
    r_min       min_budget      budget of the lowest rung
    r_max       max_budget      full budget, always the highest rung
    η           eta             a rung keeps the best 1/η of its records
    R           rungs           r_min, r_min·η, r_min·η², …, r_max; or from the top, r_max, r_max/η, r_max/η², …, r_min
    K           steps           rungs but one

The two ladders are the same where r_max is r_min times a power of η. Elsewhere one step is shorter than the others, and it
matters which: of 1, 3, 9, 27, 52 the last saves little and comes late, of 1, 2, 6, 17, 52 the first costs an epoch.

Rungs are found by arithmetic of integers. The usual ⌊log(r_max / r_min) / log η⌋ loses one at 243 = 3⁵, because the quotient of
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
from xstar.trial import Trial

DEFAULT_ETA = 3
"""The paper uses 3 throughout; 2 to 4 behave alike, larger values drop more trials on less evidence."""

SHORTEST = 27
"""The first epochs are where learning curves cross: of LCBench's tasks the rank correlation with the end is between −0.6 and
0.5 after one epoch of 52, mostly near 0, and 0.4 to 0.9 after three. ASHA with rungs from here on ends lower than with those
of the paper, which begin at one epoch, in 101 pairs and higher in 42; against random search it is 147–23 instead of 115–64 (20
development tasks of ``benchmarks/budgets.py``, ten seeds, four workers). With a model, one more rung at one epoch is better
where that epoch is honest and takes twice as many suggestions; where it is the wrong way round, nothing good survives it."""


def geometric_rungs(min_budget: int, max_budget: int, eta: int) -> tuple[int, ...]:
    """The ladder from ``min_budget`` to ``max_budget``, which need not be a power of ``eta`` times ``min_budget``.

    >>> geometric_rungs(1, 243, 3)
    (1, 3, 9, 27, 81, 243)
    >>> geometric_rungs(27, 100, 3)
    (27, 81, 100)
    """
    steps = itertools.takewhile(lambda r: r < max_budget, (min_budget * eta**k for k in itertools.count()))
    return (*steps, max_budget)


def rungs_from_top(min_budget: int, max_budget: int, eta: int) -> tuple[int, ...]:
    """The ladder whose steps are ``eta`` from the top down: r_max/η^j, rounded, and ``min_budget`` at its foot.

    The number of steps is the one whose η^K is nearest to r_max/r_min in ratio, so that the lowest step is between √η and
    η·√η, and never shorter than that.

    >>> rungs_from_top(1, 243, 3)
    (1, 3, 9, 27, 81, 243)
    >>> rungs_from_top(1, 52, 3)
    (1, 2, 6, 17, 52)
    >>> rungs_from_top(27, 100, 3)
    (27, 100)
    """
    if min_budget == max_budget:
        return (max_budget,)
    # η^(K − 1/2) ≤ r_max/r_min, squared; at least one step.
    steps = 1
    while min_budget**2 * eta ** (2 * steps + 1) <= max_budget**2:
        steps += 1
    return tuple(sorted({min_budget, *(_rounded(max_budget, eta**k) for k in range(steps))}))


def _rounded(number: int, by: int) -> int:
    """The quotient, rounded half up."""
    return (2 * number + by) // (2 * by)


@dataclass(frozen=True)
class OnLadder:
    """The settings of schedulers that compare trials at rungs (abstract)."""

    max_budget: int
    min_budget: int | None = 1
    """The lowest rung; ``None``: a share of 1/``SHORTEST`` of ``max_budget``, and at least 1."""
    eta: int = DEFAULT_ETA
    levels: Sequence[int] | None = None
    """Rungs given one by one instead of by ``min_budget`` and ``eta``; the last one is ``max_budget``."""
    brackets: int | None = 1
    """Bracket s begins at rung s, for s = 0 … brackets − 1; ``None``: as many as there are rungs (Hyperband)."""
    rungs: tuple[int, ...] = field(init=False, repr=False, compare=False)
    sizes: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """How many configurations Hyperband starts in bracket s."""

    def __post_init__(self) -> None:
        least = {"max_budget": 1, "min_budget": 1, "eta": 2, "brackets": 1}
        check_counts(self, least, optional=("brackets", "min_budget"), remedies=_REMEDIES)
        lowest = max(1, _rounded(self.max_budget, SHORTEST)) if self.min_budget is None else self.min_budget
        if self.levels is not None:
            rungs = self._explicit(tuple(self.levels))
        elif lowest > self.max_budget:
            found = f"min_budget={self.min_budget}, max_budget={self.max_budget}"
            raise InvalidArgument("min_budget", "must not be above max_budget", found, "swap them")
        else:
            rungs = self._geometric(lowest)
        brackets = len(rungs) if self.brackets is None else self.brackets
        if brackets > len(rungs):
            raise InvalidArgument("brackets", f"must be at most the number of rungs, {len(rungs)} here", brackets)
        top = len(rungs) - 1
        # Hyperband gives every bracket the same budget: (K + 1)/(K + 1 − s) · η^(K − s) configurations, rounded up.
        sizes = tuple(-(-(top + 1) * self.eta ** (top - s) // (top + 1 - s)) for s in range(brackets))
        object.__setattr__(self, "levels", None if self.levels is None else rungs)
        object.__setattr__(self, "rungs", rungs)
        object.__setattr__(self, "sizes", sizes)

    def _geometric(self, lowest: int) -> tuple[int, ...]:
        return geometric_rungs(lowest, self.max_budget, self.eta)

    def _explicit(self, levels: tuple[int, ...]) -> tuple[int, ...]:
        levels = tuple(whole_number("levels", level, least=1, remedy="e.g. levels=[1, 3, 9]") for level in levels)
        if not levels or list(levels) != sorted(set(levels)):
            raise InvalidArgument("levels", "must be ascending whole numbers of at least 1", list(levels))
        if levels[-1] != self.max_budget:
            found = f"levels={list(levels)}, max_budget={self.max_budget}"
            raise InvalidArgument("levels", "must end with max_budget", found)
        return levels

    def bracket_of(self, seed: int, number: int) -> int:
        """The bracket of a new trial: drawn in proportion to the number of configurations Hyperband starts in each."""
        if len(self.sizes) == 1:
            return 0
        place = _streams(seed).generator(number, "bracket").random() * sum(self.sizes)
        for bracket, size in enumerate(self.sizes):
            place -= size
            if place < 0:
                return bracket
        return len(self.sizes) - 1

    def at_rung(self, trial: Trial, budget: int) -> bool:
        """Whether a report at ``budget`` is one that is decided on: the trial came this far to be compared."""
        return budget == trial.target and budget < self.max_budget


_REMEDIES = {
    "max_budget": "e.g. max_budget=81, the number of epochs of a full training run",
    "min_budget": "e.g. min_budget=1, the number of epochs after which trials are first compared",
    "eta": "e.g. eta=3 keeps the best third at every rung",
    "brackets": "brackets=1 is successive halving",
}


@lru_cache(maxsize=8)
def _streams(seed: int) -> Streams:
    return Streams(seed)
