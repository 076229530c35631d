"""``xstar simulate``: the table, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from xstar import problems


def test_a_comparison_prints_a_table(cli: Cli) -> None:
    words = ["simulate", "curves-mlp", "--method", "random", "--method", "asha", "--seconds", "60", "--seeds", "2"]
    output = cli(*words, "--workers", "3").output
    assert "curves-mlp: regret (validation error as a fraction), 3 workers, 2 seeds" in output
    for time in ("3.8 s", "7.5 s", "15.0 s", "30.0 s", "1 min 00 s"):
        assert time in output
    rows = [line for line in output.splitlines() if line.startswith(("│ random", "│ asha"))]
    assert len(rows) == 2
    assert all("±" in row for row in rows)
    assert "4 studies of 4 min 00 s together, simulated in" in output


def test_one_seed_has_no_error(cli: Cli) -> None:
    text = cli("simulate", "branin", "--method", "random", "--seeds", "1", "--trials", "5").output
    assert "1 seed" in text
    assert "±" not in text


def test_the_same_call_gives_the_same_numbers(cli: Cli) -> None:
    words = ["simulate", "branin", "--trials", "30", "--method", "sobol", "--seeds", "2"]
    tables = [cli(*words).output.partition("studies of")[0] for _ in range(2)]
    assert tables[0] == tables[1]


def test_the_list_of_problems(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XSTAR_DATA", str(tmp_path))
    output = cli("simulate", "--list").output
    assert all(f"│ {name} " in output for name in problems.names())
    assert "no nasbench201/nb201_table.csv.gz in" in output.replace("\n", " ")
    (row,) = [line for line in output.splitlines() if line.startswith("│ curves-optimizer ")]
    assert "1 … 81" in row
    assert "here" in row


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--list"),
        (["curvs-mlp"], "did you mean curves-mlp"),
        (["nb201-cifar10"], "XSTAR_DATA"),
        (["branin", "--method", "magic"], "must be one of random"),
        (["branin", "--workers", "0"], "workers"),
        (["branin", "--seconds", "-1"], "seconds"),
        (["branin", "--trials", "-1"], "trials"),
    ],
)
def test_bad_input_is_a_message(
    words: list[str], message: str, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XSTAR_DATA", str(tmp_path))
    assert message in cli("simulate", *words, code=2).stderr
    assert list(tmp_path.iterdir()) == []
