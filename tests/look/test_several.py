"""What is said about a study with several objectives: nothing of one loss, and nothing that fails."""

from __future__ import annotations

import pytest

import xstar as xs
from tests.look.plots.studies import edge, several
from xstar.look.describe import describe
from xstar.look.findings import sentences
from xstar.look.report import report
from xstar.look.view import StudyView
from xstar.look.why import why

MANY = ("no front", "one in the front", "two objectives", "two over budgets", "three objectives")


@pytest.mark.parametrize("name", MANY)
def test_a_report_is_of_the_front(name: str) -> None:
    study = edge(name)
    page = report(study)
    front = "<h2>The front</h2>" in page
    assert front == bool(study.front)
    assert "Best:" not in page
    if front:
        assert 'id="plot-front"' in page
        assert 'id="plot-history"' in page
        assert 'id="plot-slice"' not in page
        last = study.front[-1]
        assert all(f">{value:.6g}<" in page for value in last.values.values())


def test_the_report_says_how_to_do_it_again() -> None:
    study = several(3, "error", "score")
    assert "metric={&#x27;error&#x27;: &#x27;minimize&#x27;, &#x27;score&#x27;: &#x27;maximize&#x27;}" in report(study)
    assert "xs.minimize(" in report(study)


def test_the_sentences_name_the_ends_of_the_front() -> None:
    study = edge("two objectives")
    view = StudyView(study.name, study.history, study.journal)
    said = sentences(view, describe(view))
    assert set(said) == {"What was searched", "What was found", "What failed"}
    best = min(study.front, key=lambda trial: trial.values["error"])
    assert f"error {best.values['error']:.6g} in trial {best.number}" in said["What was found"]
    most = max(study.front, key=lambda trial: trial.values["score"])
    assert f"score {most.values['score']:.6g} in trial {most.number}" in said["What was found"]
    assert "minimize error, maximize score" in said["What was searched"]


@pytest.mark.parametrize("method", ["gp", "tpe", "random"])
def test_a_decision_is_explained(method: str) -> None:
    study = several(14, "error", "score", method=method)
    found = why(study.journal, 13)
    assert found.recomputed == "Made again from those events, the decision is the same."
    assert "in the front" in found.known
    assert all(each.mean is None for each in found.candidates), "no single number was expected"
    assert (method == "gp") == bool(found.acquisition)


def test_a_rung_is_said_by_all_objectives() -> None:
    study = edge("two over budgets")
    said = [turn for trial in study.trials for turn in why(study.journal, trial.number).later]
    paused = next(turn for turn in said if turn.what.startswith("paused: loss "))
    assert "size " in paused.what
    assert "was number" in paused.why
    assert any(turn.what.startswith("promoted") for turn in said)


def test_the_median_of_every_objective_is_said() -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), method="median", max_budget=4, seed=1, metric=["loss", "size"])
    for number in range(5):
        trial = study.ask()
        assert trial is not None
        for epoch in trial.epochs():
            if study.report(trial, {"loss": number + 1 / epoch, "size": float(number)}) is not xs.Verdict.CONTINUE:
                break
    (stopped, *_) = [trial for trial in study.trials if trial.state is xs.State.STOPPED]
    (turn,) = [turn for turn in why(study.journal, stopped.number).later if turn.what.startswith("stopped")]
    assert "complete trials up to that epoch was loss " in turn.why
    assert ", size 1" in turn.why
