"""Keeping studies: export, import, rename, delete, widen, narrow, audit."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest

import xstar as xs
from tests.cli.conftest import Cli, Write
from tests.trials import run_trials
from xstar.core.environment import environment
from xstar.look.audit import audit
from xstar.storage import SqlStorage


def test_export_and_import(cli: Cli, stored: Path, tmp_path: Path) -> None:
    printed = cli("export", "demo").stdout
    assert [json.loads(line)["seq"] for line in printed.splitlines()] == list(range(len(printed.splitlines())))
    assert cli("export", "demo", "--output", "demo.jsonl").output == ""
    assert (tmp_path / "demo.jsonl").read_text() == printed
    assert cli("import", "demo.jsonl", "--study", "copy").output == "imported study 'copy': 4 trials\n"
    assert cli("import", "-", "--study", "piped", input=printed).output == "imported study 'piped': 4 trials\n"
    for name in ("copy", "piped"):
        assert cli("export", name).stdout.splitlines()[1:-1] == printed.splitlines()[1:]
    assert not list(tmp_path.glob(".*.part"))


def test_export_csv(cli: Cli, stored: Path, tmp_path: Path) -> None:
    printed = cli("export", "demo", "--format", "csv").stdout
    cli("export", "demo", "--output", "demo.csv")
    assert (tmp_path / "demo.csv").read_text() == printed
    states = [row["state"] for row in csv.DictReader(printed.splitlines())]
    assert states == ["complete", "complete", "failed", "running"]


def test_an_export_that_fails_leaves_what_was_there(cli: Cli, stored: Path, tmp_path: Path) -> None:
    (tmp_path / "demo.jsonl").write_text("yesterday's")
    with closing(sqlite3.connect(stored)) as connection:
        connection.execute("UPDATE xstar_events SET body = '{' WHERE seq = 5")
        connection.commit()
    assert "is not JSON" in cli("export", "demo", "--output", "demo.jsonl", code=2).stderr
    assert (tmp_path / "demo.jsonl").read_text() == "yesterday's"
    assert not list(tmp_path.glob(".*.part"))


def test_an_export_and_a_report_follow_no_link(cli: Cli, stored: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    for name in ("e.jsonl", "r.html"):
        (tmp_path / f"{name}.part").symlink_to(victim)
    cli("export", "demo", "--output", "e.jsonl")
    cli("report", "demo", "--output", "r.html")
    assert victim.read_text() == "mine"
    assert (tmp_path / "e.jsonl").is_file()
    assert (tmp_path / "r.html").is_file()


def test_files_that_cannot_be_used(cli: Cli, stored: Path, tmp_path: Path) -> None:
    assert "can be written" in cli("export", "demo", "--output", "no/folder.csv", code=2).stderr
    assert "can be read" in cli("import", "nothing.jsonl", "--study", "copy", code=2).stderr
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in cli("import", "binary", "--study", "copy", code=2).stderr
    (tmp_path / "bad.jsonl").write_text("{}\n")
    assert "line 1" in cli("import", "bad.jsonl", "--study", "copy", "--storage", "fresh.db", code=2).stderr
    assert not (tmp_path / "fresh.db").exists()
    cli("export", "demo", "--output", "demo.jsonl")
    assert "already has a study 'demo'" in cli("import", "demo.jsonl", "--study", "demo", code=2).stderr


def test_rename(cli: Cli, stored: Path) -> None:
    with xs.Study.open("demo", stored) as study:
        folder = study.files.folder
    assert cli("rename", "demo", "better").output == "study 'demo' is now 'better'\n"
    assert "no study 'demo'" in cli("show", "demo", code=2).stderr
    with xs.Study.open("better", stored) as study:
        assert study.files.folder == folder
    assert "begins with a letter" in cli("rename", "better", "../up", code=2).stderr
    xs.Study(xs.Space(x=xs.Int(0, 1)), study="other", storage=stored).close()
    assert "already has" in cli("rename", "better", "other", code=2).stderr


def test_backup(cli: Cli, stored: Path) -> None:
    assert "xstar.db is copied to copy.db" in cli("backup", "copy.db").output
    assert "demo" in cli("studies", "--storage", "copy.db").output
    assert "not there yet" in cli("backup", "copy.db", code=2).stderr


def test_restore(cli: Cli, stored: Path, tmp_path: Path) -> None:
    assert "1 study with 12 events" in cli("backup", "copy.db").output
    cli("delete", "demo", "--yes", "--keep-files")
    said = cli("restore", "copy.db").output
    assert "copy.db is restored as xstar.db: 1 study with 12 events" in said
    assert "demo" in cli("studies").output
    kept = min((path.name for path in tmp_path.glob("xstar.db.before-*")), key=len)
    assert f"kept as {kept}\n" in said
    assert "no studies yet" in cli("studies", "--storage", kept).output
    assert "that is there" in cli("restore", "nowhere.db", code=2).stderr
    assert "must be a SQLite file" in cli("restore", "copy.db", "--storage", "postgresql://host/db", code=2).stderr


def test_delete_asks_first(cli: Cli, stored: Path, tmp_path: Path) -> None:
    refused = cli("delete", "demo", input="n\n", code=1)
    assert "Delete study 'demo' with 4 trials, 1 of them running and its files in" in refused.output
    assert "demo" in cli("studies").output
    assert cli("delete", "demo", input="y\n").output.endswith("study 'demo' is deleted with its files\n")
    assert "no studies yet" in cli("studies").output
    assert not (tmp_path / "xstar-files").exists()
    assert "no study 'demo'" in cli("delete", "demo", "--yes", code=2).stderr


def test_a_delete_that_is_cut_off_can_be_repeated(
    cli: Cli, stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(SqlStorage, "delete", Mock(side_effect=KeyboardInterrupt))
        cli("delete", "demo", "--yes", code=130)
    assert not (tmp_path / "xstar-files").exists()
    assert cli("delete", "demo", "--yes").output == "study 'demo' is deleted\n"
    assert "no studies yet" in cli("studies").output


def test_a_study_stays_while_its_files_cannot_be_removed(
    cli: Cli, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", lambda *_, **__: None)
        assert "cannot be removed" in cli("delete", "demo", "--yes", code=2).stderr
    assert "with its files" in cli("delete", "demo", "--yes").output


def test_delete_touches_nobody_else(cli: Cli, stored: Path, tmp_path: Path) -> None:
    cli("export", "demo", "--output", "demo.jsonl")
    cli("import", "demo.jsonl", "--study", "copy")
    cli("delete", "copy", "--yes")
    assert len(list((tmp_path / "xstar-files").glob("demo-*/00000/stdout.txt"))) == 1
    cli("delete", "demo", "--yes", "--keep-files")
    assert len(list((tmp_path / "xstar-files").glob("demo-*/00000/stdout.txt"))) == 1


def test_audit(cli: Cli, stored: Path) -> None:
    assert "recomputed from the events before them, all alike" in cli("audit", "demo").output
    with closing(sqlite3.connect(stored)) as connection:
        changed = connection.execute(
            "UPDATE xstar_events SET body = replace(body, '\"x\":0.', '\"x\":0.0') WHERE seq = 1"
        )
        assert changed.rowcount == 1
        connection.commit()
    output = cli("audit", "demo", code=1).output
    assert "event 1: trial 0" in output
    assert "1 finding in" in output


def test_an_audit_with_many_findings_prints_some_and_counts_the_rest(cli: Cli, tmp_path: Path) -> None:
    with xs.Study(
        xs.Space(x=xs.Float(0, 1)), study="s", storage=tmp_path / "xstar.db", method="random", seed=1
    ) as study:
        run_trials(study, 30, lambda trial: trial["x"])
    with closing(sqlite3.connect(tmp_path / "xstar.db")) as connection:
        connection.execute("""UPDATE xstar_events SET body = replace(body, '"seed":1', '"seed":2') WHERE seq = 0""")
        connection.commit()
    output = cli("audit", "s", code=1).output
    assert output.count("recomputed from the first") == 20
    assert "and 10 more" in output
    assert "30 findings in" in output
    assert len(json.loads(cli("audit", "s", "--json", code=1).output)["findings"]) == 30


def test_audit_of_suggestions_made_elsewhere(cli: Cli, stored: Path) -> None:
    here = environment()["kernel"]
    with closing(sqlite3.connect(stored)) as connection:
        change = "UPDATE xstar_events SET body = replace(body, ?, ?) WHERE seq = 0"
        connection.execute(change, (f'"kernel":"{here}"', '"kernel":"Other"'))
        connection.commit()
    output = cli("audit", "demo").output
    assert f"made elsewhere (kernel Other, here {here}): " in output
    assert "equal. Exact with OPENBLAS_CORETYPE=Other" in output
    assert "recomputed from the events before them, no finding" in output


def test_audit_of_a_searcher_it_does_not_know(cli: Cli, tmp_path: Path) -> None:
    class Mine:
        def suggest(self, *_: object) -> None: ...

    xs.Study(xs.Space(x=xs.Int(0, 1)), study="mine", storage=tmp_path / "xstar.db", searcher=Mine()).close()  # type: ignore[arg-type]
    assert "a class of your own" in cli("audit", "mine", code=2).stderr


@pytest.mark.parametrize("words", [("show", "demo", "--trial", "x"), ("export", "demo", "--format", "xml"), ("dance",)])
def test_wrong_words_are_refused(words: tuple[str, ...], cli: Cli, stored: Path) -> None:
    assert "Usage" in cli(*words, code=2).stderr


FILE = """
    import xstar as xs

    space = xs.Space(x=xs.Float({low}, 1.0){more})

    def objective(trial):
        return trial["x"] ** 2
