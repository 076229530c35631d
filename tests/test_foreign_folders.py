"""A storage from elsewhere: the folder it names for a study's files cannot lead anywhere but under the study's root."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

import xstar as xs
from xstar.cli.main import app
from xstar.errors import CorruptJournal, StorageError
from xstar.journal.trial import Origin, Trial
from xstar.look.exchange import import_events
from xstar.storage.files import Folders

SPACE = xs.Space(x=xs.Float(0, 1))
NAMES = [
    "../precious",
    "a/../../precious",
    "..",
    ".",
    "",
    "a/b",
    "a\\b",
    "C:x",
    "-rf",
    "a b",
    "a\nb",
    "a\x00b",
    "a" * 300,
]


def stored(folder: Path, name: str) -> Path:
    """A storage with a study ``s`` whose first event names this folder.

    On code without the check, what the name leads to is deleted: it may lead nowhere but into the test's own folder.
    """
    place = folder / "s.db"
    reached = Path(os.path.abspath(os.path.join(folder / "s-files", name.replace("\x00", ""))))
    assert reached == folder or folder in reached.parents, "this test would delete what is not its own"
    xs.minimize(lambda trial: trial["x"], SPACE, trials=2, study="s", storage=place, seed=1).study.close()
    with closing(sqlite3.connect(place)) as connection:
        body = json.loads(connection.execute("SELECT body FROM xstar_events WHERE seq = 0").fetchone()[0])
        body["files"] = name
        connection.execute("UPDATE xstar_events SET body = ? WHERE seq = 0", (json.dumps(body),))
        connection.commit()
    return place


@pytest.mark.parametrize("name", [*NAMES, "absolute"])
def test_a_folder_that_is_a_path_is_refused_by_name(tmp_path: Path, name: str) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("ten years of work")
    name = str(precious) if name == "absolute" else name
    place = stored(tmp_path, name)
    for command in (["delete", "s", "--yes"], ["show", "s"], ["show", "s", "--trial", "0"]):
        result = CliRunner().invoke(app, [*command, "--storage", str(place)])
        assert result.exit_code == 2, command
        assert repr(name[:200]) in " ".join(result.stderr.split())
    with pytest.raises(CorruptJournal, match="begins with a letter or digit"):
        xs.minimize(lambda trial: trial["x"], SPACE, trials=4, study="s", storage=place)
    exported = CliRunner().invoke(app, ["export", "s", "--storage", str(place)]).stdout
    with pytest.raises(CorruptJournal, match="begins with a letter or digit"):
        import_events(exported.splitlines(), "copy", tmp_path / "other.db")
    assert [path.name for path in precious.iterdir()] == ["thesis.txt"]
    kept = CliRunner().invoke(app, ["delete", "s", "--yes", "--keep-files", "--storage", str(place)])
    assert kept.exit_code == 0, kept.output
    assert [path.name for path in precious.iterdir()] == ["thesis.txt"]


def outside(tmp_path: Path) -> Path:
    precious = tmp_path / "precious"
    (precious / "00000" / "checkpoint").mkdir(parents=True)
    (precious / "00000" / "checkpoint" / "thesis.txt").write_text("ten years of work")
    return precious


def test_links_do_not_lead_a_deletion_astray(tmp_path: Path) -> None:
    precious = outside(tmp_path)
    thesis = precious / "00000" / "checkpoint" / "thesis.txt"
    root = tmp_path / "root"
    root.mkdir()
    (root / "whole").symlink_to(precious)
    with pytest.raises(StorageError, match="precious by a link; that is outside"):
        Folders("whole", root, None, False).remove()
    with pytest.raises(StorageError, match="precious/00000 by a link; that is outside"):
        Folders("whole", root, None, False).of(0)
    (root / "part").mkdir()
    (root / "part" / "00000").symlink_to(precious / "00000")
    with pytest.raises(StorageError, match="precious/00000 by a link; that is outside"):
        Folders("part", root, None, False).drop_checkpoint(Trial(0, {}, Origin("random"), 0, 0.0))
    assert thesis.exists()
    Folders("part", root, None, False).remove()  # the link goes, what it points to stays
    assert not (root / "part").exists()
    assert thesis.exists()


def test_xstar_delete_refuses_a_link_before_anything_is_deleted(tmp_path: Path) -> None:
    precious = outside(tmp_path)
    place = stored(tmp_path, "s-1")
    (tmp_path / "s-files").mkdir(exist_ok=True)
    (tmp_path / "s-files" / "s-1").symlink_to(precious)
    result = CliRunner().invoke(app, ["delete", "s", "--yes", "--storage", str(place)])
    assert result.exit_code == 2
    assert "outside of" in " ".join(result.stderr.split())
    with xs.Study.open("s", place, directory=tmp_path / "elsewhere") as study:
        assert len(study.history.trials) == 2
    assert (precious / "00000" / "checkpoint" / "thesis.txt").exists()


def test_a_root_that_is_a_link_is_the_users_own_choice(tmp_path: Path) -> None:
    (tmp_path / "large disk").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "large disk")
    folders = Folders("s-1", tmp_path / "root", None, False)
    folders.of(3).mkdir(parents=True)
    assert (tmp_path / "large disk" / "s-1" / "00003").is_dir()
    folders.remove()
    assert not (tmp_path / "large disk" / "s-1").exists()
