"""Looking: right, and without a trace."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from rich.console import Console

import xstar as xs
from tests.cli.conftest import Cli
from tests.trials import ask
from xstar import nets
from xstar.look.view import look

LOOKS = [
    ("studies",),
    ("show", "demo"),
    ("show", "demo", "--trial", "0"),
    ("best", "demo"),
    ("export", "demo"),
    ("export", "demo", "--format", "csv"),
    ("audit", "demo"),
    ("studies", "--json"),
    ("show", "demo", "--json"),
    ("show", "demo", "--trial", "0", "--json"),
    ("why", "demo", "0", "--json"),
    ("audit", "demo", "--json"),
]


def rows(db: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(db)) as connection:
        tables = ("xstar_studies", "xstar_events", "xstar_leases")
        return [row for table in tables for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2")]


@pytest.mark.parametrize("words", LOOKS, ids=" ".join)
def test_looking_changes_nothing(words: tuple[str, ...], cli: Cli, stored: Path) -> None:
    before = rows(stored)
    cli(*words)
    assert rows(stored) == before
    # And there was something to change: whoever takes part finds the dead program's trial.
    with xs.Study.open("demo", stored) as study:
        assert study.history.trials[3].state is xs.State.WAITING
    assert rows(stored) != before


@pytest.mark.parametrize("words", [*LOOKS, ("rename", "demo", "new"), ("delete", "demo", "--yes")], ids=" ".join)
def test_a_storage_that_is_not_there_is_not_made(words: tuple[str, ...], cli: Cli, tmp_path: Path) -> None:
    assert "there is no storage xstar.db" in cli(*words, code=2).stderr
    assert list(tmp_path.iterdir()) == []


def test_which_machine_ran_a_trial(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for host in ("gpu1", "gpu[2]"):
        monkeypatch.setattr("platform.node", lambda host=host: host)
        with xs.Study(xs.Space(x=xs.Float(0, 1)), study="s", storage=tmp_path / "xstar.db", method="random") as study:
            study.tell(ask(study), 1.0)
        output = cli("show", "s").output
        assert (" host " in output) == (host == "gpu[2]"), "a column that says the same everywhere is left out"
    assert re.findall(r"gpu1|gpu\[2\]", output) == ["gpu1", "gpu[2]"]
    assert ", run on gpu1\n" in cli("show", "s", "--trial", "0").output
    assert json.loads(cli("show", "s", "--trial", "1", "--json").output)["host"] == "gpu[2]"
    with xs.Study.open("s", tmp_path / "xstar.db") as study:
        (bars,) = study.plot.figure("timeline")["data"]
    assert [each[3] for each in bars["customdata"]] == [" on gpu1", " on gpu[2]"]


def test_other_files_are_left_alone(cli: Cli, tmp_path: Path) -> None:
    other, text, folder = tmp_path / "other.db", tmp_path / "text.db", tmp_path / "folder"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE mine (x)")
        connection.commit()
    text.write_text("not a database, but long enough to be looked at" * 100)
    folder.mkdir()
    before = other.read_bytes()
    assert "holds no studies" in cli("studies", "--storage", str(other), code=2).stderr
    assert "not a sound SQLite database" in cli("studies", "--storage", str(text), code=2).stderr
    assert "must be a file" in cli("studies", "--storage", str(folder), code=2).stderr
    assert other.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "other.db", "text.db"]


def test_studies(cli: Cli, stored: Path) -> None:
    xs.Study(xs.Space(y=xs.Int(0, 5)), study="empty", storage=stored).close()
    output = cli("studies").output
    lines = [line.split() for line in output.splitlines()]
    assert [line[:-1] for line in lines[1:]] == [
        ["demo", "4", "0.083333", "min", "error", "random"],
        ["empty", "0", "-", "min", "value", "auto"],
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", line[-1]) for line in lines[1:])


def test_studies_fit_80_columns(cli: Cli, stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = "a-study-whose-name-someone-made-as-long-as-names-may-be-2026-11-16-final"
    space = xs.Space(y=xs.Int(0, 5))
    with xs.Study(
        space,
        study=long,
        storage=stored,
        metric="validation_error_after_training",
        method="mobster-hyperband",
        max_budget=81,
    ) as study:
        study.tell(study.ask(), {study.metric: -0.0000123456789})  # type: ignore[arg-type]
    monkeypatch.setattr("xstar.cli.show.console", lambda: Console(width=80, markup=False))
    lines = cli("studies").output.splitlines()
    assert max(map(len, lines)) <= 80
    place = next(number for number, line in enumerate(lines) if line.startswith(long[:10]))
    name = "".join(line.split(" ")[0] for line in lines[place : place + 10] if long.find(line.split(" ")[0]) >= 0)
    assert name.startswith(long), "a name that is cut cannot be given to the next command"
    assert "-1.2346e-05" in lines[place]
    assert re.search(r" \d{4}-\d\d-\d\d\s*$", lines[place])
    assert any(line.startswith("demo ") and " random " in line for line in lines), "a usual study takes one line"


def test_a_study_that_cannot_be_read_does_not_hide_the_others(cli: Cli, stored: Path) -> None:
    xs.Study(xs.Space(y=xs.Int(0, 5)), study="odd", storage=stored).close()
    with closing(sqlite3.connect(stored)) as connection:
        connection.execute(
            "UPDATE xstar_events SET body = replace(body, '\"int\"', '\"alien\"') WHERE body LIKE '%\"int\"%'"
        )
        connection.commit()
    output = cli("studies").output
    assert "demo" in output
    assert "alien" in output


def test_show(cli: Cli, stored: Path) -> None:
    output = cli("show", "demo").output
    assert "1 running, 2 complete, 1 failed" in output
    assert "error 0.083333333 (trial 1)" in output
    assert "how = Choice(['[red]plain[/red]', ':star:'])" in output  # nobody's words are taken for markup
    assert "ValueError: [bold]no[/bold] luck" in output
    assert "random, max_budget 3" in output
    assert "the last 4 of 4 trials" in output


def test_an_architecture_is_one_line_of_the_table_and_whole_where_it_is_the_best(cli: Cli, tmp_path: Path) -> None:
    with xs.Study(xs.Space(net=nets.MLP(inputs=8)), study="n", storage=tmp_path / "xstar.db", seed=1) as study:
        for value in (2.0, 1.0):
            study.tell(ask(study), value)
    shown = cli("show", "n").output
    _, best, table = re.split("best: |the last", shown)
    assert "layers, mass" in table
    assert "{" not in table
    assert '"layers"' in best
    assert (
        json.loads(cli("best", "n", "--json").output)["net"]
        == json.loads(cli("show", "n", "--json").output)["best"]["config"]["net"]
    )


def test_show_counts_reasons(cli: Cli, stored: Path) -> None:
    with xs.Study.open("demo", stored) as study:
        for number in range(30):
            study.fail(ask(study), "out of memory" if number % 2 else f"reason {number}")
    output = cli("show", "demo").output
    table = output[output.index("what went wrong") :]
    assert "15" in next(line for line in table.splitlines() if "out of memory" in line)
    assert "other reasons" in table


def test_show_one_trial(cli: Cli, stored: Path) -> None:
    output = cli("show", "demo", "--trial", "0").output
    assert "trial 0 complete, error 0.16666667" in output
    assert [line.split("│")[1:3] for line in output.splitlines() if line.startswith("│ ") and "0.5" in line][-3:] == [
        [" 1     ", " 0.5        "],
        [" 2     ", " 0.25       "],
        [" 3     ", " 0.16666667 "],
    ]
    assert "stdout.txt  6 bytes" in output
    failed = cli("show", "demo", "--trial", "2").output
    assert 'File "search.py"\nValueError: [bold]no[/bold] luck' in failed
    assert "no files" in failed
    assert "it has trials 0 to 3" in cli("show", "demo", "--trial", "4", code=2).stderr
    assert "it has trials 0 to 3" in cli("show", "demo", "--trial", "-1", code=2).stderr


def test_show_notes(cli: Cli, stored: Path) -> None:
    with xs.Study.open("demo", stored) as study:
        study.annotate(1, {"commit": "4f2a1c", "tags": ["small"]})
    output = cli("show", "demo", "--trial", "1").output
    assert "4f2a1c" in output
    assert '["small"]' in output


def test_best(cli: Cli, stored: Path) -> None:
    with look("demo", stored) as view:
        best = view.history.best
    assert best is not None
    assert json.loads(cli("best", "demo", "--json").stdout) == best.config
    assert str(best.config["x"]) in cli("best", "demo").output
    xs.Study(xs.Space(y=xs.Int(0, 5)), study="empty", storage=stored).close()
    assert "has a value yet" in cli("best", "empty", "--json", code=2).stderr


def test_an_error_is_one_message_on_stderr(cli: Cli, stored: Path) -> None:
    result = cli("show", "nope", code=2)
    assert result.stdout == ""
    assert result.stderr == f"error: sqlite:///{stored.name} has no study 'nope'; it has: demo\n"


def test_the_environment_names_the_storage(cli: Cli, stored: Path, tmp_path: Path) -> None:
    moved = stored.rename(tmp_path / "moved.db")
    assert "demo" in cli("studies", env={"XSTAR_STORAGE": str(moved)}).output


def test_json_for_programs(cli: Cli, stored: Path) -> None:
    (line,) = json.loads(cli("studies", "--json").output)
    study = json.loads(cli("show", "demo", "--json").output)
    assert line["name"] == study["name"] == "demo"
    assert line["trials"] == study["trials"] == sum(study["counts"].values())
    assert line["best"] == study["best"]["value"]
    best = study["best"]["number"]
    trial = json.loads(cli("show", "demo", "--trial", str(best), "--json").output)
    assert {key: trial[key] for key in study["best"]} == study["best"]
    assert trial["reports"][-1]["metrics"] == trial["metrics"]
    assert json.loads(cli("why", "demo", str(best), "--json").output)["trial"] == best
    audit = json.loads(cli("audit", "demo", "--json").output)
    assert audit["findings"] == []
    assert audit["decisions"] > 0
    assert set(audit["seconds"]) >= {"verdicts"}


def test_what_to_cite_is_bibtex(cli: Cli, stored: Path) -> None:
    entries = [line for line in cli("cite", "demo").output.splitlines() if line.startswith("@")]
    assert entries == ["@software{xstar,", "@article{random,", "@inproceedings{anova,"]


def test_the_name_that_others_give_a_command(cli: Cli) -> None:
    assert "Did you mean 'studies'?" in cli("list", code=2).output
    assert "No such command 'dance'" in cli("dance", code=2).output
