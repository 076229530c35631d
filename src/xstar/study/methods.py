"""``method="…"`` is sugar: a name for a searcher and the scheduler it is paired with. Without one, :func:`choose` names one."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from xstar.core.checks import nearest, whole_number
from xstar.core.goals import Metric
from xstar.errors import InvalidArgument
from xstar.schedulers import ASHA, FIFO, Hyperband, Median, Scheduler, SearcherBudget, StoppingASHA
from xstar.searchers import (
    BOCA,
    CMA,
    DNGO,
    GP,
    NASBOT,
    NSGA2,
    PBIL,
    SEARCHERS,
    TPE,
    Auto,
    DNGOPaper,
    Evolution,
    Finite,
    Forest,
    Grid,
    MOBSTERPaper,
    NASBOTPaper,
    NetworkRandom,
    Random,
    RegularisedEvolution,
    Searcher,
    Sobol,
    TreeBO,
    without_model,
)
from xstar.space import Bits, Bool, Choice, Constant, Space
from xstar.study.limits import Limits


def _bohb() -> TPE:
    """q, N_s and ρ of BOHB (Falkner et al. 2018, Algorithm 2) as HpBandSter has them, with which MOBSTER's paper ran it."""
    return TPE(gamma=0.15, candidates=64, random_fraction=1 / 3)


def _umda() -> PBIL:
    """λ = 50 and μ = 25: the average of the better half is the next distribution."""
    return PBIL(adapt="none", weights="umda", step=1.0, samples=50)


def _ts() -> GP:
    """Thompson sampling in parallel (Kandasamy et al. 2018): a draw from the posterior, whatever still runs."""
    return GP(acquisition="thompson")


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
    "median": (Random, lambda budget: Median(_needed(budget))),
    "pbil": (PBIL, FIFO),
    "umda": (_umda, FIFO),
    "cma": (CMA, FIFO),
    "gp": (GP, FIFO),
    "dngo": (DNGO, FIFO),
    "dngo-paper": (DNGOPaper, FIFO),
    "ts": (_ts, FIFO),
    "tpe": (TPE, FIFO),
    "forest": (Forest, FIFO),
    "auto": (Auto, FIFO),
    "nasbot": (NASBOT, FIFO),
    "nasbot-paper": (NASBOTPaper, FIFO),
    "treebo": (TreeBO, FIFO),
    "nasbot-random": (NetworkRandom, FIFO),
    "evolution": (Evolution, FIFO),
    "regularised-evolution": (RegularisedEvolution, FIFO),
    "nsga2": (NSGA2, FIFO),
    "bohb": (_bohb, lambda budget: Hyperband(_needed(budget))),
    "mobster": (GP, lambda budget: ASHA(_needed(budget), full_share=True)),
    "mobster-paper": (MOBSTERPaper, lambda budget: ASHA(_needed(budget))),
    "mobster-stop": (GP, lambda budget: StoppingASHA(_needed(budget))),
    "mobster-hyperband": (GP, lambda budget: ASHA(_needed(budget), brackets=None)),
    "boca": (BOCA, lambda budget: SearcherBudget(_needed(budget))),
}

EPOCHS = "pass the epochs of a full training run"

FEWEST_EPOCHS = 3
"""Below, the ladder of successive halving (η = 3) has at most two rungs, and there is little to save."""


MANY_SWITCHES = 50
"""From this many Bits, Bools and Choices on, and nothing else, ``pbil`` is chosen: a usual number of trials cannot fit that
many length scales."""


@dataclass(frozen=True, slots=True)
class Method:
    """What a study searches with."""

    name: str
    """A name of :data:`METHODS`; empty where the user put a searcher or a scheduler of their own in place of a part of it."""
    why: str
    """Why it was chosen; empty if the user chose it."""
    searcher: Searcher
    scheduler: Scheduler


def choose(space: Space | None, max_budget: int | None, resumable: bool = True) -> tuple[str, str]:
    """The default method, and why: what ``docs/which-method.md`` advises for what is known at the start.

    Neither the number of trials nor the time that one takes is part of a study, so neither is asked for here; ``auto`` goes by
    the observations as they come in. Without ``max_budget`` the length of a full training is unknown, so an objective that
    yields is not ended early either: rungs up to a guess (the length of the first trial, say) would be wrong for every
    objective that stops when it has converged. An objective that is not ``resumable`` would train a paused trial again from the
    start, so none is paused.
    """
    opaque = without_model(space) if space is not None else ()
    unknown = f"no model knows the values of {', '.join(opaque)}"
    if max_budget is not None and whole_number("max_budget", max_budget, least=1, remedy=EPOCHS) >= FEWEST_EPOCHS:
        saved = f"with max_budget={max_budget} bad trials can end early"
        ending, rest = ("", "") if resumable else ("-stop", "; none is paused, since the objective keeps no checkpoint")
        if opaque:
            return f"asha{ending}", f"{saved}{rest}; {unknown}, so configurations are random"
        return f"mobster{ending}", f"{saved}, and a Gaussian process learns from all of them{rest}"
    at_full = (
        "every trial runs to its end" if max_budget is None else f"{max_budget} epochs are too few to end trials early"
    )
    if space is not None and (count := _switches(space)) >= MANY_SWITCHES:
        return "pbil", f"{at_full}; {count} switches and nothing else are too many for a Gaussian process"
    if opaque:
        return "auto", f"{at_full}; {unknown}, so good configurations are mutated"
    return "auto", f"{at_full}; a Gaussian process chooses what to try, DNGO when there are many observations"


