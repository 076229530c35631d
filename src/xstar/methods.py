"""``method="…"`` is sugar: a name for a searcher and the scheduler it is paired with."""

from __future__ import annotations

from collections.abc import Callable

from xstar.errors import InvalidArgument
from xstar.schedulers import FIFO, Scheduler
from xstar.searchers import Grid, Random, Searcher, Sobol

METHODS: dict[str, tuple[Callable[[], Searcher], Callable[[int | None], Scheduler]]] = {
    "random": (Random, FIFO),
    "sobol": (Sobol, FIFO),
    "grid": (Grid, FIFO),
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
