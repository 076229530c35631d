"""``xstar run experiment.toml``: any program, with errors that name the line; ``xstar init``."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.cli.conftest import Cli, Write
from xstar.cli.experiment import key_lines, load_experiment
from xstar.errors import InvalidArgument

GOOD = """\
[program]
command = "sh train.sh {x}"

[space]
x = {float = [0.0, 1.0]}

[settings]
trials = 3
method = "random"
seed = 1
"""


def one_line(result: Any) -> str:
    return " ".join(result.output.split())


def test_a_search_over_a_script(cli: Cli, write: Write) -> None:
    write("""echo "{\\"loss\\": $1, \\"lines\\": 2}" """, "train.sh")
    path = write(GOOD + 'metric = "loss"\nmaximize = true\n', "experiment.toml")
    shown = cli("run", str(path)).output
    assert "best loss" in shown
    with xs.Study.open("experiment") as study:
        assert study.best.value == pytest.approx(max(trial["x"] for trial in study.trials))
        assert study.direction == "maximize"
        assert (study.files.of(0) / "stdout.txt").read_text().startswith('{"loss": ')
    assert "all 5 trials are done" in cli("run", str(path), "--trials", "5").output


def test_every_kind_of_parameter(write: Write) -> None:
    space = """
    [program]
    command = ["true"]
    [space]
    lr = {float = [1e-4, 0.1], log = true, prior = {mean = 0.01, std = 0.2}}
    layers = {int = [1, 9], step = 2}
    optimizer = ["sgd", "adam"]
    kind = {choice = ["a", "b"], prior = [1, 3], when = {optimizer = ["adam"]}}
    momentum = {float = [0.0, 0.99], when = {optimizer = "sgd"}}
    width = {int = [8, 64], when = {layers = {at_least = 3}}}
    depth = {int = [8, 64], when = {layers = {at_least = 3, at_most = 5}}}
    few = {int = [8, 64], when = {layers = {at_most = 5}}}
    batch = {ordinal = [16, 32, 64]}
    nesterov = {bool = true}
    mask = {bits = 8}
    sizes = {constant = [1, 2]}
    classes = 10
    [space.net]
    mlp = {inputs = 64, outputs = 10, max_layers = 20}
    when = {optimizer = "adam"}
    """
    assert load_experiment(write(space, "e.toml")).space == xs.Space(
        lr=xs.Float(1e-4, 0.1, log=True, prior=xs.Normal(0.01, 0.2)),
        layers=xs.Int(1, 9, step=2),
        optimizer=xs.Choice(["sgd", "adam"]),
        kind=xs.Choice(["a", "b"], prior=[1, 3], when={"optimizer": "adam"}),
        momentum=xs.Float(0, 0.99, when={"optimizer": "sgd"}),
        width=xs.Int(8, 64, when={"layers": xs.at_least(3)}),
        depth=xs.Int(8, 64, when={"layers": xs.between(3, 5)}),
        few=xs.Int(8, 64, when={"layers": xs.at_most(5)}),
        batch=xs.Ordinal([16, 32, 64]),
        nesterov=xs.Bool(),
        mask=xs.Bits(8),
        sizes=xs.Constant([1, 2]),
        classes=10,
        net=xs.nets.MLP(inputs=64, outputs=10, max_layers=20, when={"optimizer": "adam"}),
    )


def test_settings_are_those_of_minimize(write: Write) -> None:
    settings = """
    [program]
    command = "true"
    [space]
    x = [1, 2]
    [settings]
    constraints = {latency = 50.0, accuracy = {at_least = 0.9}}
    checkpoints = "all"
    max_failures = "none"
    searcher = "sobol"
    scheduler = {name = "asha", max_budget = 9, eta = 3}
    """
    found = load_experiment(write(settings, "e.toml")).settings
    assert found["constraints"] == {"latency": 50.0, "accuracy": xs.at_least(0.9)}
    assert (found["checkpoints"], found["max_failures"]) == (None, None)
    assert type(found["searcher"]).__name__ == "Sobol"
    assert (type(found["scheduler"]).__name__, found["scheduler"].eta) == ("ASHA", 3)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("[program]", "[programm]", 1, "did you mean 'program'"),
        ("command =", "comand =", 2, "did you mean 'command'"),
        ("{x}", "{y}", 2, "placeholder"),
        ('"sh train.sh {x}"', '"no-such-program-at-all {x}"', 2, "can be run"),
        ('"sh train.sh {x}"', '"./train.sh {x}"', 2, "executable"),
        ('"sh train.sh {x}"', "7", 2, "list of strings"),
        ('"sh train.sh {x}"', '"sh \'train.sh"', 2, "as a shell has them"),
        ('{x}"', '{x}"\nstop_grace = -1', 3, "stop_grace: must be a number of seconds"),
        ('{x}"', '{x}"\ngrace = 5', 3, "did you mean 'stop_grace'"),
        ('{x}"', '{x}"\ntrials = 3', 3, "it goes into [settings]"),
        ('{x}"', '{x}"\ndirectory = "nowhere"', 3, "must be a folder"),
        ('{x}"', '{x}"\nenv = {A = "{z}"}', 3, "placeholder"),
        ("float = [0.0, 1.0]", "float = [1.0, 0.0]", 5, "Float"),
        ("float = [0.0, 1.0]", "float = 3", 5, "must be [low, high]"),
        ("float = [0.0, 1.0]", "flaot = [0.0, 1.0]", 5, "did you mean 'float'"),
        ("float = [0.0, 1.0]", "float = [0.0, 1.0], lg = true", 5, "did you mean 'log'"),
        ("float = [0.0, 1.0]", 'float = [0.0, 1.0], when = {y = "a"}', 5, "y"),
        ("float = [0.0, 1.0]", "mlp = {inputs = 3, outptus = 2}", 5, "outptus"),
        ("float = [0.0, 1.0]", "mlp = {outputs = 2}", 5, "inputs"),
        ("x = {float", '"a b" = [1, 2]\nx = {float', 5, "identifier"),
        ("trials = 3", "trails = 3", 8, "did you mean 'trials'"),
        ("trials = 3", "trials = -3", 8, "settings.trials"),
        ("trials = 3", "log_limit = 3", 8, "it goes into [program]"),
        ("trials = 3", 'trials = 3\nmax_failures = "some"', 9, "whole number"),
        ("trials = 3", 'trials = 3\nsearcher = "gpp"', 9, "must be one of"),
        ("trials = 3", "trials = 3\nconstraints = {a = {least = 3}}", 9, "at_least"),
        ('"random"', '"rondam"', 9, "random"),
        ("seed = 1", "seed = ", 10, "must be TOML"),
    ],
)
def test_errors_name_the_line(cli: Cli, write: Write, old: str, new: str, line: int, words: str) -> None:
    assert old in GOOD
    write("true", "train.sh")
    path = write(GOOD.replace(old, new, 1), "experiment.toml")
    message = one_line(cli("run", str(path), code=2))
    assert words in message
    assert "experiment.toml" in message
    assert re.search(rf"\bline {line}\b", message), message
    assert not Path("xstar.db").exists()


@pytest.mark.parametrize(("levels", "words"), [(100, "nested 50 deep"), (500, "hundreds of levels")])
def test_values_in_very_many_levels_are_refused(cli: Cli, write: Write, levels: int, words: str) -> None:
    value = "[" * levels + "1" + "]" * levels
    path = write(GOOD.replace("x = {float = [0.0, 1.0]}", f"x = [{value}, 2]"), "experiment.toml")
    message = one_line(cli("run", str(path), code=2))
    assert words in message
    assert "experiment.toml" in message


@pytest.mark.parametrize("section", ["program", "space"])
def test_a_section_that_is_missing(cli: Cli, write: Write, section: str) -> None:
    path = write(re.sub(rf"\[{section}\]\n.*\n", "", GOOD), "experiment.toml")
    assert f"must have a section [{section}]" in one_line(cli("run", str(path), code=2))


def test_what_the_command_line_says_is_not_blamed_on_the_file(cli: Cli, write: Write) -> None:
    write("true", "train.sh")
    path = write(GOOD, "experiment.toml")
    assert "line" not in one_line(cli("run", str(path), "--trials", "-3", code=2))


TOML = '''\
# [not.this]
a = 1 # b = 2
"quoted key" = 'x = 1'
c.d = """
e = 3
""" # f
[t.u] # comment = 4
list = [
  1, # g = 5
  {h = [1], i = "]"},
]
j = {k = {l = 1}, m = \'\'\'x\'\'\'}
[[array]]
n = 2024-01-01T00:00:00Z
[[array]]
o = -inf'''


def test_lines_of_keys() -> None:
    lines = {".".join(path): line for path, line in key_lines(TOML).items()}
    assert lines == {
        "a": 2,
        "quoted key": 3,
        "c": 4,
        "c.d": 4,
        "e": 5,  # in a text of several lines; no key, so nobody asks for it
        "t": 7,
        "t.u": 7,
        "t.u.list": 8,
        "t.u.j": 12,
        "array": 13,
        "array.n": 14,
        "array.o": 16,
    }


TRAIN = """\
import os, sys
for epoch in range(1, int(os.environ["XSTAR_BUDGET"]) + 1):
    print('{"error": ' + sys.argv[2] + "}", flush=True)