"""


def test_a_study_goes_on_in_a_wider_space(cli: Cli, write: Write) -> None:
    write(FILE.format(low=0.0, more=""))
    cli("run", "search.py", "--trials", "4", "--method", "random", "--study", "s")
    write(FILE.format(low=-1.0, more=", depth=xs.Int(1, 3)"), "wider.py")
    refused = cli("run", "wider.py", "--trials", "8", "--study", "s", code=2).output
    assert "xstar widen s FILE" in refused
    assert "depth: is new" in cli("widen", "s", "wider.py", code=2).output
    assert "NAME=VALUE" in cli("widen", "s", "wider.py", "--fill", "depth", code=2).output
    printed = cli("widen", "s", "wider.py", "--fill", "depth=2").output
    assert "x: low is -1.0 here, 0.0 there" in printed
    assert "already" in cli("widen", "s", "wider.py").output
    cli("run", "wider.py", "--trials", "8", "--study", "s")
    with xs.Study.open("s") as study:
        assert [trial.config["depth"] for trial in study.trials[:4]] == [2] * 4
        assert audit(study).findings == []


def test_a_warm_start_by_name(cli: Cli, write: Write) -> None:
    write(FILE.format(low=-1.0, more=""))
    for name in ("a", "b"):
        cli("run", "search.py", "--trials", "4", "--method", "random", "--study", name)
    cli("run", "search.py", "--trials", "4", "--method", "gp", "--study", "c", "--warm-start", "a", "--warm-start", "b")
    assert "4 configurations of 'a'; 4 configurations of 'b'" in cli("show", "c").output
    with xs.Study.open("c") as study:
        assert study.history.sources == ["a", "b"]
        assert audit(study).findings == []


def test_a_study_goes_on_in_a_part_of_its_space(cli: Cli, write: Write, tmp_path: Path) -> None:
    write(FILE.format(low=0.0, more=""))
    cli("run", "search.py", "--trials", "4", "--method", "random", "--study", "s")
    printed = cli("narrow", "s", "x=[0.0, 0.5]", "--reason", "the rest is hopeless").output
    assert "outside of it: " in printed
    assert "NAME=VALUE" in cli("narrow", "s", "x", code=2).output
    cli("run", "search.py", "--trials", "8", "--study", "s")  # the file still has the wider space
    with xs.Study.open("s", tmp_path / "xstar.db") as study:
        assert [act.reason for act in study.history.acts] == ["the rest is hopeless"]
        assert study.space == xs.Space(x=xs.Float(0.0, 0.5))
        assert all(trial["x"] <= 0.5 for trial in study.trials[4:])
        assert audit(study).findings == []
