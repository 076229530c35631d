"""``xstar run`` in this process: what it loads, what it decides, what it says."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

import pytest

import xstar as xs
from tests.cli.conftest import Cli, Write
from tests.clocks import Time

SEARCH = """
    import xstar as xs

    space = xs.Space(x=xs.Float(-1, 1), kind=xs.Choice(["a", "b"]))
    settings = {"trials": 5, "seed": 1}

    def objective(trial):
        return trial["x"] ** 2
"""


def stored(name: str = "search", storage: str = "xstar.db") -> xs.Study:
    return xs.Study.open(name, storage)


def test_a_file_is_searched(cli: Cli, write: Write) -> None:
    output = cli("run", str(write(SEARCH))).output
    lines = [line for line in output.splitlines() if line.startswith("trial ")]
    assert len(lines) == 5
    for number, line in enumerate(lines):
        assert re.fullmatch(rf"trial {number} complete value=\S+ \(best \S+, trial \d\), \S+ s(, about .+ left)?", line)
    with stored() as study:
        best = study.best
        assert len(study.history.trials) == 5
    assert f"best value {best.value:.8g} (trial {best.number}, minimized)" in output
    assert str(best.config["x"]) in output
    assert "search: all 5 trials are done" in output
    assert "trials: 5 complete" in output
    assert "this run: 5 trials ended in" in output
    assert "see it:       xstar show search\n" in output
    assert "afresh" not in output


def test_again_it_resumes(cli: Cli, write: Write) -> None:
    file = str(write(SEARCH))
    cli("run", file, "--storage", "other.db")
    output = cli("run", file, "--storage", "other.db").output
    assert output.startswith("resuming study 'search': 5 trials so far\n")
    assert "all 5 trials are done" in output
    assert "this run: 0 trials ended" in output
    assert "start afresh: xstar delete search --storage other.db" in output
    output = cli("run", file, "--storage", "other.db", "--trials", "7").output
    assert [line.split()[1] for line in output.splitlines() if line.startswith("trial ")] == ["5", "6"]


def test_the_command_line_wins(cli: Cli, write: Write) -> None:
    settings = '{"study": "mine", "method": "grid", "storage": "file.db", "maximize": True}'
    file = str(write(SEARCH + f"\n    settings |= {settings}"))
    cli("run", file)
    with stored("mine", "file.db") as study:
        assert study.seed == 1
        assert study.direction == "maximize"
        assert study.history.created.searcher["name"] == "grid"
    words = [
        *("--seed", "7", "--study", "yours", "--storage", "line.db", "--method", "sobol", "--trials"),
        *("3", "--minimize"),
    ]
    cli("run", file, *words)
    with stored("yours", "line.db") as study:
        assert study.seed == 7
        assert study.direction == "minimize"
        assert study.history.created.searcher["name"] == "sobol"
        assert len(study.history.trials) == 3


def test_a_searcher_can_only_be_given_in_the_file(cli: Cli, write: Write) -> None:
    file = str(write(SEARCH + "\n    from xstar.searchers import Sobol\n    settings['searcher'] = Sobol()"))
    cli("run", file)
    with stored() as study:
        assert study.history.created.searcher["name"] == "sobol"
    cli("run", file, "--method", "random", "--study", "other")
    with stored("other") as study:
        assert study.history.created.searcher["name"] == "random"


def test_epochs_metric_and_direction(cli: Cli, write: Write) -> None:
    file = write("""
        import xstar as xs
        space = xs.Space(x=xs.Float(0, 1))
        def train(trial):
            for epoch in trial.epochs():
                yield {"error": 1 / epoch, "score": trial["x"] * epoch}
    """)
    words = ["--metric", "score", "--maximize", "--max-budget", "3", "--trials", "4", "--retries", "0"]
    output = cli("run", f"{file}:train", *words).output
    with stored() as study:
        assert study.direction == "maximize"
        assert study.best.budget == 3
        assert study.best.value == max(trial["x"] for trial in study.history.trials) * 3
        assert study.history.created.retries == 0
        assert f"best score {study.best.value:.8g} (trial {study.best.number}, 3 epochs, maximized)" in output


BOUNDED = """
    import xstar as xs

    space = xs.Space(x=xs.Int(1, 8))
    settings = {"metric": "loss", "seed": 1}

    def objective(trial):
        (trial.checkpoint / "model.txt").write_text("x")
        return {"loss": -trial["x"], "latency": 10 * trial["x"], "size": trial["x"]}
