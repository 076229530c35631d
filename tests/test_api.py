"""The options of a search: one signature, which Python, type checkers, ``help()`` and the parts of a search agree on."""

from __future__ import annotations

import inspect
import math
import pydoc
import re
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.errors import InvalidArgument, ObjectiveError

ROOT = Path(__file__).parents[1]
SPACE = xs.Space(x=xs.Float(0, 1))
BOTH = pytest.mark.parametrize("search", [xs.minimize, xs.maximize])


def objective(trial: Any) -> float:
    return float(trial["x"])


def test_maximize_has_the_signature_of_minimize() -> None:
    assert inspect.signature(xs.maximize) == inspect.signature(xs.minimize)
    assert typing.get_type_hints(xs.maximize) == typing.get_type_hints(xs.minimize)
    kinds = {parameter.kind for parameter in inspect.signature(xs.minimize).parameters.values()}
    assert kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


@BOTH
def test_help_shows_keywords_with_types_and_defaults(search: Any) -> None:
    page = pydoc.plain(pydoc.render_doc(search))
    head = " ".join(page.partition(" -> ")[0].split())  # from Python 3.13 on a long signature has a line per parameter
    assert re.search(rf"{search.__name__}\( ?objective: ", head)
    assert "trials: int | None = None, " in head
    assert "checkpoints: int | None = 5, " in head
    assert "workers: int = 1, " in head
    assert "**" not in head
    for name in inspect.signature(search).parameters:
        assert f"\n    {name}\n        " in page, f"the docstring does not explain {name}"


@BOTH
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trails": 3}, "trails: is no option of xs.{}, but got trails=…; did you mean 'trials'"),
        ({"max_epochs": 3, "max_budgets": 2}, "max_epochs: is no option of xs.{}"),
        ({"colour": 1}, "there are trials, seconds, "),
    ],
)
def test_an_unknown_keyword_is_refused(search: Any, options: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        search(objective, SPACE, **options)
    assert message.format(search.__name__) in str(caught.value)


@BOTH
@pytest.mark.parametrize(
    "wrong",
    [
        *[{"workers": value} for value in (0, 1.5, True, 100_000_000)],
        *[{"trials": value} for value in ("5", -1, 1.5)],
        *[{"seconds": value} for value in ("5", 0)],
        {"patience": 0},
        {"target": math.nan},
        {"trials": None},
        {"checkpoints": -1},
        {"checkpoints": "all"},
        {"storage": 5},
        {"directory": 5},
        {"watch": 5},
        {"progress": 1},
        {"study": "no/name"},
        {"seed": -1},
        {"max_budget": 0},
        {"method": "magic"},
        {"searcher": "gp"},
        {"scheduler": "asha"},
        {"metric": 5},
        {"constraints": 5},
        {"constraints": {"latency": "50"}},
    ],
)
def test_a_wrong_value_is_refused_before_a_study_is_made(
    search: Any, wrong: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument) as caught:
        search(objective, SPACE, **{"trials": 3, "study": "s", **wrong})
    assert [caught.value.argument] == list(wrong)
    assert list(tmp_path.iterdir()) == []


def test_an_argument_that_is_missing_is_told_by_the_name_of_the_function() -> None:
    with pytest.raises(TypeError, match=r"^xs\.maximize\(\) .*'space'"):
        xs.maximize(objective)  # type: ignore[call-arg]


def test_what_is_not_an_objective_or_a_space_makes_no_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ObjectiveError):
        xs.minimize("objective", SPACE, trials=1, study="s")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"space: must be an xs\.Space"):
        xs.minimize(objective, {"x": 1}, study="s")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_an_objective_that_cannot_be_sent_closes_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[xs.Study] = []
    close = xs.Study.close

    def note(study: xs.Study) -> None:
        closed.append(study)
        close(study)

    monkeypatch.setattr(xs.Study, "close", note)
    with (tmp_path / "open.txt").open("w") as file, pytest.raises(ObjectiveError, match="cannot be sent"):
        xs.minimize(lambda trial: file.fileno(), SPACE, trials=1, workers=2)
    assert len(closed) == 1


