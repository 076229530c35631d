"""The page of results: every verdict follows from the records by one rule, and no row stands without what it rests on."""

from __future__ import annotations

import math
import statistics

import pytest
from scipy import stats

from benchmarks.harness.compared import FEWEST, SAME, Group, Row, ahead, number
from benchmarks.papers import PAGE, papers

EVERY = [(group, row) for paper in papers() for group in paper.groups for row in group.rows]


def by_the_rule(row: Row) -> str:
    """The rule written once more: a t-test of no effect, and one of an effect beyond ``SAME``."""
    if len(row.effects) < FEWEST:
        return "few seeds"
    mean, spread = statistics.mean(row.effects), statistics.stdev(row.effects)
    reach = -float(stats.t.ppf(0.025, len(row.effects) - 1)) * spread / math.sqrt(len(row.effects))
    alike, certain = abs(mean) + reach <= SAME, abs(mean) > reach
    if row.claim == "ahead":
        return ("holds" if mean > 0 else "fails") if certain else "undecided"
    if row.claim == "alike":
        return "holds" if alike else "fails" if certain else "undecided"
    return "equal" if alike else ("better" if mean > 0 else "worse") if certain else "undecided"


@pytest.mark.parametrize(("group", "row"), EVERY, ids=lambda each: getattr(each, "what", ""))
def test_every_row_has_what_its_verdict_rests_on(group: Group, row: Row) -> None:
    assert row.verdict == by_the_rule(row)
    assert len(group.conditions) > 20
    assert "" not in (row.what, row.paper, row.here)
    assert len(row.effects) >= 1
    assert all(map(math.isfinite, row.effects))
    if row.decidable:
        low, high = row.interval
        assert low <= statistics.mean(row.effects) <= high
        assert " to " in row.effect


def test_the_page_is_short() -> None:
    assert len(PAGE.read_text(encoding="utf-8").splitlines()) <= 200


def test_the_rule() -> None:
    assert number("n", 1.0, [0.5, 0.51, 0.52]).verdict == "better"
    assert number("n", 1.0, [1.5, 1.51, 1.52]).verdict == "worse"
    assert number("n", 1.0, [1.001, 1.002, 1.0]).verdict == "equal"
    assert number("n", 1.0, [0.5, 1.5, 1.0]).verdict == "undecided"
    assert number("n", 1.0, [0.5, 0.51]).verdict == "few seeds"
    lower, higher = {0: 1.0, 1: 1.1, 2: 0.9, 3: 1.0}, {0: 2.0, 1: 2.1, 2: 1.9, 4: 9.0}
    claim = ahead("c", "lower", lower, higher, names=("a", "b"))
    assert len(claim.effects) == 3, "paired by seed"
    assert claim.verdict == "holds"
    assert ahead("c", "lower", higher, lower, names=("b", "a")).verdict == "fails"
    assert ahead("c", "alike", lower, higher, names=("a", "b"), claim="alike").verdict == "fails"
    assert ahead("c", "alike", lower, lower, names=("a", "a"), claim="alike").verdict == "holds"
