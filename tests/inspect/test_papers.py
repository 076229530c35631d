"""Every method that comes from a paper is cited."""

from __future__ import annotations

from dataclasses import replace

import xstar as xs
from xstar.inspect import papers
from xstar.schedulers import SCHEDULERS
from xstar.searchers import SEARCHERS

WITHOUT = {"grid", "sobol", "fifo", "searcher-budget"}
"""Older than any paper to cite, or a part of another method."""


def test_every_part_has_its_papers() -> None:
    assert set(SEARCHERS.names()) <= set(papers.SEARCHERS) | WITHOUT
    assert set(SCHEDULERS.names()) <= set(papers.SCHEDULERS) | WITHOUT
    assert {key for keys in papers.SEARCHERS.values() for key in keys} <= set(papers.PAPERS)


def test_a_pairing_has_a_paper_of_its_own() -> None:
    created = xs.Study(xs.Space(x=xs.Float(0, 1)), method="mobster", max_budget=9).history.created
    assert papers.PAPERS["mobster"] in papers.cited(created)
    assert papers.PAPERS["bohb"] in papers.cited(replace(created, searcher={"name": "tpe"}))
