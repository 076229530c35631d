"""A copy of a storage that is in use is whole, and nothing beside a SQLite file keeps a program that copies it waiting."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

import xstar as xs
from xstar.errors import InvalidArgument
from xstar.storage import SqlStorage

SPACE = xs.Space(x=xs.Float(0, 1))


def test_a_backup_has_what_is_not_in_the_file_yet(tmp_path: Path) -> None:
    place, copy = tmp_path / "a.db", tmp_path / "copy.db"
    study = xs.Study(SPACE, study="a", storage=place, seed=1)
    trial = study.ask()
    before = place.read_bytes()
    study.tell(trial, 0.5)  # type: ignore[arg-type]
    assert place.read_bytes() == before, "it is in the write-ahead log alone"
    running = study.ask()
    assert study.storage is not None
    study.storage.backup(copy)
    assert [path.name for path in tmp_path.glob("copy.db*")] == ["copy.db"]
    study.tell(running, 0.25)  # type: ignore[arg-type]
    study.close()
    with xs.Study.open("a", copy) as copied:
        assert [trial.value for trial in copied.history.trials] == [0.5, None]
    with xs.Study.open("a", place) as original:
        assert original.best.value == 0.25


def test_a_backup_goes_to_a_new_file_in_a_folder_that_is_there(tmp_path: Path) -> None:
    storage = SqlStorage(tmp_path / "a.db")
    storage.backup(tmp_path / "copy.db")
    with pytest.raises(InvalidArgument, match="not there yet"):
        storage.backup(tmp_path / "copy.db")
    with pytest.raises(InvalidArgument, match="can be written"):
        storage.backup(tmp_path / "nowhere" / "copy.db")
    assert not list(tmp_path.glob("*.part"))
    storage.close()


def test_a_server_has_its_own_backup(postgres: str) -> None:
    storage = SqlStorage(postgres)
    with pytest.raises(InvalidArgument, match="pg_dump"):
        storage.backup("copy.db")
    storage.close()


def test_what_lies_beside_the_file_can_be_copied(tmp_path: Path) -> None:
    study = xs.Study(SPACE, study="a", storage=tmp_path / "a.db", seed=1)
    study.ask()
    kinds = {path.name: path.stat().st_mode for path in tmp_path.glob("a.db*")}
    assert len(kinds) >= 3
    assert all(stat.S_ISREG(mode) for mode in kinds.values()), kinds
    study.close()
