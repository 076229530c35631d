"""How alike a suggestion and the one made again here are, where processors, kernels or versions differ.

Rounding differs between kernels, and an optimiser makes more of it: two maxima that are equally high, or a draw from a
distribution whose axes have no order, come out as quite another configuration. What is independent of rounding is the same
everywhere: the numbers in ``EXACT``, and everything that a scheduler decides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from xstar.core.words import plural
from xstar.journal import History, events as ev
from xstar.journal.trial import Origin

if TYPE_CHECKING:  # SciPy loads slowly
    from xstar.searchers.bo.trace import DecisionTrace

CLOSE = 1e-6
"""Relative difference of numbers that are equal to rounding: more than the last digits that kernels differ in, less than
what an optimiser makes of them."""

SHORTFALL = 0.01
"""How much lower the logarithm of the acquisition may be where a suggestion is as good: a hundredth of the improvement.
Between the kernels for Haswell, Nehalem and SkylakeX it was below 0.0021 in all but one of 160 suggestions of GP, DNGO and
MOBSTER that differed (Hartmann6 and Branin); that one was at the lower one of two maxima, by 0.06."""

OF_MODELS = ("trial", "n")
EXACT: Mapping[str, tuple[str, ...]] = {
    "cma": ("opened", "told"),
    "enqueued": ("number",),
    "evolution": ("trial", "generation"),
    "regularised-evolution": ("trial", "drawn"),
    "nsga2": ("trial", "first", "second"),
    "nasbot-random": ("trial",),
    "sobol": ("point",),
    "grid": ("point", "points"),
} | dict.fromkeys(
    ("auto", "boca", "dngo", "dngo-paper", "forest", "gp", "mobster-paper", "nasbot", "nasbot-paper", "tpe", "treebo"),
    OF_MODELS,
)
"""By method: the numbers of an origin that are the same on every machine, if both origins have them."""


class Likeness(Enum):
    """Of a suggestion and the one made again elsewhere."""

    EQUAL = "equal"
    ROUNDING = "equal to rounding"
    AS_GOOD = "as good by the model"
    NOT_COMPARABLE = "not comparable here"


def close(one: Any, other: Any) -> bool:
    """Equal, but for the last digits of numbers."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE * CLOSE)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(close(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(close, one, other))
    return bool(one == other)


def likeness(made: ev.Asked, due: ev.Asked, history: History, trace: DecisionTrace | None) -> Likeness:
    """By configuration and origin; where a model compared configurations, by its acquisition function, too."""
    if (made.config, made.origin, made.budget) == (due.config, due.origin, due.budget):
        return Likeness.EQUAL
    if close(made.config, due.config) and made.budget == due.budget:
        return Likeness.ROUNDING
    lack = shortfall(made, due, history, trace)
    return Likeness.NOT_COMPARABLE if lack is None or lack > SHORTFALL else Likeness.AS_GOOD


def shortfall(made: ev.Asked, due: ev.Asked, history: History, trace: DecisionTrace | None) -> float | None:
    """How far the recorded configuration is below the one made again, by the logarithmic acquisition function that chose the
    latter; ``None``: no model compared configurations, or it did for another purpose or at another budget."""
    one, other = Origin.of(made.origin), Origin.of(due.origin)
    if trace is None or trace.criterion is None or trace.data is None or trace.thompson:
        return None
    if (one.method, one.detail, made.budget) != (other.method, other.detail, due.budget):
        return None
    rows = trace.data.observed.encoded([history.space.load(each.config) for each in (made, due)])
    own, best = trace.criterion.score(rows).tolist()
    return float(best - own)


def different_numbers(made: ev.Asked, due: ev.Asked) -> dict[str, tuple[Any, Any]]:
    """The numbers of the origins that should be the same on every machine and are not, as recorded and as made again."""
    one, other = Origin.of(made.origin), Origin.of(due.origin)
    if one.method != other.method:
        return {}
    names = [name for name in EXACT.get(one.method, ()) if name in one.numbers and name in other.numbers]
    pairs = {name: (one.numbers[name], other.numbers[name]) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


@dataclass
class OtherEnvironment:
    """The suggestions that were made in an environment unlike this one."""

    there: Mapping[str, str]
    here: Mapping[str, str]
    counts: Counter[Likeness] = field(default_factory=Counter)

    @property
    def same_release(self) -> bool:
        """Whether the same xstar decided, so that its decisions can be made again at all."""
        return self.there.get("xstar") == self.here["xstar"]

    def __str__(self) -> str:
        names = [name for name in (*self.here, *self.there) if self.there.get(name) != self.here.get(name)]
        unlike = [f"{name} {self.there.get(name, 'none')}, here {self.here.get(name, 'none')}" for name in names]
        text = f"{plural(self.counts.total(), 'suggestion')} made elsewhere ({'; '.join(dict.fromkeys(unlike))}): "
        found = [f"{self.counts[each]} {each.value}" for each in Likeness if self.counts[each]]
        remedy = exact_with(self.there, self.here)
        return text + (", ".join(found) or "none") + (f". Exact with {remedy}" if remedy else "")


def exact_with(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """The variables of the environment that make this one like another; empty if none do."""
    unlike = {name for name in {*there, *here} if there.get(name) != here.get(name)}
    made = []
    if not unlike <= {"kernel", "processor"} or not here["blas"].startswith("openblas"):
        return ""
    if "kernel" in unlike:
        made.append(f"OPENBLAS_CORETYPE={there['kernel']}")
    if "processor" in unlike:
        groups, wanted = here["processor"].split(), there["processor"].split()
        if not set(wanted) <= set(groups):
            return ""
        made.append(f'NPY_DISABLE_CPU_FEATURES="{" ".join(each for each in groups if each not in wanted)}"')
    return " ".join(made)
