"""Every method that comes from a paper is cited."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

import xstar as xs
from xstar.journal.events import Created
from xstar.look import papers
from xstar.schedulers import SCHEDULERS
from xstar.searchers import SEARCHERS

WITHOUT = {"grid", "sobol", "fifo", "searcher-budget"}
"""Older than any paper to cite, or a part of another method."""


def created(method: str, **settings: Any) -> Created:
    with xs.Study(xs.Space(x=xs.Float(0, 1)), method=method, **settings) as study:
        return study.history.created


def test_every_part_has_its_papers() -> None:
    assert set(SEARCHERS.names()) <= set(papers.OF_SEARCHERS) | WITHOUT
    assert set(SCHEDULERS.names()) <= set(papers.OF_SCHEDULERS) | WITHOUT
    assert {key for keys in papers.OF_SEARCHERS.values() for key in keys} <= set(papers.PAPERS)


@pytest.mark.parametrize(
    ("method", "keys"),
    [
        ("mobster", {"gp", "logei", "asha", "mobster"}),
        ("bohb", {"tpe", "hyperband", "bohb"}),
        ("ts", {"gp", "logei", "thompson"}),
        ("median", {"random", "median"}),
    ],
)
def test_a_pairing_has_papers_of_its_own(method: str, keys: set[str]) -> None:
    assert set(papers.papers_of(created(method, max_budget=9))) == {*keys, "anova"}


@pytest.mark.parametrize(
    ("method", "keys"),
    [
        ("gp", {"ehvi"}),
        ("auto", {"ehvi", "parego"}),
        ("dngo", {"parego"}),
        ("ts", {"parego"}),
        ("pbil", set()),
        ("mobster", {"ehvi", "mo-asha"}),
    ],
)
def test_several_objectives_have_papers_of_their_own(method: str, keys: set[str]) -> None:
    alone = created(method, max_budget=9)
    several = replace(alone, objectives=[*alone.objectives, {"metric": "size", "direction": "minimize"}])
    assert set(papers.papers_of(several)) - set(papers.papers_of(alone)) == keys


def test_a_searcher_of_ones_own_is_cited_by_its_author() -> None:
    alone = created("random")
    size = {"metric": "size", "direction": "minimize"}
    two = replace(alone, searcher={"name": "custom", "class": "Mine"}, objectives=[*alone.objectives, size])
    assert set(papers.papers_of(two)) == {"anova"}


def test_every_entry_is_one_of_bibtex() -> None:
    for key, paper in papers.PAPERS.items():
        entry = paper.bibtex
        assert re.match(rf"@(article|inproceedings){{{key},\n", entry)
        assert entry.count("{") == entry.count("}")
        assert {"author", "title", "year"} < set(re.findall(r"^  (\w+) = {", entry, re.MULTILINE))
        assert re.search(r"^  (journal|booktitle) = {.+},$", entry, re.MULTILINE)
        assert re.search(r"[^.], (19|20)\d\d\.$", paper.text)
        assert ".." not in paper.text
