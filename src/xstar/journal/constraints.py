"""Bounds on metrics: as a user writes them, and as everything inside reads them, where lower is better and bounds are above.

    the journal has                      inside it is
    {"latency": 50.0}                    latency ≤ 50
    {"accuracy": {"at_least": 0.9}}      the negated accuracy ≤ -0.9
    {"size": {"at_least": 1.0, "at_most": 2.0}}     both

The side is turned here, once; a searcher looks a bounded metric up by its name inside and compares it with an upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xstar.journal.trial import State, Trial

NEGATED = " (negated)"


@dataclass(frozen=True, slots=True)
class Bound:
    """One side of a constraint."""

    metric: str
    limit: float
    """As the user wrote it."""
    lower: bool = False
    """The metric must be at least, not at most, ``limit``."""

    @property
    def name(self) -> str:
        """The name inside of what must not be above :attr:`most`."""
        return self.metric + NEGATED if self.lower else self.metric

    @property
    def most(self) -> float:
        return -self.limit if self.lower else self.limit

    def broken(self, metrics: Mapping[str, float]) -> str | None:
        """How these metrics break it, in words; ``None``: they do not."""
        found = metrics.get(self.metric)
        if found is None:
            return f"the constraint metric {self.metric!r} was not reported"
        if found >= self.limit if self.lower else found <= self.limit:
            return None
        return f"{self.metric} is {found:g}, {'below' if self.lower else 'above'} its bound {self.limit:g}"

    def __str__(self) -> str:
        return f"{self.metric} {'≥' if self.lower else '≤'} {self.limit:g}"


def read_bounds(constraints: Mapping[str, Any] | None) -> tuple[Bound, ...]:
    """The bounds that the journal's ``constraints`` mean, in order."""
    found: list[Bound] = []
    for metric, given in (constraints or {}).items():
        sides = given if isinstance(given, Mapping) else {"at_most": given}
        found += [Bound(metric, float(limit), side == "at_least") for side, limit in sides.items()]
    return tuple(found)


def broken(bounds: Iterable[Bound], metrics: Mapping[str, float]) -> str | None:
    """Which bound a report breaks, in words; ``None`` if none."""
    return next((words for bound in bounds if (words := bound.broken(metrics)) is not None), None)


def beyond(bounds: Iterable[Bound], metrics: Mapping[str, float]) -> str | None:
    """The same by what the report has of the bounded metrics: the others may come later."""
    return broken((bound for bound in bounds if bound.metric in metrics), metrics)


def all_beyond(bounds: Iterable[Bound], trials: Iterable[Trial]) -> list[tuple[Trial, str]]:
    """The trials beyond a bound, at their end or by what they have reported so far, each with which bound, in words."""
    bounds, found = tuple(bounds), []
    for trial in trials if bounds else ():
        words = broken(bounds, trial.metrics)
        if trial.state is not State.INFEASIBLE or trial.reason != words:
            words = beyond(bounds, trial.metrics)
        if words:
            found.append((trial, words))
    return found


def how_many_beyond(bounds: Iterable[Bound], trials: Sequence[Trial]) -> str:
    """How many trials are beyond a bound, and how the last of them is; empty if none.

    An example: ``8 of 8 are beyond a bound, trial 7: latency is 3.8, above its bound 0.3``.
    """
    if not (found := all_beyond(bounds, trials)):
        return ""
    last, words = found[-1]
    return f"{len(found)} of {len(trials)} {'is' if len(found) == 1 else 'are'} beyond a bound, trial {last.number}: {words}"


def measured(metrics: Mapping[str, float], bounds: Iterable[Bound]) -> bool:
    """Whether all bounded metrics are there, as finite numbers: there is something to learn from."""
    return all(math.isfinite(metrics.get(bound.metric, math.nan)) for bound in bounds)


class BothSides(dict[str, float]):
    """Reported metrics of a study with lower bounds: who asks for the inside name of a metric hears it negated.

    Nobody else sees that name: what is listed, compared and exported is what was reported.
    """

    def get(self, name: str, default: Any = None) -> Any:
        if name.endswith(NEGATED) and name not in self:
            value = super().get(name.removesuffix(NEGATED))
            return default if value is None else -value
        return super().get(name, default)
