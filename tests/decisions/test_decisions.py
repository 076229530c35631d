"""Decisions that were recorded come out the same, as an audit compares them, and the studies they belong to go on.

Where they were recorded (``record.py``) every decision is equal to the last bit.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.decisions.record import unpack
from tests.decisions.scenarios import SCENARIOS, make, play
from xstar.look.audit import audit
from xstar.searchers import DNGO, Auto

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


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in SCENARIOS]
)
def test_recorded_decisions_are_made_again(name: str, storage: str) -> None:
    with make(name, lambda: 0.0, storage) as study:
        found = audit(study)
    assert found.findings == []
    assert found.decisions >= SCENARIOS[name].trials
    assert all(each.same_release for each in found.other_environments), "record them again for this release"


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
        assert audit(study).findings == []
