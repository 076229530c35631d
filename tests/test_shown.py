"""How studies, trials, spaces and results show themselves: in a line, and as HTML that is safe and whole."""

from __future__ import annotations

import re
from typing import Any

import pytest

import xstar as xs
from tests.pages import EVIL, Page
from tests.trials import ask
from xstar import nets


def shown(thing: Any) -> str:
    return Page(thing._repr_html_()).text


def objective(trial: Any) -> Any:
    if trial.number == 2:
        raise ValueError(EVIL)
    return {"error": trial["x"] ** 2 / 3, "time": 1.5}


SPACE = xs.Space(x=xs.Float(0, 1), kind=xs.Choice([EVIL, "b"]))


@pytest.fixture(scope="module")
def result() -> xs.Result:
    return xs.minimize(objective, SPACE, method="random", trials=7, metric="error", seed=1)


def test_a_result_says_what_it_found_and_why_it_ended(result: xs.Result) -> None:
    assert repr(result) == f"Result(best={result.best!r}, trials=7, reason='all 7 trials are done')"
    text = shown(result)
    assert "of 7 trials: all 7 trials are done" in text
    assert f"{result.best.value:.6g}" in text
    assert f"{result.best['x']:.6g}" in text


def test_a_result_without_a_value() -> None:
    def fails(trial: Any) -> float:
        raise ValueError("no")

    nothing = xs.minimize(fails, SPACE, trials=2, seed=1, max_failures=None)
    assert repr(nothing) == "Result(best=None, trials=2, reason='all 2 trials are done')"
    assert "No trial has a value" in shown(nothing)


def test_a_study(result: xs.Result) -> None:
    study, best = result.study, result.best
    assert repr(study) == (
        f"<Study in memory: random, 7 trials (6 complete, 1 failed), best error={best.value:.6g} (trial {best.number})>"
    )
    text = shown(study)
    assert "minimize error" in text
    assert "6 complete, 1 failed" in text
    assert f"{best.value:.6g} (trial {best.number})" in text
    assert text.count("complete") == 1 + 4  # in the counts, and of the last five trials all but the failed one
    empty = xs.Study(SPACE)
    assert repr(empty) == "<Study in memory: auto, 0 trials>"
    assert "no trials yet" in shown(empty)


def test_a_trial(result: xs.Result) -> None:
    failed, complete = result.study.history.trials[2], result.study.history.trials[3]
    assert f"ValueError: {EVIL}" in shown(failed)
    text = shown(complete)
    for words in ("Trial 3", "complete", f"{complete.value:.6g}", "time 1.5", f"{complete['x']:.6g}", "random"):
        assert words in text
    assert "epochs" not in text
    study = xs.Study(SPACE, method="random", max_budget=9)
    trial = ask(study)
    study.report(trial, 0.5)
    assert "1 of 9" in shown(trial)


def test_a_space() -> None:
    text = shown(xs.Space(x=xs.Float(0, 1), net=nets.MLP(inputs=8), kind=xs.Choice([EVIL, 1])))
    assert "infinitely many" in text
    assert EVIL in text
    assert "Float(0.0, 1.0)" in text
    assert "1,200 configurations" in shown(xs.Space(n=xs.Int(1, 600), flag=xs.Bool()))


def test_an_architecture_is_cut_short() -> None:
    study = xs.Study(xs.Space(net=nets.MLP(inputs=8)), seed=1)
    trial = ask(study)
    study.tell(trial, 0.5)
    assert max(map(len, Page(trial._repr_html_()).words)) <= 200
    assert len(shown(study)) < 1000


def test_a_result_with_several_objectives_shows_its_front() -> None:
    space = xs.Space(x=xs.Float(0, 1))
    given: dict[str, Any] = {
        "metric": {"error": "min", "cost": "min"},
        "method": "random",
        "trials": 4,
        "seed": 0,
        "progress": False,
    }
    result = xs.minimize(lambda trial: {"error": trial["x"], "cost": 1 - trial["x"]}, space, **given)
    page = result._repr_html_()
    assert "No trial has a value" not in page
    assert page.count("<tr>") == 1 + len(result.front) == 5
    assert re.findall(r"<th [^>]*>(\w+)</th>", page) == ["trial", "error", "cost", "x"]
