"""Decisions that were recorded come out the same, and the studies they belong to go on.

Where they were recorded (``record.py``) every decision is equal to the last bit. Another processor may round differently, and
L-BFGS makes more of it: so what a surrogate suggests has to agree closely in nine cases of ten.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.decisions.record import unpack
from tests.decisions.scenarios import SCENARIOS, make, play
from xstar.core.randomness import Streams
from xstar.journal import History
from xstar.journal import events as ev
from xstar.searchers import BOCA, DNGO, GP, NASBOT, TPE, Auto, Forest, TreeBO
from xstar.study.decisions import Policy

SURROGATES = (BOCA, DNGO, Forest, GP, NASBOT, TPE, Auto, TreeBO)
LONG = {name for name, scenario in SCENARIOS.items() if isinstance(scenario.searcher, DNGO | Auto)} - {"dngo-asha"}
"""They train networks: a second or more each."""


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The database as the content of a file, so that each test has its own."""
    path = tmp_path_factory.mktemp("recorded") / "studies.db"
    unpack(path)
    return path.read_bytes()


@pytest.fixture
def storage(recorded: bytes, tmp_path: Path) -> str:
    """The storage that has the studies of all scenarios."""
    path = tmp_path / "studies.db"
    path.write_bytes(recorded)
    return str(path)


def agree(one: Any, other: Any) -> bool:
    """Equal, but for the last digits of numbers."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(agree(one[name], other[name]) for name in one)
    return bool(one == other)


def made_again(study: xs.Study) -> list[bool]:
    """For every trial that was asked for, whether the same one would be asked for now."""
    events = list(study.journal.read(0))
    asked = defaultdict(list)
    for event in events:
        if isinstance(event, ev.Asked):
            asked[event.seen].append(event)
    policy = Policy(study.scheduler, study.searcher, Streams(study.seed))
    history, found = History(study.scheduler.rungs), []
    for number, event in enumerate(events):
        history.fold(event)
        for made in asked[number + 1]:
            due = policy.start(history, made.at)
            assert isinstance(due, ev.Asked)
            assert (due.trial, due.bracket) == (made.trial, made.bracket)
            # A budget that the scheduler chose has to be the same; one that BOCA chose depends on rounding as its x does.
            assert isinstance(study.searcher, BOCA) or due.budget == made.budget
            found.append(agree(due.config, made.config) and due.budget == made.budget)
    return found


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in SCENARIOS]
)
def test_recorded_decisions_are_made_again(name: str, storage: str) -> None:
    with make(name, lambda: 0.0, storage) as study:
        same = made_again(study)
    assert len(same) == SCENARIOS[name].trials
    least = 0.9 if isinstance(SCENARIOS[name].searcher, SURROGATES) else 1.0
    assert sum(same) >= least * len(same), f"{len(same) - sum(same)} of {len(same)} differ"


@pytest.mark.parametrize(
    "name",
    ["random", "pbil", "hyperband", "mobster", "nasbot-cell", "gp-bounded", "dngo-asha", "boca", "gp-warm-wider"],
)
def test_recorded_studies_go_on(name: str, storage: str) -> None:
    scenario = SCENARIOS[name]
    with make(name, lambda: 2e9, storage) as study:
        play(study, scenario, scenario.trials + 3)
        assert len(study.history.trials) == scenario.trials + 3
        assert not any("failed" in trial.origin for trial in study.history.trials)
    with xs.Study.open(name, storage) as study:
        assert all(made_again(study)[-3:])
