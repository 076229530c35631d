"""``method="…"`` is sugar: a name for a searcher and the scheduler it is paired with."""

from __future__ import annotations

import math
from collections.abc import Callable

from xstar.errors import InvalidArgument
from xstar.schedulers import ASHA, FIFO, Hyperband, MedianStop, Scheduler, StoppingASHA
from xstar.searchers import (
    DNGO,
    GP,
    NASBOT,
    PBIL,
    Auto,
    Evolution,
    Finite,
    Grid,
    NetworkRandom,
    Random,
    Searcher,
    Sobol,
)
from xstar.space import Space
from xstar.study.limits import Limits

METHODS: dict[str, tuple[Callable[[], Searcher], Callable[[int | None], Scheduler]]] = {
    "random": (Random, FIFO),
    "sobol": (Sobol, FIFO),
    "grid": (Grid, FIFO),
    "asha": (Random, lambda budget: ASHA(_needed(budget))),
    "asha-stop": (Random, lambda budget: StoppingASHA(_needed(budget))),
    "async-hyperband": (Random, lambda budget: ASHA(_needed(budget), brackets=None)),
    "async-hyperband-stop": (Random, lambda budget: StoppingASHA(_needed(budget), brackets=None)),
    "successive-halving": (Random, lambda budget: Hyperband(_needed(budget), brackets=1)),
    "hyperband": (Random, lambda budget: Hyperband(_needed(budget))),
    "median": (Random, lambda budget: MedianStop(_needed(budget))),
    "pbil": (PBIL, FIFO),
    "gp": (GP, FIFO),
    "dngo": (DNGO, FIFO),
    "auto": (Auto, FIFO),
    "nasbot": (NASBOT, FIFO),
    "nasbot-random": (NetworkRandom, FIFO),
    "evolution": (Evolution, FIFO),
    "mobster": (GP, lambda budget: ASHA(_needed(budget))),
    "mobster-stop": (GP, lambda budget: StoppingASHA(_needed(budget))),
    "mobster-hyperband": (GP, lambda budget: ASHA(_needed(budget), brackets=None)),
}

DEFAULT_METHOD = "random"


def resolve(
    method: str | None, searcher: Searcher | None, scheduler: Scheduler | None, max_budget: int | None
) -> tuple[Searcher, Scheduler]:
    """The pair that a user's ``method``, ``searcher``, ``scheduler`` and ``max_budget`` mean together."""
    name = DEFAULT_METHOD if method is None else method
    if name not in METHODS:
        raise InvalidArgument("method", f"must be one of {', '.join(METHODS)}", name)
    make_searcher, make_scheduler = METHODS[name]
    if scheduler is not None and max_budget is not None:
        raise InvalidArgument(
            "max_budget", "belongs to the scheduler when one is given", max_budget, "pass it to the scheduler instead"
        )
    return searcher or make_searcher(), scheduler or make_scheduler(max_budget)


def _needed(max_budget: int | None) -> int:
    if max_budget is None:
        raise InvalidArgument(
            "max_budget", "a method that ends trials early needs it", None, "pass the epochs of a full training run"
        )
    return max_budget


def check_end(limits: Limits, space: Space, searcher: Searcher) -> None:
    """Refuse a search that would never end."""
    if limits.endless and space.size == math.inf and not isinstance(searcher, Finite):
        rule, remedy = "a search of an infinite space needs an end", "set trials, seconds or target"
        raise InvalidArgument("trials", rule, None, remedy)
