"""Where the files of a study lie is said once: whoever goes on with it, or looks at it, has them there."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import xstar as xs
from xstar.cli.main import app
from xstar.errors import CorruptJournal
from xstar.look.exchange import export_events, import_events
from xstar.look.view import look

SPACE = xs.Space(x=xs.Float(0, 1))


def training(trial: Any) -> Iterator[float]:
    trial.load()
    for epoch in trial.epochs():
        trial.save({"epoch": epoch})
        yield trial["x"] + 1 / epoch


def search(trials: int, **options: Any) -> Any:
    return xs.minimize(training, SPACE, trials=trials, max_budget=9, method="asha", seed=1, study="s", **options)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_resumed_study_has_its_files_where_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    search(6, directory="runs").study.close()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # it was a relative path
    result = search(20, storage="../xstar.db")
    runs = tmp_path / "runs"
    assert result.checkpoint is not None
    assert runs in result.checkpoint.parents
    assert not (tmp_path / "xstar-files").exists()
    result.study.close()
    with xs.Study.open("s", tmp_path / "xstar.db") as study, look("s", tmp_path / "xstar.db") as view:
        assert study.files.folder == view.files(None).folder == runs / study.history.created.files
        assert view.files("other").folder.parent == Path("other").absolute()
        lines = list(export_events(study))
    shown = CliRunner().invoke(app, ["show", "s", "--trial", "0", "--storage", str(tmp_path / "xstar.db")])
    assert str(runs) in shown.output.replace("\n", "")
    import_events(lines, "copy", tmp_path / "other.db")
    with xs.Study.open("copy", tmp_path / "other.db") as copy:
        assert copy.files.folder.parent == tmp_path / "other-files"
    deleted = CliRunner().invoke(app, ["delete", "s", "--yes", "--storage", str(tmp_path / "xstar.db")])
    assert "with its files" in deleted.output
    assert not runs.exists()


def test_files_that_lie_in_another_folder_than_is_passed_are_told_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = search(6, directory="runs").study.files.folder
    search(6, directory="./runs").study.close()
    (tmp_path / "link").symlink_to("runs")
    search(6, directory="link").study.close()  # the same folder by another name
    search(6).study.close()
    told = [record.getMessage() for record in caplog.records if "directory=" in record.getMessage()]
    assert told == []
    for _ in range(2):
        with xs.Study.open("s", tmp_path / "xstar.db", directory="new"):
            pass
    (told_once,) = [record.getMessage() for record in caplog.records if "directory=" in record.getMessage()]
    assert f"has files in {str(folder)!r}, but directory= says {str(tmp_path / 'new')!r}" in told_once
    assert f"Move {str(folder)!r} there first, and pass directory= in every later call" in told_once
    caplog.clear()
    (tmp_path / "moved").mkdir()
    folder.rename(tmp_path / "moved" / folder.name)
    search(20, directory="moved").study.close()
    assert [record for record in caplog.records if record.levelname == "WARNING"] == []


def test_a_study_beside_its_database_has_files_there_too(caplog: pytest.LogCaptureFixture) -> None:
    search(6).study.close()
    search(6, directory="new").study.close()
    assert "Move" in caplog.text
    xs.minimize(training, SPACE, trials=3, max_budget=9, seed=1, directory="new")  # in memory: there is no other folder
    assert caplog.text.count("there first") == 1


def test_a_study_on_a_server_remembers_the_folder_it_was_begun_in(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    xs.Study(SPACE, study="folder", storage=postgres).close()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with xs.Study.open("folder", postgres) as study:
        assert study.files.folder.parent == tmp_path / "xstar-files"
        assert study.storage is not None
        study.storage.delete("folder")


def test_a_journal_that_names_the_whole_path_leads_to_no_folder_of_others(tmp_path: Path) -> None:
    search(1).study.close()
    (tmp_path / "home" / "thesis").mkdir(parents=True)
    with closing(sqlite3.connect("xstar.db")) as connection, connection:
        body = json.loads(connection.execute("SELECT body FROM xstar_events WHERE seq = 0").fetchone()[0])
        body |= {"directory": str(tmp_path / "home"), "files": "thesis"}
        connection.execute("UPDATE xstar_events SET body = ? WHERE seq = 0", (json.dumps(body),))
    refused = CliRunner().invoke(app, ["delete", "s", "--yes"])
    assert refused.exit_code == 2
    assert "six random characters" in " ".join(refused.stderr.split())
    with pytest.raises(CorruptJournal, match="'thesis', which xstar would not have made"):
        search(2)
    assert (tmp_path / "home" / "thesis").is_dir()
