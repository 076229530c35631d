"""A full disk, a locked or read-only database, a file that is none: a clear error, nothing half-written."""

from __future__ import annotations

import os
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

import xstar as xs
from tests.trials import ask
from xstar.errors import InvalidArgument, StorageBusy, StorageError, StorageFull, StorageReadOnly
from xstar.look.audit import audit
from xstar.look.exchange import export_events
from xstar.look.view import StudyView, look
from xstar.storage import SqlJournal, SqlStorage, connections, database

SPACE = xs.Space(x=xs.Float(0, 1), note=xs.Choice(["a" * 500, "b" * 500]))


def a_study(path: Path) -> xs.Study:
    return xs.Study(SPACE, study="s", storage=path, seed=1)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = a_study(tmp_path / "s.db")

    assert study.storage is not None
    source = study.storage.database.connections
    connect = source.connect

    def limited() -> Any:
        connection = connect()
        connection.execute("PRAGMA max_page_count=25")  # SQLite then fails as on a full disk
        return connection

    monkeypatch.setattr(source, "connect", limited)
    study.journal.close()  # type: ignore[attr-defined]
    told = 0

    def fill() -> None:
        nonlocal told
        for _ in range(1000):
            study.tell(ask(study), float(told))
            told += 1

    with pytest.raises(StorageFull, match="free some space"):
        fill()
    monkeypatch.setattr(source, "connect", connect)
    study.journal.close()  # type: ignore[attr-defined]
    # With room again, the same object goes on where it stopped, and so does a new one.
    before = len(study.history.trials)
    ask(study)
    study.close()
    with a_study(tmp_path / "s.db") as again:
        assert [t.value for t in again.history.trials if t.state is xs.State.COMPLETE] == [
            float(n) for n in range(told)
        ]
        assert len(again.history.trials) == before + 1
        assert audit(again).findings == []


def test_a_locked_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BUSY_SECONDS", 0.05)
    monkeypatch.setenv("XSTAR_STORAGE_PATIENCE", "0.2")
    path = tmp_path / "s.db"
    study = a_study(path)
    trial = ask(study)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageBusy, match="locked by another process"):
        study.tell(trial, 1.0)
    other.execute("ROLLBACK")
    other.close()
    study.tell(trial, 1.0)
    assert study.best.value == 1.0


def test_a_lock_that_passes_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "BUSY_SECONDS", 0.01)
    path = tmp_path / "s.db"
    study = a_study(path)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    pauses: list[float] = []

    def wait(seconds: float) -> bool:
        pauses.append(seconds)
        if len(pauses) == 2:
            other.execute("ROLLBACK")
        return False

    assert study.storage is not None
    monkeypatch.setattr(study.storage.database._closed, "wait", wait)
    assert study.ask() is not None
    assert len(pauses) == 2
    assert pauses[1] > pauses[0]
    assert ["cannot be used" in line or "can be used again" in line for line in caplog.messages] == [True, True]
    other.close()


@pytest.mark.parametrize(
    ("words", "tries"),
    [
        ("FATAL:  the database system is starting up", 3),
        ("consuming input failed: server closed the connection unexpectedly", 3),
        ("connection refused", 1),
    ],
)
def test_a_server_that_has_answered_is_waited_for_and_an_unknown_one_is_not(
    monkeypatch: pytest.MonkeyPatch, words: str, tries: int
) -> None:
    monkeypatch.setattr(database, "PAUSES", (0.0,))
    asked: list[str] = []

    def connect(*_: object, **__: object) -> None:
        asked.append(words)
        raise psycopg.OperationalError(words if len(asked) < 3 else "password authentication failed")

    monkeypatch.setattr(psycopg, "connect", connect)
    with pytest.raises(StorageError):
        database.Database("postgresql://someone@localhost:1/nothing")
    assert len(asked) == tries


@pytest.mark.parametrize(
    "words",
    ["connection failed: FATAL: password authentication failed", 'connection failed: database "x" does not exist'],
)
def test_a_changed_password_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    monkeypatch.setenv("XSTAR_STORAGE_PATIENCE", "0.3")
    place = database.Database(tmp_path / "s.db")  # it was reached
    place.connections.errors = psycopg.Error
    asked: list[int] = []

    def refuse(attempt: int) -> None:
        asked.append(attempt)
        raise psycopg.OperationalError(words)

    with pytest.raises(StorageError):
        place.patiently(refuse)
    assert asked == [0]


def test_a_commit_survives_a_power_cut(tmp_path: Path) -> None:
    with a_study(tmp_path / "s.db") as study:
        assert isinstance(study.journal, SqlJournal)
        for connection in (study.journal._connection._connection(), study.journal.database.connections.connect()):
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert connection.execute("PRAGMA synchronous").fetchone() == (2,), "FULL: each commit is written through"


@pytest.mark.parametrize("text", ["soon", "-1", "inf", "nan"])
def test_a_patience_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("XSTAR_STORAGE_PATIENCE", text)
    with pytest.raises(InvalidArgument, match="XSTAR_STORAGE_PATIENCE"):
        a_study(tmp_path / "s.db")