def test_there_are_at_most_22_keywords_and_each_is_explained() -> None:
    known = inspect.signature(xs.minimize).parameters
    assert len([name for name in known if name not in ("objective", "space")]) <= 22
    assert list(known)[:2] == ["objective", "space"]
    for name in ("trials", "storage", "workers"):
        assert f"\n{name}\n    " in (xs.minimize.__doc__ or "")


def test_options_are_the_limits_and_the_settings_of_a_search() -> None:
    of_study = inspect.signature(xs.Study).parameters
    known = inspect.signature(xs.minimize).parameters
    assert set(of_study) - set(known) == {"direction", "retries"}
    assert set(inspect.signature(xs.Limits).parameters) <= set(known)
    with pytest.raises(InvalidArgument, match=r"name: is no option of xs\.Study.*did you mean 'study'"):
        xs.Study(SPACE, name="s")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("own", "argument"),
    [
        *[({"timeout": value}, "timeout") for value in ("5", 0, -1)],
        *[({"grace": value}, "grace") for value in (-1, math.nan, "soon", None)],
        *[({"workers": value}, "workers") for value in (0, 1.5, True)],
        ({"retries": 0.5}, "retries"),
    ],
)
def test_a_wrong_setting_of_worker_processes_is_refused(own: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        xs.Processes(**own)
    assert caught.value.argument == argument


TYPED = """
import xstar as xs

def objective(trial: object) -> float:
    return 0.0

space = xs.Space(x=xs.Float(0, 1))
best: xs.Trial = xs.maximize(objective, space, trials=5, constraints={"latency": 50.0}, storage="s.db").best
xs.minimize(objective, space, trials="5")
xs.maximize(objective, space, trials="5")
xs.minimize(objective, space, trails=5)
xs.maximize(objective, space, trails=5)
xs.maximize(objective)
"""


@pytest.mark.slow
def test_a_type_checker_sees_the_keywords(tmp_path: Path) -> None:
    path = tmp_path / "typed.py"
    path.write_text(TYPED, encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--no-error-summary",
            "--no-pretty",
            "--hide-error-context",
            str(path),
        ],
        cwd=ROOT,  # its settings, and what it remembers of the package
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line.rpartition("[")[::2] for line in done.stdout.splitlines() if ": error: " in line]
    found = [(int(text.split(":")[1]), code.rstrip("]")) for text, code in errors]
    assert found == [(9, "arg-type"), (10, "arg-type"), (11, "call-arg"), (12, "call-arg"), (13, "call-arg")], done


# ---------------------------------------------------------------- what comes back


def test_a_result_at_hand(tmp_path: Path) -> None:
    def saving(trial: Any) -> float:
        (trial.checkpoint / "model.txt").write_text(str(trial.number))
        return float(trial["x"])

    result = xs.maximize(saving, SPACE, trials=4, seed=1, directory=tmp_path)
    trials = result.study.trials
    assert [trial.number for trial in trials] == [0, 1, 2, 3]
    assert result.config == result.best.config
    assert result.value == result.best.value == max(trial["x"] for trial in trials)
    assert result.checkpoint is not None
    assert (result.checkpoint / "model.txt").read_text() == str(result.best.number)
    assert xs.maximize(saving, SPACE, trials=2, checkpoints=0).checkpoint is None
    assert xs.minimize(objective, SPACE, trials=2).checkpoint is None


def test_a_study_as_a_frame() -> None:
    pytest.importorskip("pandas")
    study = xs.minimize(objective, SPACE, trials=3, seed=1).study
    frame = study.to_frame()
    assert list(frame["value"]) == [trial.value for trial in study.trials]
    assert {"number", "state", "x", "origin"} <= set(frame.columns)


def test_the_state_that_the_best_trial_saved() -> None:
    def saving(trial: Any) -> None:
        for epoch in trial.epochs():
            trial.save({"x": trial["x"], "epoch": epoch})
            trial.report(trial["x"])

    space = xs.Space(x=xs.Float(0, 1))
    result = xs.minimize(saving, space, trials=5, method="random", max_budget=2, seed=1)
    assert result.load() == {"x": result.config["x"], "epoch": 2}
    assert xs.minimize(lambda trial: trial["x"], space, trials=2, method="random", seed=1).load() is None