"""


@pytest.mark.parametrize(
    ("settings", "words", "constraints", "best"),
    [
        ({}, ["--constraint", "latency=50"], {"latency": 50.0}, -5),
        ({}, ["--constraint", "latency=50", "--constraint", "size=3"], {"latency": 50.0, "size": 3.0}, -3),
        ({}, ["--constraints", "size=3"], {"size": 3.0}, -3),
        ({}, ["--constraint", "latency<=50", "--constraint", "size>=2"], {"latency": 50.0, "size (negated)": -2.0}, -5),
        ({"constraints": {"latency": 50}}, [], {"latency": 50.0}, -5),
        ({"constraints": {"latency": 50}}, ["--constraint", "size=3"], {"size": 3.0}, -3),
    ],
)
def test_constraints(
    settings: str, words: list[str], constraints: dict[str, float], best: float, cli: Cli, write: Write
) -> None:
    cli("run", str(write(BOUNDED + f"\n    settings |= {settings}")), *words)
    with stored() as study:
        assert study.history.created.constraints == constraints
        assert study.best.value == best


@pytest.mark.parametrize(
    ("settings", "words", "kept"),
    [
        ({}, [], 5),
        ({}, ["--checkpoints", "2"], 2),
        ({}, ["--checkpoints", "all"], 8),
        ({"checkpoints": 1}, [], 1),
        ({"checkpoints": None}, [], 8),
        ({"checkpoints": None}, ["--checkpoints", "0"], 0),
        ({"checkpoints": 1}, ["--checkpoints", "all"], 8),
    ],
)
def test_checkpoints(settings: str, words: list[str], kept: int, cli: Cli, write: Write) -> None:
    cli("run", str(write(BOUNDED + f"\n    settings |= {settings}")), *words)
    with stored() as study:
        folders = [study.files.of(number) / "checkpoint" for number in range(8)]
        assert sum(folder.is_dir() for folder in folders) == kept


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--target", "2", "--trials", "9"], "the target 2 is reached"),
        (["--patience", "1", "--seconds", "9000"], "brought no improvement"),
        (["--seconds", "1", "--trials", "1000000"], "the time limit of 1 s is reached"),
    ],
)
def test_why_it_ended(words: list[str], reason: str, cli: Cli, write: Write, frozen: Time) -> None:
    frozen.passed = count(0.0, 0.01).__next__
    assert reason in cli("run", str(write(SEARCH)), *words).output


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("import xstar as xs\nspace = xs.Space(x=1)\ndef loss(t): ...\n", [], "search.py:NAME; it has: loss"),
        ("import xstar as xs\nspace = xs.Space(x=1)\n", [], "it has: no functions"),
        ("train = objective = print\n", [], "has objective and train; say which: search.py:objective"),
        ("def objective(t): ...\n", [], "space in search.py: must be an xs.Space, but got 'nothing of that name'"),
        ("import xstar as xs\nobjective = print\nmine = xs.Space(x=1)\n", [], "pass --space mine"),
        ("objective = print\nspace = {}\n", [], "must be an xs.Space, but got 'dict'"),
        ("import xstar as xs\nobjective = print\nspace = xs.Space(x=xs.Float(0, 1))\n", [], "needs an end"),
        ("objective = print\nsettings = 5\n", [], "must be a dictionary"),
        (SEARCH + "\n    settings['trails'] = 5", [], "['trails']; did you mean 'trials'"),
        (SEARCH + "\n    settings['trials'] = 'five'", [], "trials: must be a whole number"),
        (SEARCH + "\n    settings['workers'] = 'two'", [], "workers: must be a whole number of at least 1"),
        (SEARCH, ["--trials", "-1"], "trials: must be a whole number"),
        (SEARCH, ["--workers", "0"], "workers: must be a whole number of at least 1"),
        (SEARCH, ["--study", "no/name"], "study: a name has"),
        (
            SEARCH,
            ["--constraint", "latency"],
            "--constraint: must be METRIC<=NUMBER or METRIC>=NUMBER, but got text='latency'",
        ),
        (SEARCH, ["--constraint", "latency=nan"], "constraints: the bound of 'latency' must be a finite number"),
        (SEARCH, ["--checkpoints", "most"], "--checkpoints: must be a whole number of at least 0, or all"),
        (SEARCH + "\n    settings['checkpoints'] = 'all'", [], "None keeps all of them"),
        (SEARCH + "\n    settings['constraints'] = ['latency']", [], "constraints: must map names of metrics"),
        (SEARCH + "\n    settings['watch'] = print", [], "['watch']"),
        (SEARCH, ["--method", "magic"], "method: must be one of"),
        (SEARCH, ["--timeout", "0"], "timeout: must be a number of seconds above 0"),
        (SEARCH + "\n    settings['checkpoints'] = -1", [], "checkpoints: must be a whole number of at least 0"),
        (SEARCH, ["--storage", "no/folder/x.db"], "no/folder does not exist"),
    ],
)
def test_mistakes_are_explained_and_make_no_study(
    text: str, words: list[str], message: str, cli: Cli, write: Write, tmp_path: Path
) -> None:
    result = cli("run", str(write(text)), *words, code=2)
    assert message in result.stderr
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.output
    assert not (tmp_path / "xstar.db").exists()


def test_other_functions_and_spaces_can_be_named(cli: Cli, write: Write) -> None:
    file = write(SEARCH + "\n    def loss(trial):\n        return trial['z']\n    other = xs.Space(z=xs.Constant(3))")
    assert "best value 3" in cli("run", f"{file}:loss", "--space", "other").output
    assert "has no function 'lost'; it has: objective, loss" in cli("run", f"{file}:lost", code=2).stderr
    assert "must be a Python file" in cli("run", "nowhere.py:loss", code=2).stderr
    assert "must be a Python file" in cli("run", ".", code=2).stderr
    text = write("", "search.txt")
    assert "its name ends in .py" in cli("run", str(text), code=2).stderr


def test_a_file_that_fails_shows_its_own_lines_only(cli: Cli, write: Write) -> None:
    write("def broken():\n    raise KeyError('gone')\n", "helper.py")
    error = cli("run", str(write("import helper\n\nhelper.broken()\n")), code=2).stderr
    assert error.startswith("error: search.py cannot be loaded:\nTraceback")
    assert "helper.broken()" in error
    assert error.endswith("KeyError: 'gone'\n")
    assert "load.py" not in error
    assert "SyntaxError" in cli("run", str(write("def (:\n", "bad.py")), code=2).stderr
    assert "__main__" in cli("run", str(write("import sys; sys.exit(3)\n", "leaves.py")), code=2).stderr


def test_a_file_may_be_called_like_any_module(cli: Cli, write: Write) -> None:
    for name in ("json.py", "my search-2.py", "xstar.py"):
        assert (
            "all 5 trials are done" in cli("run", str(write(SEARCH.replace("import xstar as xs", IMPORT), name))).output
        )
    assert {info for info in cli("studies").output.split() if info in ("json", "my-search-2", "xstar")} == {
        "json",
        "my-search-2",
        "xstar",
    }


IMPORT = "import sys; xs = sys.modules['xstar']"


def test_failures_are_shown_and_do_not_end_the_search(cli: Cli, write: Write) -> None:
    file = write("""
        import xstar as xs
        space = xs.Space(x=xs.Int(0, 2))
        settings = {"method": "grid"}
        def objective(trial):
            if trial["x"] == 0:
                raise ValueError("no [bold]zeros[/bold]")
            if trial["x"] == 1:
                raise xs.Infeasible("too small")
            return trial["x"]
    """)
    output = cli("run", str(file)).output
    assert "trial 0 failed: ValueError: no [bold]zeros[/bold]\n" in output
    assert "trial 1 infeasible: too small\n" in output
    assert "trial 2 complete value=2 (best 2, trial 2)" in output
    assert "trials: 1 complete, 1 failed, 1 infeasible" in output


def test_a_search_without_a_value_fails(cli: Cli, write: Write) -> None:
    file = write("""
        import xstar as xs
        space = xs.Space(x=xs.Int(0, 2))
        def objective(trial):
            return float("nan")
    """)
    output = cli("run", str(file), "--trials", "2", code=1).output
    assert "no trial has a value\nthe last failure (trial 1): value is nan at budget 1\n" in output
