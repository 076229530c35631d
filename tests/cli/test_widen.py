"""``xstar widen``, and ``xstar run --warm-start``."""

from __future__ import annotations

from pathlib import Path

import xstar as xs
from tests.cli.conftest import Cli, Write
from xstar.inspect.audit import audit

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
    assert "began with 4 configurations of 'a'\nbegan with 4 configurations of 'b'\n" in cli("show", "c").output
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
