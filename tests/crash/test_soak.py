"""The short form of the soak: kill -9 whatever runs, and nothing is lost. ``make soak`` is the long one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.rounds import Round
from tests.crash.server import Server
from tests.crash.soak import PACKS

pytestmark = [
    pytest.mark.slow,  # whether a kill hits work hangs on how busy the machine is
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes through /proc"),
    pytest.mark.timeout(900),
]


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def rounds_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "round"
    folder.mkdir()
    return folder


def test_programs_and_workers_of_an_sqlite_study_are_killed(tmp_path: Path) -> None:
    kinds = ("worker", "program", "group", "worker")
    tally = Round(rounds_folder(tmp_path), "asha", None, random.Random(1), acting=1.0).run(kinds)
    assert tally.acts == {"copy": len(kinds), "exchange": len(kinds)}
    assert tally.kills == {"worker": 2, "program": 1, "group": 1}
    assert tally.cut_off >= 1
    assert tally.audits == len(kinds) + 2


def test_the_server_of_a_postgresql_study_is_killed(tmp_path: Path, server: Server) -> None:
    tally = Round(rounds_folder(tmp_path), "random", server, random.Random(1)).run(("server", "connection", "worker"))
    assert tally.kills == {"server": 1, "connection": 1, "worker": 1}
    assert tally.acknowledged > 0


@pytest.mark.parametrize("executor", ["inline", "processes"])
def test_a_stopped_program_goes_on_after_others_took_its_trials_over(tmp_path: Path, executor: str) -> None:
    tally = Round(rounds_folder(tmp_path), "asha", None, random.Random(1), executor).run(("stop", "program", "stop"))
    assert tally.kills == {"stop": 2, "program": 1}


@pytest.mark.parametrize(
    ("method", "objectives"), [("random", 1), ("asha", 1), ("mobster", 1), ("asha", 2), ("mobster", 2)]
)
@pytest.mark.parametrize("storage", ["sqlite", "postgresql"])
def test_many_kills(tmp_path: Path, request: pytest.FixtureRequest, method: str, objectives: int, storage: str) -> None:
    dice = random.Random(11)
    server = request.getfixturevalue("server") if storage == "postgresql" else None
    # After each kill all decisions are made again: those of a model of two objectives take a multiple of the time.
    kinds = dice.sample(PACKS[storage], 4 if (method, objectives) == ("mobster", 2) else 10)
    tally = Round(rounds_folder(tmp_path), method, server, dice, objectives=objectives).run(kinds)
    assert tally.hits.total() > 0
