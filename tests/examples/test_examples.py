"""The examples run, say what their README says of them, and are as quick as it says."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

# file → (a small argument, what it says then)
SMALL = {
    "quickstart": (12, r"best 1\d\.\d+ .* in trial \d+: \{'x'.*why it ended: all 12 trials are done"),
    "ask_tell": (12, r"best \d\.\d+ with .*13 trials, the first of them added"),
    "resume": (8, r"after 4 trials: .*after 8 trials: .*decisions made again, 0 came out differently.*similar task"),
    "architecture": (12, r"score \d\.\d+ in trial \d+; .*drawn in architecture.svg"),
    "sklearn_pipeline": (6, r"accuracy 0\.\d+ with \{'model': .*tried: "),
    "sklearn_search": (6, r"cross-validated 0\.\d+, test 0\.\d+ with .*samples per candidate: \["),
    "optuna_objective": (8, r"TPE of Optuna in Optuna: \d.*GP of xstar in Optuna: \d.*in xstar: \d+\.\d+ by auto"),
    "lightgbm_rounds": (6, r"log loss 0\.\d+ with .*\n\d+ rounds instead of 540"),
    "hydra_sweep": (8, r"trial 7: value=\d.*; best value=\d.*all 8 trials are done"),
    "constraints": (6, r"error 0\.\d+ with \d+ of 4000 nodes: .* of 6 trials were beyond"),
    "error_and_size": (20, r"error 0\.\d+ with [\d,]+ weights: .*the knee is trial \d+: .*epochs instead of 540"),
    "feature_selection": (40, r"method pbil, loss 0\.\d+\nkept \d+ of 30 real features"),
    "digits": (4, r"error 0\.\d+ with \{'lr'"),
    "torch_digits": (4, r"error 0\.\d+ with .*epochs instead of 36\nits \d+ weights are in "),
    "digits_cnn": (2, r"validation error .*test error .*the mean of three trainings\ndrawn in"),
    "cotrain_digits": (20, r"pbil-epsilon layers [01]{15}, "),
}
WITH_TORCH = ("torch_digits", "digits_cnn", "cotrain_digits")
NEEDS = {"lightgbm_rounds": "lightgbm", "optuna_objective": "optuna", "hydra_sweep": "hydra"}
WAIT = 250  # seconds that none of them takes, whatever else the machine does


def run(name: str, folder: Path, *words: str) -> str:
    needs = "torch" if name in WITH_TORCH else NEEDS.get(name)
    if needs is not None and find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=WAIT,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


@pytest.mark.parametrize("name", SMALL)
def test_a_small_run(name: str, tmp_path: Path) -> None:
    argument, said = SMALL[name]
    output = run(name, tmp_path, str(argument))
    assert re.search(said, output, re.DOTALL), output


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_a_whole_run(name: str, tmp_path: Path) -> None:
    assert run(name, tmp_path)


def test_all_of_them_are_tested_and_listed() -> None:
    there = {path.stem for path in EXAMPLES.glob("*.py")}
    assert there == SMALL.keys()
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert {name for name in there if f"| [{name}.py]({name}.py) |" in readme} == there


@pytest.mark.parametrize("name", SMALL)
def test_each_says_how_to_run_it(name: str) -> None:
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    assert f"python examples/{name}.py [" in text.partition('"""')[2].partition('"""')[0]


def test_the_torch_guide_shows_the_example() -> None:
    guide = (ROOT / "docs" / "training-loops.md").read_text(encoding="utf-8")
    example = (EXAMPLES / "torch_digits.py").read_text(encoding="utf-8")
    train = example[example.index("def train(trial)") : example.index("if __name__")].rstrip()
    assert train in guide
