"""What the Gaussian process of earlier releases did: the settings that their studies keep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xstar.searchers.gp.settings import MOST_PENDING, PRIOR_WEIGHT


def of_earlier_releases(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Before there was a limit, all running trials were fantasised; before trust was learned, priors had a weight of 0 unless
    one was given; before it needed a comparison, it was that of the largest budget. Who asks for the method of today asks for
    no other."""
    found = [data]
    if "most_pending" not in data:
        found = [{**each, "most_pending": most} for each in found for most in (None, MOST_PENDING)]
    if "prior_trust" not in data:
        weight = data.get("prior_weight", 0.0)
        today = weight or PRIOR_WEIGHT
        priors = (weight, "constant"), (weight, "learned"), (today, "learned")
        found = [{**each, "prior_weight": w, "prior_trust": t} for w, t in priors for each in found]
    if "trust_at" not in data:
        found = [{**each, "trust_at": rule} for rule in ("largest", "comparable") for each in found]
    return found


BEFORE_EXHAUSTION: Mapping[str, Any] = {"cautious": False, "exhausted": 0.0, "exact": False}
"""What ``GP`` did before it left exhausted places and was cautious."""
BEFORE_STEPS: Mapping[str, Any] = {"design": "sobol", "lengths": "independent", "safe": 0.5}
"""What ``GP`` did before its initial design consisted of steps, its length scales had a factor in common, and what was probably
feasible was not safe enough."""
BEFORE_UNEXPLAINED: Mapping[str, Any] = {"explore_when": "always"}
"""What ``GP`` did before the history said when to explore."""
BEFORE_NOISY: Mapping[str, Any] = {"explore_when": "unexplained"}
"""What ``GP`` did while it explored after failures, too."""
BEFORE_RESTARTS: Mapping[str, Any] = {"patience": 0}
"""What ``GP`` did before it began anew."""
BEFORE_LONGER: Mapping[str, Any] = {"patience": 100}
"""What ``GP`` did before it waited longer until it began anew."""
BEFORE_ALIKE: Mapping[str, Any] = {"lengths": "shared"}
"""What ``GP`` did before length scales of switches had a factor in common."""
BEFORE_COPIES: Mapping[str, Any] = {"copies": "ignore", "explore_running": 0}
"""What ``GP`` did over budgets before it kept away from copies and explored there."""
BEFORE_BESIDE: Mapping[str, Any] = {"straight_beside": "never"}
"""What ``GP`` did before trials trained to the end at once beside others."""
BEFORE_STRAIGHT: Mapping[str, Any] = {**BEFORE_BESIDE, "straight_running": 0}
"""What ``GP`` did over budgets before trials could train to the end at once."""
BEFORE_SPREAD: Mapping[str, Any] = {"blind": "classifier"}
"""What ``GP`` did before it spread while nothing has a value."""
BEFORE_DIVERGED: Mapping[str, Any] = {**BEFORE_BESIDE, "diverged": "bad", "blind": "level", "silent": "leave"}
"""What ``GP`` did before diverged trials counted as failed, all trials spread while losses are level at rungs, and rungs were
left out whose losses differ by little."""
BEFORE_LEVEL: Mapping[str, Any] = {
    **BEFORE_DIVERGED,
    "blind": "spread",
    "penalties": "keep",
    "safe_when": "always",
    "silent": "keep",
}
"""What ``GP`` did before it spread while losses are level, lowered penalties, was less cautious beside options, and left out
rungs that say nothing."""
BEFORE: Mapping[str, Any] = {
    **BEFORE_LEVEL,
    **BEFORE_STRAIGHT,
    **BEFORE_RESTARTS,
    **BEFORE_SPREAD,
    "structure": "product",
    "middle": False,
    **BEFORE_EXHAUSTION,
    **BEFORE_STEPS,
    **BEFORE_UNEXPLAINED,
    **BEFORE_COPIES,
}
"""What ``GP`` did before any of these were settings of it."""


FORMER: Mapping[str, tuple[Any, ...]] = {
    "lengths": ("shared",),
    "explore_when": ("unexplained",),
    "patience": (100,),
    "blind": ("spread", "level"),
    "silent": ("leave",),
}
"""Settings that were defaults once, under a name that has remained."""
TODAY: Mapping[str, Any] = {
    "lengths": "alike",
    "explore_when": "noisy",
    "patience": 200,
    "blind": "rungs",
    "silent": "narrow",
}


def gp_of_earlier_releases(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """As above; a study from before the settings ``BEFORE`` keeps these, and one with a former default goes on with it, though
    today's is asked for."""
    missing = {name: value for name, value in BEFORE.items() if name not in data}
    made = of_earlier_releases(data)
    found = [{**each, **missing} for each in made] + ([*made] if missing else [])
    if former := {name: TODAY[name] for name, values in FORMER.items() if data.get(name) in values}:
        found += [{**each, **former} for each in found]
    return found