"""


def test_init_writes_a_search_for_a_program_and_nothing_else(cli: Cli, tmp_path: Path) -> None:
    program = tmp_path / "sub" / "train.py"
    program.parent.mkdir()
    program.write_text(TRAIN)
    yours = program.read_text()
    cli("init", "sub/mine.toml")
    shown = cli("run", "sub/mine.toml", "--trials", "5").output
    assert "best error" in shown
    assert "paused: they wait at a rung (epoch 1, 3)" in shown
    with xs.Study.open("mine") as study:
        assert all(trial.reports for trial in study.trials)
    assert "--force" in one_line(cli("init", "sub/mine.toml", code=2))
    cli("init", "sub/mine.toml", "--force")
    assert program.read_text() == yours
    assert {path.name for path in program.parent.iterdir()} == {"mine.toml", "train.py"}
    assert "must end in .toml" in one_line(cli("init", "mine.py", code=2))


def test_what_init_leaves_commented_is_allowed(tmp_path: Path, cli: Cli) -> None:
    cli("init")
    text = Path("experiment.toml").read_text()
    uncommented = re.sub(r"^# (?=[a-z_]+ = )", "", text, flags=re.MULTILINE)
    Path("experiment.toml").write_text(uncommented)
    program = load_experiment(Path("experiment.toml"))
    assert {"batch", "nesterov", "seed"} <= set(program.space)
    assert {"workers", "timeout", "constraints", "maximize"} <= set(program.settings)


def test_relative_paths_are_those_of_the_file(write: Write, tmp_path: Path) -> None:
    folder = tmp_path / "deep"
    folder.mkdir()
    run = folder / "run.sh"
    run.write_text("#!/bin/sh\n")
    run.chmod(run.stat().st_mode | stat.S_IXUSR)
    (folder / "e.toml").write_text('[program]\ncommand = "./run.sh"\n[space]\nx = [1, 2]\n')
    command = load_experiment(Path("deep/e.toml")).objective
    assert isinstance(command, xs.Command)
    assert os.fspath(command.directory or "") == str(folder)
    (folder / "f.toml").write_bytes(b"\xff")
    with pytest.raises(InvalidArgument, match="text file"):
        load_experiment(folder / "f.toml")
