"""Several objectives on the command line: a file of any program, then every command that looks at the study."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.cli.conftest import Cli, Write

PROGRAM = """
    import json, sys
    x, units, epochs = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for epoch in range(1, epochs + 1):
        print(json.dumps({"accuracy": 1 - (x - 0.3) ** 2 - 1 / units - 0.1 / epoch, "size": units, "heat": x}), flush=True)
"""
FILE = f"""
    [program]
    command = ["{sys.executable}", "train.py", "{{x}}", "{{units}}", "{{budget}}"]
    [space]
    x = {{float = [0, 1]}}
    units = {{int = [1, 128], log = true}}
    [settings]
    trials = 7
    metric = {{accuracy = "max", size = ["min", 100]}}
    constraints = {{heat = 0.9}}
    seed = 0
    study = "s"
"""
GOAL = "maximize accuracy, minimize size (100 at most)"


@pytest.fixture(params=["", "max_budget = 3"], ids=["whole", "budgets"])
def found(request: pytest.FixtureRequest, cli: Cli, write: Write) -> str:
    """What `xstar run` said; the same line again resumes."""
    write(PROGRAM, "train.py")
    file = write(FILE.replace("{budget}", "{budget}" if request.param else "1") + f"    {request.param}\n", "s.toml")
    cli("run", str(file), "--trials", "4")
    return str(cli("run", str(file)).output)


def test_a_file_is_run_and_resumed(found: str) -> None:
    assert GOAL in found
    with xs.Study.open("s", "xstar.db") as study:
        assert study.goals.goal == GOAL
        assert len(study.trials) == 7
        assert f"{len(study.front)} trial" in found


def test_what_is_shown_of_it(found: str, cli: Cli, tmp_path: Path) -> None:
    with xs.Study.open("s", "xstar.db") as study:
        front = [trial.number for trial in study.front]
        values = [trial.values for trial in study.front]
        configs = [study.space.dump(trial.config) for trial in study.front]
    assert front
    shown = cli("show", "s").output
    assert GOAL in " ".join(shown.split())
    assert "hypervolume" in shown
    told = json.loads(cli("show", "s", "--json").output)
    assert [trial["number"] for trial in told["front"]["trials"]] == front
    assert [trial["values"] for trial in told["front"]["trials"]] == values
    assert (told["goal"], told["objectives"]) == (GOAL, ["accuracy", "size"])
    assert told["up_to"]["size"] <= 100
    (line,) = json.loads(cli("studies", "--json").output)
    assert line["front"] == len(front)
    assert f"front of {len(front)}" in cli("studies").output
    one = json.loads(cli("show", "s", "--trial", str(front[0]), "--json").output)
    assert one["values"] == values[0]
    assert f"accuracy {values[0]['accuracy']:.8g}" in cli("show", "s", "--trial", str(front[0])).output
    assert json.loads(cli("best", "s", "--json").output) == configs
    for words in (("why", "s", "3"), ("audit", "s"), ("cite", "s"), ("report", "s"), ("plot", "s", "front")):
        cli(*words)
    assert "<h2>The front</h2>" in (tmp_path / "s.html").read_text()
    rows = list(csv.DictReader(cli("export", "s", "--format", "csv").output.splitlines()))
    assert {int(row["number"]) for row in rows if row["front"] == "true"} == set(front)
    assert [float(rows[number]["metric.accuracy"]) for number in front] == [each["accuracy"] for each in values]


def test_it_is_exported_forked_narrowed_and_begun_with(found: str, cli: Cli, write: Write) -> None:
    write(cli("export", "s").output, "s.jsonl")
    cli("import", "s.jsonl", "--study", "copy")
    cli("fork", "s", "--at", "9", "--study", "other")
    cli("narrow", "s", "x=[0.1, 0.5]")
    said = cli("run", "s.toml", "--study", "warm", "--warm-start", "copy", "--trials", "2").output
    assert ("no trial is complete" in said) == ("trials: 2 paused" in said)
    for name in ("copy", "other", "s", "warm"):
        assert "all alike" in cli("audit", name).output
        told = json.loads(cli("show", name, "--json").output)
        assert told["objectives"] == ["accuracy", "size"]
    assert "one of the best of study copy" in json.loads(cli("show", "warm", "--json").output)["latest"][0]["origin"]


def test_metrics_are_options(cli: Cli, write: Write) -> None:
    write(PROGRAM, "train.py")
    write(FILE.replace("{budget}", "1"), "s.toml")
    options: list[Any] = ["--metric", "size:max", "--metric", "accuracy:max:0.5", "--trials", "2", "--study", "o"]
    assert "maximize size, maximize accuracy (0.5 at least)" in cli("run", "s.toml", *options).output
    for wrong in ("size:max:much", "size"):
        refused = cli("run", "s.toml", "--metric", wrong, "--metric", "accuracy:max", "--study", "r", code=2).output
        assert "must say min or max of every metric" in refused
        assert wrong in refused


KNOWN = """
    import xstar as xs

    space = xs.Space(x=xs.Float(0, 1), units=xs.Int(1, 64, log=True))

    def weights(config):
        return 3.0 * config["units"]

    def objective(trial):
        return {"error": trial["x"] + 1 / trial["units"]}

    settings = {"metric": {"error": "min", "weights": xs.Known(weights, "min", 100)}, "trials": 7, "method": "gp", "seed": 1}
"""


def test_the_functions_of_known_objectives_are_in_the_file(cli: Cli, write: Write) -> None:
    """The journal has their values alone: whoever decides, or decides again, needs the file."""
    file = str(write(KNOWN))
    cli("run", file, "--study", "k", "--trials", "5")
    cli("run", file, "--study", "k", "--trials", "6")
    cli("work", "k", "--trials", "7")
    told = json.loads(cli("show", "k", "--json").output)
    assert told["counts"] == {"complete": 7}
    assert all(each["values"]["weights"] == 3 * each["config"]["units"] <= 100 for each in told["front"]["trials"])
    assert "all alike" in cli("audit", "k", "--file", file).output
    assert "the decision is the same" in cli("why", "k", "6", "--file", file).output
    assert "which no journal keeps" in cli("audit", "k", code=2).output
