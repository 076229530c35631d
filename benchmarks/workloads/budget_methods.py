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


def then(what: str, unfinished: int | None = None, stop: bool = False, **changed: Any) -> BudgetMethod:
    """MOBSTER as it was before it explored and kept away from copies, with other settings."""
    return mobster(what, unfinished, stop, **{"explore_running": 0, "copies": "ignore", **changed})


MANY = 1_000_000
SYNE_TUNE = "syne-tune-mobster"
IGNORING = "mobster:copies=ignore"
THEN = "mobster-then"
# As they were before: ladders from the bottom, which is one epoch, r/r_max of the last rung but one, and all of equal trials.
BEFORE = {"min_budget": 1, "ladder": "bottom", "last_rung": "ratio", "repeats": "each"}
RULES_BEFORE = {f"rule_{name}": value for name, value in BEFORE.items()}
ABLATION = {
    THEN: then("the default of then"),
    "mobster": BudgetMethod("the default: one suggestion in four explores", "mobster"),
    "mobster-before": then("all rules of the scheduler as before", **RULES_BEFORE),
    f"{THEN}:min_budget=1": then("lowest rung: one epoch: 1, 2, 6, 17, 52", rule_min_budget=1),
    f"{THEN}:ladder=bottom": then(
        "one epoch, ladder from the bottom: 1, 3, 9, 27, 52", rule_min_budget=1, rule_ladder="bottom"
    ),
    f"{THEN}:soon": then("while none is complete, the best of each upper rung goes on", rule_last_rung="soon"),
    f"{THEN}:last_rung=ratio": then("r/r_max of the last rung but one go on", rule_last_rung="ratio"),
    f"{THEN}:matern": then("surrogate: Matérn, r not warped", surrogate="matern"),
    f"{THEN}:decay": then("surrogate: decay, δ learned", surrogate="decay"),
    f"{THEN}:reached": then("r_acq: the highest rung reached often", acquire_at="reached"),
    f"{THEN}:no-paused": then("paused trials are not fantasised", unfinished=0),
    f"{THEN}-hyperband": then("all brackets", rule_brackets=None),
    f"{THEN}-stop": then("stopping", stop=True),
    f"{THEN}-stop:matern": then("stopping; surrogate: Matérn, r not warped", stop=True, surrogate="matern"),
    f"{THEN}-stop:decay": then("stopping; surrogate: decay, δ learned", stop=True, surrogate="decay"),
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
    f"{THEN}:explore": then("one suggestion in four explores, however many run", explore_running=MANY),
    "mobster:last_rung=quick": mobster(
        "while none is complete, the best of the quick trials goes up", rule_last_rung="quick"
    ),
    IGNORING: mobster("copies are suggested as anything", copies="ignore"),
    "mobster:repeats=once": mobster("one of equal trials goes on, each takes a place", rule_repeats="once"),
    "mobster:repeats=each": mobster("each of equal trials goes on", rule_repeats="each"),
    **ABLATION,
}