def _switches(space: Space) -> int:
    """How many Bits, Bools and Choices there are; 0 if there is anything else to choose."""
    count = 0
    for given in space.parameters.values():
        if isinstance(given, Bits):
            count += given.width
        elif isinstance(given, Bool | Choice):
            count += 1
        elif not isinstance(given, Constant):
            return 0
    return count


def _instead(given: object) -> str:
    """The remedy for a ``method`` that is none."""
    for part, member in (("searcher", "suggest"), ("scheduler", "judge")):
        if hasattr(given, member):
            return f"it is a {part}: pass it as {part}=…"
    close = nearest(str(given), METHODS)
    return close if close.startswith("did you mean") else "leave it out if in doubt"  # the rule has named all of them


def resolve(
    method: str | None,
    searcher: Searcher | None,
    scheduler: Scheduler | None,
    max_budget: int | None,
    space: Space | None = None,
    resumable: bool = True,
) -> Method:
    """What a user's ``method``, ``searcher``, ``scheduler`` and ``max_budget`` mean together."""
    if scheduler is not None and max_budget is not None:
        raise InvalidArgument(
            "max_budget", "belongs to the scheduler when one is given", max_budget, "pass it to the scheduler instead"
        )
    name, why = (method, "") if method is not None else choose(space, max_budget, resumable)
    offered = SEARCHERS.get(name) if isinstance(name, str) and name not in METHODS else None
    if not isinstance(name, str) or (name not in METHODS and offered is None):
        shown = name if isinstance(name, str) else getattr(name, "__name__", type(name).__name__)
        raise InvalidArgument("method", f"must be one of {', '.join(METHODS)}", shown, _instead(name))
    if method is None and (searcher is not None or scheduler is not None):
        # Who names one part has thought about how to search: what was left out of it is plain, trials that run to their end.
        name, why = "auto", ""
    make_searcher, make_scheduler = METHODS[name] if offered is None else (offered, FIFO)
    own = searcher is not None or scheduler is not None
    return Method(
        "" if own else name, "" if own else why, searcher or make_searcher(), scheduler or make_scheduler(max_budget)
    )


def _needed(max_budget: int | None) -> int:
    if max_budget is None:
        raise InvalidArgument("max_budget", "a method that ends trials early needs it", None, EPOCHS)
    return max_budget


def with_option(option: str, given: Mapping[str, Any]) -> str | None:
    """The remedy for an option of the scheduler among the arguments of a search: the parts of its method, with that option."""
    named = [each for each in ("method", "max_budget") if given.get(each) is not None]
    try:
        method, searcher, scheduler, max_budget, space = map(
            given.get, ("method", "searcher", "scheduler", "max_budget", "space")
        )
        found = resolve(method, searcher, scheduler, max_budget, space)
        part: Any = found.scheduler
        instead = _call("schedulers", replace(part, **{option: given[option]}))
    except (InvalidArgument, TypeError, ValueError):  # it has no such option, or takes no such value
        return None
    of = f" in place of {' and '.join(named)}" if named else ""
    return f"it is the scheduler's: searcher={_call('searchers', found.searcher)}, scheduler={instead}{of}"


def _call(module: str, part: Any) -> str:
    """How a searcher or a scheduler is made, without what are defaults."""
    own = [each for each in fields(part) if each.init and getattr(part, each.name) != each.default]
    words = [("" if each.name == "max_budget" else f"{each.name}=") + repr(getattr(part, each.name)) for each in own]
    return f"xs.{module}.{type(part).__name__}({', '.join(words)})"


def check_target(limits: Limits, metric: Metric | Collection[str] | None) -> None:
    """Refuse a target that no trial could reach."""
    if limits.target is not None and metric is not None and not isinstance(metric, str) and len(metric) > 1:
        rule, remedy = (
            "needs one objective",
            "leave it out; with several, patience= ends a search whose front stands still",
        )
        raise InvalidArgument("target", rule, limits.target, remedy)


def check_end(limits: Limits, space: Space, searcher: Searcher) -> None:
    """Refuse a search that would never end."""
    if limits.endless and space.size == math.inf and not isinstance(searcher, Finite):
        rule, remedy = "a search of an infinite space needs an end", "set trials, seconds or target"
        raise InvalidArgument("trials", rule, None, remedy)