@contextmanager
def no_writes() -> Iterator[None]:
    """No file can become longer, as on a full or read-only file system. (Permissions keep root from nothing.)"""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_system_that_takes_no_writes_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with a_study(path) as study:
        study.tell(ask(study), 1.0)
    with no_writes(), look("s", path) as view:
        assert [trial.value for trial in view.history.trials] == [1.0]
        assert len(list(export_events(view))) == 3
        assert view.audit().findings == []
    with no_writes():
        view = StudyView.of("s", SqlStorage(path).open("s"))
    with a_study(path) as study:
        study.tell(ask(study), 2.0)
    assert len(view.refresh().trials) == 2, "what others write once there is room is seen"
    with no_writes():
        study = xs.Study.open("s", storage=path)
        assert study.best.value == 1.0
        with pytest.raises(StorageError, match=r"may not be written|disk I/O error"):
            study.ask()
        assert len(study.history.trials) == 2


def test_the_log_of_a_killed_program_is_read_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.db"
    with a_study(path) as study:
        study.tell(ask(study), 1.0)
        left = {each: each.read_bytes() for each in (path, tmp_path / "s.db-wal")}
    for each, content in left.items():
        each.write_bytes(content)
    connect: Any = sqlite3.connect

    def refused(file: str, **others: Any) -> Any:
        if file == str(path):
            error = sqlite3.OperationalError("unable to open database file")
            error.sqlite_errorname = "SQLITE_CANTOPEN"
            raise error
        return connect(file, **others)

    monkeypatch.setattr(sqlite3, "connect", refused)
    with look("s", path) as view:
        assert [trial.value for trial in view.history.trials] == [1.0]
        with pytest.raises(StorageReadOnly, match="may not be written"):
            vars(view)["events"].write_cache("a", "b", "c")
    assert {each: each.read_bytes() for each in left} == left


@pytest.mark.parametrize(
    ("system", "kind", "words"),
    [
        ({"f_flag": os.ST_RDONLY, "f_bavail": 10**6}, StorageReadOnly, "the file system is read-only"),
        ({"f_flag": 0, "f_bavail": 2, "f_blocks": 10**6}, StorageFull, "no room"),
    ],
)
def test_why_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: dict[str, int], kind: type[Exception], words: str
) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_frsize=4096, **system))
    for said in ("attempt to write a readonly database", "unable to open database file", "disk I/O error"):
        found = database.translated(sqlite3.OperationalError(said), "sqlite:///s.db", tmp_path / "s.db")
        assert type(found) is kind
        assert words in str(found)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello " * 1000)
    with pytest.raises(StorageError, match="not a sound SQLite database"):
        a_study(path)
    assert path.read_text() == "hello " * 1000


def test_an_unreachable_server() -> None:
    with pytest.raises(StorageError, match=r"127\.0\.0\.1"):
        xs.Study(SPACE, study="s", storage="postgresql://nobody@127.0.0.1:1/none?connect_timeout=2")


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("how", ["deleted", "moved", "replaced"])
def test_a_database_that_goes_away_ends_the_search(tmp_path: Path, how: str, workers: int) -> None:
    place = tmp_path / "s.db"

    def take_away(study: xs.Study) -> None:
        if len(study.history.ended) < 5 or (tmp_path / "done").exists():
            return
        (tmp_path / "done").touch()
        if how == "moved":
            place.rename(tmp_path / "t.db")
        else:
            place.unlink()
        if how == "replaced":
            sqlite3.connect(place).close()
            place.touch()

    with pytest.raises(StorageError, match="deleted, moved or replaced while it was in use") as caught:
        xs.minimize(
            lambda trial: trial["x"],
            SPACE,
            trials=20,
            workers=workers,
            study="s",
            storage=place,
            seed=1,
            watch=take_away,
        )
    assert str(place) in str(caught.value)


@pytest.mark.parametrize("storage", ["s.db", "sqlite:///s.db"])
def test_a_database_in_a_folder_that_the_program_left_is_still_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, storage: str
) -> None:
    here, elsewhere = tmp_path / "a folder", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(here)
    with xs.Study(SPACE, study="s", storage=storage, seed=1) as study:
        monkeypatch.chdir(elsewhere)
        study.tell(ask(study), 1.0)
        journal = study.journal
        assert isinstance(journal, SqlJournal)
        journal.close()  # and open it again, as after an outage
        assert study.refresh().trials[0].value == 1.0
        file = journal.renewal()["file"]
        with closing(sqlite3.connect(file, uri=True)) as connection:  # as the process that renews leases does
            assert connection.execute("SELECT name FROM xstar_studies").fetchall() == [("s",)]
    assert list(elsewhere.iterdir()) == [], "neither a database nor locks"


def test_a_study_whose_database_went_away_can_still_be_closed(tmp_path: Path) -> None:
    study = a_study(tmp_path / "s.db")
    assert study.ask() is not None
    (tmp_path / "s.db").unlink()
    with pytest.raises(StorageError, match="while it was in use"):
        study.close()
    assert study.leases.heartbeat is not None
    assert study.leases.heartbeat._thread is None, "nobody renews leases any more"
