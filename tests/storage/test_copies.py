"""A copy of a storage is the storage, whatever lies beside it, and a restored one is the copy."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import xstar as xs
from tests.trials import ask
from xstar.errors import InvalidArgument, StorageBusy, StorageError, StorageFull
from xstar.storage import SqlStorage, copies
from xstar.storage.database import Database

SPACE = xs.Space(x=xs.Float(0, 1))


def told(place: Path, values: int, name: str = "s") -> None:
    with xs.Study(SPACE, study=name, storage=place, seed=1, method="random") as study:
        for value in range(values):
            study.tell(ask(study), float(value))


def killed(place: Path, values: int) -> None:
    """What a program leaves that was killed: a file with a log beside it, which holds most of it."""
    study = xs.Study(SPACE, study="s", storage=place, seed=1, method="random")
    for value in range(values):
        study.tell(ask(study), float(value))
    left = {path: path.read_bytes() for path in (place, *copies.companions(place))}
    study.close()
    for path, content in left.items():
        path.write_bytes(content)
    assert place.with_name(place.name + "-wal").stat().st_size > 0


def trials(place: Path) -> int:
    with xs.Study.open("s", place) as study:
        return len(study.history.trials)


def backup(place: Path, target: Path) -> dict[str, int]:
    storage = SqlStorage(place, make=False)
    try:
        return storage.backup(target)
    finally:
        storage.close()


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
def test_a_backup_does_not_go_beside_what_another_file_has_left(tmp_path: Path, end: str) -> None:
    killed(tmp_path / "b.db", 2)
    left = tmp_path / f"b.db{end}"
    (tmp_path / "b.db-wal").rename(left)
    (tmp_path / "b.db").unlink()
    told(tmp_path / "a.db", 5)
    with pytest.raises(InvalidArgument, match=rf"b\.db{end}.*choose another name"):
        backup(tmp_path / "a.db", tmp_path / "b.db")
    assert not (tmp_path / "b.db").exists()
    for path in tmp_path.glob("b.db-*"):
        path.unlink()
    assert backup(tmp_path / "a.db", tmp_path / "b.db") == {"s": 11}
    assert trials(tmp_path / "b.db") == 5


def test_a_backup_beside_the_log_of_another_file_is_not_opened(tmp_path: Path) -> None:
    killed(tmp_path / "a.db", 2)
    backup(tmp_path / "a.db", tmp_path / "b.db")
    killed(tmp_path / "a.db", 5)
    content = (tmp_path / "b.db").read_bytes()
    (tmp_path / "b.db").rename(tmp_path / "a.db")
    with pytest.raises(StorageError, match=r"a\.db-wal is the log of another file.*xstar restore"):
        SqlStorage(tmp_path / "a.db")
    assert (tmp_path / "a.db").read_bytes() == content
    (tmp_path / "a.db-wal").rename(tmp_path / "old-wal")
    assert trials(tmp_path / "a.db") == 2


def test_a_storage_beside_the_log_of_another_one_is_not_opened(tmp_path: Path) -> None:
    killed(tmp_path / "a.db", 5)
    own = (tmp_path / "a.db-wal").read_bytes()
    told(tmp_path / "b.db", 2)
    content = (tmp_path / "b.db").read_bytes()
    (tmp_path / "b.db").replace(tmp_path / "a.db")
    with pytest.raises(StorageError, match=r"a\.db-wal is the log of another file.*xstar restore"):
        SqlStorage(tmp_path / "a.db")
    assert (tmp_path / "a.db").read_bytes() == content
    assert (tmp_path / "a.db-wal").read_bytes() == own
    (tmp_path / "a.db-wal").unlink()
    assert trials(tmp_path / "a.db") == 2


def test_a_new_storage_is_made_beside_the_log_of_one_that_was_deleted(tmp_path: Path) -> None:
    killed(tmp_path / "a.db", 5)
    (tmp_path / "a.db").unlink()
    told(tmp_path / "a.db", 2)
    assert trials(tmp_path / "a.db") == 2


def test_to_open_a_storage_again_takes_no_lock_from_those_who_have_it_open(tmp_path: Path) -> None:
    with xs.Study(SPACE, study="s", storage=tmp_path / "a.db", seed=1, method="random") as study:
        study.tell(ask(study), 1.0)
        reader = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM xstar_events").fetchone()
        before = Path("/proc/locks").read_text().count(f":{(tmp_path / 'a.db').stat().st_ino} ")
        SqlStorage(tmp_path / "a.db").close()
        backup(tmp_path / "a.db", tmp_path / "b.db")
        assert Path("/proc/locks").read_text().count(f":{(tmp_path / 'a.db').stat().st_ino} ") == before > 0
        reader.close()


def test_a_restored_storage_is_the_backup_and_what_was_there_is_kept(tmp_path: Path) -> None:
    killed(tmp_path / "a.db", 2)
    backup(tmp_path / "a.db", tmp_path / "b.db")
    killed(tmp_path / "a.db", 5)
    counts, kept = copies.restore(tmp_path / "b.db", tmp_path / "a.db")
    assert counts == {"s": 5}
    assert trials(tmp_path / "a.db") == 2
    assert kept is not None
    assert trials(kept) == 7, "with its log"
    assert copies.restore(tmp_path / "b.db", tmp_path / "new.db") == ({"s": 5}, None)
    assert trials(tmp_path / "new.db") == 2


def test_a_storage_that_cannot_be_read_is_restored(tmp_path: Path) -> None:
    told(tmp_path / "a.db", 2)
    backup(tmp_path / "a.db", tmp_path / "b.db")
    (tmp_path / "a.db").write_bytes(b"garbage " * 1000)
    with pytest.raises(StorageError, match="xstar restore FILE --storage"):
        trials(tmp_path / "a.db")
    copies.restore(tmp_path / "b.db", tmp_path / "a.db")
    assert trials(tmp_path / "a.db") == 2


def test_a_storage_with_living_programs_is_not_replaced(tmp_path: Path) -> None:
    told(tmp_path / "b.db", 1)
    with xs.Study(SPACE, study="s", storage=tmp_path / "a.db", seed=1) as study:
        ask(study)
        with pytest.raises(StorageBusy, match=f"process {os.getpid()}.*end them first"):
            copies.restore(tmp_path / "b.db", tmp_path / "a.db")
        backup(tmp_path / "a.db", tmp_path / "c.db")
        copies.restore(tmp_path / "b.db", tmp_path / "c.db")  # nobody runs trials in a copy


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM xstar_events WHERE seq = 3",
        "UPDATE xstar_studies SET claims = claims + 1",
        "UPDATE xstar_studies SET events = events + 1",
    ],
)
def test_a_storage_that_is_not_sound_is_not_said_to_be_copied(tmp_path: Path, damage: str) -> None:
    told(tmp_path / "a.db", 3)
    told(tmp_path / "a.db", 3, "other")
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection, connection:
        connection.execute(
            f"{damage} {'AND' if 'WHERE' in damage else 'WHERE'} {'study' if 'seq' in damage else 'id'} = 1"
        )
    with pytest.raises(StorageError, match=r"not sound \(s\)"):
        backup(tmp_path / "a.db", tmp_path / "b.db")
    assert not list(tmp_path.glob("*b.db*"))


def test_damaged_pages_are_found(tmp_path: Path) -> None:
    told(tmp_path / "a.db", 200)
    with (tmp_path / "a.db").open("r+b") as file:
        file.seek(4096 * 8)
        file.write(os.urandom(4096))
    with pytest.raises(StorageError, match=r"not sound|malformed"):
        backup(tmp_path / "a.db", tmp_path / "b.db")
    assert not list(tmp_path.glob("*b.db*"))


def test_a_target_without_room_is_to_blame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told(tmp_path / "a.db", 50)
    connect = sqlite3.connect

    def limited(file: object, *others: object, **named: object) -> sqlite3.Connection:
        made: sqlite3.Connection = connect(file, *others, **named)  # type: ignore[call-overload]
        if str(file).endswith(".part"):
            made.execute("PRAGMA max_page_count=2")  # SQLite then fails as on a full disk
        return made

    source = Database(tmp_path / "a.db")
    monkeypatch.setattr(sqlite3, "connect", limited)
    with pytest.raises(StorageFull, match=r"b\.db: no room"):
        copies.backup(source, tmp_path / "b.db")
    source.close()
    assert not list(tmp_path.glob("*b.db*"))


def test_a_study_that_is_missing_in_the_copy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told(tmp_path / "a.db", 2)
    monkeypatch.setattr(copies, "check", lambda _: {"s": 4})
    with pytest.raises(StorageError, match="lacks events of s"):
        backup(tmp_path / "a.db", tmp_path / "b.db")
    assert not list(tmp_path.glob("*b.db*"))
