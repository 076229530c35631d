"""What is said of the terms of NASBOT's kernel is counted rightly."""

from __future__ import annotations

import pytest

from benchmarks.papers import findings_terms
from benchmarks.papers.findings_terms import BOTH, FEATURES, Values, by_chance, pairs


def test_searches_are_compared_after_as_many_networks_as_both_have() -> None:
    values: dict[str, Values] = {
        BOTH: {("a", 0): [0.5, 0.4, 0.1], ("a", 1): [0.3], ("b", 0): [0.2], ("b", 1): [0.2]},
        FEATURES: {("a", 0): [0.6, 0.3], ("a", 1): [0.4, 0.1], ("b", 0): [0.2]},
    }
    assert pairs(values.__getitem__, BOTH, FEATURES) == (1, 1)  # ("b", 0) is equal, ("b", 1) has no counterpart
    assert pairs(values.__getitem__, FEATURES, BOTH) == (1, 1)


def test_a_sign_test_has_two_sides() -> None:
    assert by_chance(5, 0) == pytest.approx(2 / 32)
    assert by_chance(1, 4) == by_chance(4, 1) == pytest.approx(2 * (1 + 5) / 32)
    assert by_chance(3, 3) == 1.0
    assert by_chance(0, 0) == 1.0


@pytest.mark.parametrize("where", findings_terms.WHERE)
def test_records_have_searches_with_each_term_alone(where: str) -> None:
    of = findings_terms.WHERE[where]
    assert sum(pairs(of, BOTH, findings_terms.DISTANCES)) > 0
    assert sum(pairs(of, findings_terms.DISTANCES, findings_terms.EVOLUTION)) > 0
