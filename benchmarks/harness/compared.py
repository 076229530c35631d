"""The papers' numbers and claims beside ours, for ``papers.py``: one rule gives every verdict.

An *effect* is told for each seed: by how much ours is better than the paper's number, or by how much the side that the paper
has ahead is ahead of the other one of the same seed. It is relative (a difference as a share of what it is compared with), or
the logarithm of a ratio. Of the effects of a row the 95 % interval of the mean is taken (Student's t). Then the verdict is

=============  =================================================================
few seeds      below ``FEWEST`` seeds
equal          of a number: the whole interval lies within ``SAME``
better         the whole interval lies above 0; of a claim: *holds*
worse          the whole interval lies below 0; of a claim: *fails*
undecided      otherwise
=============  =================================================================

A claim that two sides are alike holds where the whole interval lies within ``SAME``, and fails where it is on one side of 0.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from scipy import stats

from benchmarks.harness.records import FOLDER, Found, Record, Store

FEWEST, SAME = 3, 0.01
GOOD = ("better", "equal", "holds")
BAD = ("worse", "fails")


@dataclass(frozen=True)
class Row:
    """One number or claim."""

    what: str
    paper: str
    here: str
    effects: tuple[float, ...]
    """One for each seed."""
    claim: str = ""
    """"ahead" or "alike" where the paper's claim is compared, not a number."""
    factor: bool = False
    """Whether the effects are logarithms of ratios."""

    @property
    def interval(self) -> tuple[float, float]:
        """Of the mean effect, 95 %; without an end where there is one seed."""
        if len(self.effects) < 2:
            return -math.inf, math.inf
        mean, error = statistics.mean(self.effects), statistics.stdev(self.effects) / math.sqrt(len(self.effects))
        reach = float(stats.t.ppf(0.975, len(self.effects) - 1)) * error
        return mean - reach, mean + reach

    @property
    def decidable(self) -> bool:
        return len(self.effects) >= FEWEST

    @property
    def verdict(self) -> str:
        low, high = self.interval
        if not self.decidable:
            return "few seeds"
        within = max(-low, high) <= SAME
        if within and self.claim != "ahead":
            return "holds" if self.claim else "equal"
        if low <= 0.0 <= high:
            return "undecided"
        good, bad = ("holds", "fails") if self.claim else ("better", "worse")
        return bad if high < 0.0 or self.claim == "alike" else good

    @property
    def effect(self) -> str:
        mean, (low, high) = statistics.mean(self.effects), self.interval
        shown = factor if self.factor else percent
        between = f" ({shown(low)} to {shown(high)})" if self.decidable else ""
        return shown(mean) + between


def percent(share: float) -> str:
    value = 100.0 * share
    return f"{value:+.0f} %" if abs(value) >= 10.0 else f"{value:+.2g} %"


def factor(log: float) -> str:
    return f"{math.exp(log):.2g} ×" if math.exp(log) < 100.0 else f"{math.exp(log):,.0f} ×"


@dataclass(frozen=True)
class Group:
    """Rows that were made by one command under the same conditions."""

    title: str
    command: str
    """What comes after ``python -m benchmarks.``; empty where no program of the repository makes them."""
    conditions: str
    rows: Sequence[Row]
    brief: bool = False
    """Whether the page has them in a sentence and not in a table."""


@dataclass(frozen=True)
class Paper:
    title: str
    groups: Sequence[Group]
    unmade: Mapping[str, str] = field(default_factory=dict)
    """What was not run → why."""


@cache
def records(file: str) -> list[Record]:
    return list(Store(FOLDER / f"{file}.jsonl").read().values())


def chosen(file: str, problem: str | None = None, method: str | None = None, **settings: Any) -> list[Record]:
    """The records with these settings, of one problem and method or of all."""
    return [
        r
        for r in records(file)
        if problem in (None, r.task.problem)
        and method in (None, r.task.method)
        and all(r.task.get(n) == v for n, v in settings.items())
    ]


def by_seed(file: str, problem: str, method: str, **settings: Any) -> dict[int, Found]:
    """What was found, one run a seed: the longest where there are several."""
    found = sorted(chosen(file, problem, method, **settings), key=lambda record: record.task.get("evaluations") or 0)
    return {record.task.seed: record.found for record in found}


def number(what: str, paper: float, values: Sequence[float], form: str = "{:.4g}") -> Row:
    """A number of the paper beside the mean of ours; lower is better."""
    here = form.format(statistics.mean(values))
    if len(values) > 1:
        here += f" ± {statistics.stdev(values) / math.sqrt(len(values)):.2g}"
    return Row(what, form.format(paper), here, tuple((paper - value) / abs(paper) for value in values))


def ahead(
    what: str,
    paper: str,
    ours: Mapping[Any, float],
    other: Mapping[Any, float],
    *,
    names: tuple[str, str],
    claim: str = "ahead",
    higher: bool = False,
    log: bool = False,
    form: str = "{:.4g}",
) -> Row:
    """Two sides paired by their keys (seeds, or problem and seed): is the first lower (or higher)?"""
    keys = [key for key in ours if key in other]
    sign = -1.0 if higher else 1.0
    effects = [
        sign * (math.log(other[key] / ours[key]) if log else (other[key] - ours[key]) / abs(other[key])) for key in keys
    ]
    middle = statistics.median if log else statistics.mean
    shown = ", ".join(
        f"{name} {form.format(middle([side[key] for key in keys]))}"
        for name, side in zip(names, (ours, other), strict=True)
    )
    return Row(what, paper, shown, tuple(effects), claim, log)
