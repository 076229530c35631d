"""What is said of the terms of NASBOT's kernel and of its settings is counted rightly."""

from __future__ import annotations

import pytest

from benchmarks.papers import findings_settings, findings_terms
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


def test_what_chance_does_not_explain_is_told_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *others = findings_settings.SETTINGS
    found = {key: [(5, 5), (1, 1)] for key in (each.what for each in others)} | {first.what: [(9, 0), (3, 1)]}
    monkeypatch.setattr(findings_settings, "default", lambda setting: found[setting.what])
    monkeypatch.setattr(findings_settings, "alone", lambda setting: [(2, 3), (0, 0)])
    text = " ".join(findings_settings.verdict())
    assert f"ahead by more than chance explains: {first.what}, 12 to 1." in text
    assert "it is 2 to 3" in text
    assert not any(each.what in text for each in others)
    found[first.what] = [(5, 5), (1, 1)]
    assert "No change is ahead" in " ".join(findings_settings.verdict())


@pytest.mark.parametrize("setting", findings_settings.SETTINGS, ids=lambda one: one.what)
def test_records_have_searches_with_each_setting(setting: findings_settings.Setting) -> None:
    cells, trained = findings_settings.default(setting)
    assert sum(cells) > 5
    assert sum(trained) > 0
    assert sum(findings_settings.together(findings_settings.alone(setting))) > 5
