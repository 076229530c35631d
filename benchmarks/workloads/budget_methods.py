"""The methods of ``budgets.py``: names of ours, and MOBSTER with one thing changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from benchmarks.workloads.at_once import AT_ONCE
from xstar.problems import Problem
from xstar.schedulers import ASHA, Scheduler, StoppingASHA
from xstar.searchers import DNGO, GP, Random, Searcher
from xstar.searchers.gp.earlier import BEFORE_BESIDE, BEFORE_DIVERGED, BEFORE_STRAIGHT
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
    two_rungs: bool = False
    """Whether there is one rung below the full budget only, and that far below."""
    checkpoints: bool = True
    """Whether trials go on where they paused."""

    def made(self, problem: Problem) -> Scheduler | None:
        """The scheduler, with rungs at budgets that the problem has."""
        if self.name:
            return None
        settings, top = dict(self.settings), problem.budgets[-1]
        if self.two_rungs:
            settings["levels"] = (max(1, round(top * FAR_BELOW)), top)
        return fitted(self.scheduler(top, **settings), problem.budgets)


def mobster(what: str, unfinished: int | None = None, stop: bool = False, **changed: Any) -> BudgetMethod:
    """MOBSTER with other settings of its GP, or of its scheduler (their names begin with ``rule_``). No trial goes straight to
    the end beside others unless that is one of them: the variants were run before that was the default."""
    rules = tuple((name.removeprefix("rule_"), value) for name, value in changed.items() if name.startswith("rule_"))
    model = {**BEFORE_BESIDE, **{name: value for name, value in changed.items() if not name.startswith("rule_")}}
    return BudgetMethod(what, "", GP(**model), StoppingASHA if stop else ASHA, rules, unfinished)


def then(what: str, **changed: Any) -> BudgetMethod:
    """MOBSTER before it explored and kept away from copies, with the scheduler's rules of lately, and with other settings."""
    return mobster(what, **{"explore_running": 0, "copies": "ignore", **OF_LATELY, **changed})


def with_two_rungs(method: BudgetMethod) -> BudgetMethod:
    return replace(method, what=f"two rungs; {method.what}", two_rungs=True)


def of_ladder(what: str, searcher: Searcher, **rules: Any) -> BudgetMethod:
    """ASHA with other settings."""
    return BudgetMethod(what, "", searcher, ASHA, tuple(rules.items()))


FAR_BELOW = 12 / 200
"""The lower of two rungs, as a share of the full budget: that of NAS-Bench-201."""
MANY = 1_000_000
SYNE_TUNE = "syne-tune-mobster"
IGNORING = "mobster:copies=ignore"
THEN = "mobster-then"
NEVER_STRAIGHT = "mobster:straight=never"
LATELY = "mobster-lately"
ASHA_LATELY = "asha-lately"
DNGO_LATELY = "dngo-lately"
# As they were before: ladders from the bottom, which is one epoch, r/r_max of the last rung but one, and all of equal trials.
SINCE = {"diverged": "keep", "silent": "compare"}
BEFORE = {"min_budget": 1, "ladder": "bottom", "last_rung": "ratio", "repeats": "each", "long_steps": "eta", **SINCE}
RULES_BEFORE = {f"rule_{name}": value for name, value in BEFORE.items()}
# As they were before a quick trial went up first, and before fewer trials went on from a rung that is far below the next.
USUAL_LATELY = {"last_rung": "best", "long_steps": "eta", **SINCE}
OF_LATELY = {**BEFORE_DIVERGED, **{f"rule_{name}": value for name, value in USUAL_LATELY.items()}}
ABLATION = {
    NEVER_STRAIGHT: mobster("no trial goes straight to the end, as below", **BEFORE_STRAIGHT),
    "mobster": BudgetMethod("the default", "mobster"),
    "mobster:rules=before": mobster("all rules of the scheduler as before", **RULES_BEFORE),
    "mobster:min_budget=1": mobster("lowest rung: one epoch: 1, 2, 6, 17, 52", rule_min_budget=1),
    "mobster:ladder=bottom": mobster(
        "one epoch, ladder from the bottom: 1, 3, 9, 27, 52", rule_min_budget=1, rule_ladder="bottom"
    ),
    "mobster:last_rung=best": mobster("no quick trial goes up first", rule_last_rung="best"),
    "mobster:last_rung=ratio": mobster(
        "nor the best of the last rung but one: r/r_max of them", rule_last_rung="ratio"
    ),
    "mobster:long_steps=eta": mobster("1/η of the trials go on, however long the step", rule_long_steps="eta"),
    "mobster:matern": mobster("surrogate: Matérn, r not warped", surrogate="matern"),
    "mobster:decay": mobster("surrogate: decay, δ learned", surrogate="decay"),
    "mobster:reached": mobster("r_acq: the highest rung reached often", acquire_at="reached"),
    "mobster:no-paused": mobster("paused trials are not fantasised", unfinished=0),
    "mobster:explore=never": mobster("no suggestion explores", explore_running=0),
    "mobster-hyperband": mobster("all brackets", rule_brackets=None),
    "mobster-stop": mobster("stopping", stop=True),
    "mobster-stop:matern": mobster("stopping; surrogate: Matérn, r not warped", stop=True, surrogate="matern"),
    "mobster-stop:decay": mobster("stopping; surrogate: decay, δ learned", stop=True, surrogate="decay"),
    "asha": BudgetMethod("no model: configurations at random", "asha"),
}
DNGOS = {
    DNGO_LATELY: of_ladder("DNGO under ASHA with the rules of lately", DNGO(), **USUAL_LATELY),
    **{
        f"{DNGO_LATELY}:unfinished={count}": of_ladder(
            f"the same, {count} paused trials fantasised", DNGO(unfinished=count), **USUAL_LATELY
        )
        for count in (12, 24, 64)
    },
}
TWO_RUNGS = {
    "asha-two:long_steps=eta": with_two_rungs(of_ladder("ASHA, 1/η goes on", Random(), long_steps="eta")),
    "asha-two": with_two_rungs(of_ladder("ASHA", Random())),
    "mobster-two:long_steps=eta": with_two_rungs(mobster("1/η goes on", rule_long_steps="eta")),
    "mobster-two": with_two_rungs(mobster("MOBSTER")),
}
METHODS = {
    "random": BudgetMethod("random search at the full budget", "random"),
    "asha-before": of_ladder("ASHA, all rules as before", Random(), **BEFORE),
    ASHA_LATELY: of_ladder("ASHA with the rules of lately", Random(), **USUAL_LATELY),
    "asha:searcher=DNGO()": of_ladder("DNGO under ASHA", DNGO()),
    **DNGOS,
    SYNE_TUNE: BudgetMethod("MOBSTER of Syne Tune 0.14.2, its defaults"),
    AT_ONCE: BudgetMethod("500 configurations at random, trained at once"),
    "mobster-before": then("MOBSTER, all rules as before", **RULES_BEFORE),
    LATELY: mobster("MOBSTER with the rules of lately", **OF_LATELY),
    f"{LATELY}:copies=ignore": mobster("the same, copies are suggested as anything", copies="ignore", **OF_LATELY),
    THEN: then("MOBSTER before it explored"),
    f"{THEN}:explore": then("one suggestion in four explores, however many run", explore_running=MANY),
    IGNORING: mobster("copies are suggested as anything", copies="ignore"),
    "mobster:repeats=once": mobster("one of equal trials goes on, each takes a place", rule_repeats="once"),
    "mobster:repeats=each": mobster("each of equal trials goes on", rule_repeats="each"),
    **TWO_RUNGS,
    **ABLATION,
}
