"""The methods of ``budgets.py``: names of ours, and MOBSTER with one thing changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.workloads.at_once import AT_ONCE
from xstar.problems import Problem
from xstar.schedulers import ASHA, Scheduler, StoppingASHA
from xstar.searchers import DNGO, GP, Random, Searcher
from xstar.simulation import fitted


@dataclass(frozen=True)
class BudgetMethod:
    """A searcher under asynchronous halving; without one, the method of that name."""

    what: str
    """What it is, or what differs from the default."""
    name: str = ""
    searcher: Searcher | None = None
    scheduler: type[ASHA | StoppingASHA] = ASHA
    settings: tuple[tuple[str, Any], ...] = ()
    """Of the scheduler."""
    unfinished: int | None = None
    """How many of the paused trials are fantasised at the full budget; None: as many as usual."""

    def made(self, problem: Problem) -> Scheduler | None:
        """The scheduler, with rungs at budgets that the problem has."""
        if self.name:
            return None
        return fitted(self.scheduler(problem.budgets[-1], **dict(self.settings)), problem.budgets)


def mobster(what: str, unfinished: int | None = None, stop: bool = False, **changed: Any) -> BudgetMethod:
    """MOBSTER with other settings of its GP, or of its scheduler (their names begin with ``rule_``)."""
    rules = tuple((name.removeprefix("rule_"), value) for name, value in changed.items() if name.startswith("rule_"))
    model = {name: value for name, value in changed.items() if not name.startswith("rule_")}
    return BudgetMethod(what, "", GP(**model), StoppingASHA if stop else ASHA, rules, unfinished)


MANY = 1_000_000
SYNE_TUNE = "syne-tune-mobster"
IGNORING = "mobster:copies=ignore"
THEN = "mobster-then"
# As it was when exploring over budgets was decided on.
OF_THEN: dict[str, Any] = {"copies": "ignore"}
# As they were before: ladders from the bottom, which is one epoch, r/r_max of the last rung but one, and all of equal trials.
BEFORE = {"min_budget": 1, "ladder": "bottom", "last_rung": "ratio", "repeats": "each"}
ABLATION = {
    "mobster": BudgetMethod("the default", "mobster"),
    "mobster-before": BudgetMethod("all rules of the scheduler as before", "", GP(), ASHA, tuple(BEFORE.items())),
    "mobster:min_budget=1": mobster("lowest rung: one epoch: 1, 2, 6, 17, 52", rule_min_budget=1),
    "mobster:ladder=bottom": mobster(
        "one epoch, ladder from the bottom: 1, 3, 9, 27, 52", rule_min_budget=1, rule_ladder="bottom"
    ),
    "mobster:last_rung=quick": mobster(
        "while none is complete, the best of the quick trials goes up", rule_last_rung="quick"
    ),
    "mobster:last_rung=soon": mobster(
        "while none is complete, the best of each upper rung goes on", rule_last_rung="soon"
    ),
    "mobster:last_rung=ratio": mobster("r/r_max of the last rung but one go on", rule_last_rung="ratio"),
    "mobster:matern": mobster("surrogate: Matérn, r not warped", surrogate="matern"),
    "mobster:decay": mobster("surrogate: decay, δ learned", surrogate="decay"),
    "mobster:reached": mobster("r_acq: the highest rung reached often", acquire_at="reached"),
    "mobster:no-paused": mobster("paused trials are not fantasised", unfinished=0),
    "mobster:explore=never": mobster("no suggestion explores", explore_running=0),
    "mobster:explore=always": mobster("every fourth suggestion explores, however many run", explore_running=MANY),
    "mobster-hyperband": BudgetMethod("all brackets", "mobster-hyperband"),
    "mobster-stop": BudgetMethod("stopping", "mobster-stop"),
    "mobster-stop:matern": mobster("stopping; surrogate: Matérn, r not warped", stop=True, surrogate="matern"),
    "mobster-stop:decay": mobster("stopping; surrogate: decay, δ learned", stop=True, surrogate="decay"),
    "asha": BudgetMethod("no model: configurations at random", "asha"),
}
DNGOS = {
    "asha:searcher=DNGO()": BudgetMethod("DNGO under ASHA", "", DNGO()),
    **{
        f"asha:searcher=DNGO(unfinished={count})": BudgetMethod(
            f"DNGO under ASHA, {count} paused trials fantasised", "", DNGO(unfinished=count)
        )
        for count in (12, 24, 64)
    },
}
METHODS = {
    "random": BudgetMethod("random search at the full budget", "random"),
    "asha-before": BudgetMethod("ASHA, all rules as before", "", Random(), ASHA, tuple(BEFORE.items())),
    **DNGOS,
    SYNE_TUNE: BudgetMethod("MOBSTER of Syne Tune 0.14.2, its defaults"),
    AT_ONCE: BudgetMethod("500 configurations at random, trained at once"),
    THEN: mobster("no suggestion explores; other rules as they were then", explore_running=0, **OF_THEN),
    f"{THEN}:soon": mobster(
        "the same, and the first goes up at once", explore_running=0, rule_last_rung="soon", **OF_THEN
    ),
    f"{THEN}:explore": mobster("every fourth suggestion explores, as then", explore_running=MANY, **OF_THEN),
    IGNORING: mobster("copies are suggested as anything", copies="ignore"),
    "mobster:repeats=once": mobster("one of equal trials goes on, each takes a place", rule_repeats="once"),
    "mobster:repeats=each": mobster("each of equal trials goes on", rule_repeats="each"),
    **ABLATION,
}
