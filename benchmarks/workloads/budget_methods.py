"""The methods of ``budgets.py``: names of ours, and MOBSTER with one default changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xstar.schedulers import ASHA, Scheduler, StoppingASHA
from xstar.searchers import DNGO, GP, Searcher


@dataclass(frozen=True)
class BudgetMethod:
    """A name of ``xs.minimize``, or that of the part that is not replaced."""

    name: str
    what: str = ""
    searcher: Searcher | None = None
    scheduler: Callable[[int], Scheduler] | None = None
    """From the full budget."""
