"""Words of a study that would command the terminal: they are shown, not obeyed."""

from __future__ import annotations

import io
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.cli.conftest import Cli
from tests.look.plots.studies import unreadable
from xstar.cli.entry import main
from xstar.cli.text import console

TITLE = "\x1b]0;owned\x07"
EVIL = f"{TITLE}\x1b[2J\x9b31mé\u202eabc\x7f"


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """A storage in which everything that can be a word is one of these."""
    place = tmp_path / "xstar.db"
    space = xs.Space(x=xs.Choice([EVIL, EVIL + "2"]), y=xs.Choice([[EVIL], [1]]))
    with xs.Study(space, study="s", storage=place, metric=EVIL, seed=1) as study:
        study.add({"x": EVIL, "y": [EVIL]}, {EVIL: 1.0, "other" + EVIL: 2.0})
        study.enqueue({"x": EVIL, "y": [EVIL]})
        for kind in ("infeasible", "exception"):
            trial: Any = study.ask()
            study.fail(trial, f"line one {EVIL}\nlast line {EVIL}", kind)
        (study.files.of(1)).mkdir(parents=True)
        (study.files.of(1) / "evil\x1b[31m.txt").touch()
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("UPDATE xstar_studies SET name = ?", ("s" + EVIL,))
        connection.commit()
    return place


def assert_harmless(text: str) -> None:
    found = sorted({hex(ord(c)) for c in text if not c.isprintable() and c != "\n"})
    assert found == []


@pytest.mark.parametrize(
    "words", [["studies"], ["show", "s" + EVIL], ["best", "s" + EVIL], ["show", "s" + EVIL, "--trial", "1"]]
)
def test_nothing_commands_the_terminal(cli: Cli, evil: Path, words: list[str]) -> None:
    output = cli(*words).output
    assert_harmless(output)
    assert "é" in output


def test_errors_neither(cli: Cli, evil: Path) -> None:
    assert_harmless(cli("show", EVIL, code=2).stderr)
    assert_harmless(cli("show", "s" + EVIL, "--trial", "99", code=2).stderr)


def test_the_best_as_json_is_the_same_value_in_harmless_letters(cli: Cli, evil: Path) -> None:
    output = cli("best", "s" + EVIL, "--json").output
    assert_harmless(output)
    assert json.loads(output) == {"x": EVIL, "y": [EVIL]}


def test_a_table_stays_in_shape(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.table import Table

    table = Table("a", "b")
    table.add_row(f"{TITLE}x", "y")
    table.add_row("longer than the other", "y")
    console().print(table)
    lines = capsys.readouterr().out.splitlines()
    assert len({len(line) for line in lines}) == 1, lines


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_terminal_shows_any_study(tmp_path: Path, encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a terminal has no letter for is escaped; nothing is lost, and no command ends in an error."""
    unreadable(tmp_path / "xstar.db")
    with xs.Study(xs.Space(x=xs.Choice(["é", "ł"])), study="letters", storage=tmp_path / "xstar.db", seed=1) as study:
        for _ in range(2):
            trial: Any = study.ask()
            study.fail(trial, "ValueError: żółw") if trial.number else study.tell(trial, 1.0)
        best = study.best["x"]

    def shown(*words: str) -> str:
        out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "argv", ["xstar", *words])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
        out.flush()
        return out.buffer.getvalue().decode(encoding)

    for study_name in ("s", "letters"):
        for words in (["show", study_name], ["show", study_name, "--trial", "1"], ["why", study_name, "0"]):
            shown(*words)
        shown("export", study_name, "--format", "csv")
    assert "OSError: \\udcff" in shown("show", "s")
    turtle = "ValueError: żółw"
    assert turtle.encode(encoding, "backslashreplace").decode(encoding) in shown("show", "letters")
    assert json.loads(shown("best", "letters", "--json")) == {"x": best}
    shown("run", "--help")
