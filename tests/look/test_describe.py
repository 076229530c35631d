"""One view of a study, one description of it: plain JSON, the same for all that draw from it, at any moment."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.look.plots.studies import edge, unreadable
from tests.trials import ask
from xstar.errors import InvalidArgument
from xstar.journal import MemoryJournal
from xstar.look.describe import describe, trial_row, whole_trial
from xstar.look.view import StudyView, look


def view_of(study: xs.Study) -> StudyView:
    return StudyView(study.name, study.history, study.journal)


def plain_json(made: Any) -> Any:
    return json.loads(json.dumps(made, allow_nan=False))


@pytest.mark.parametrize("name", ["empty", "plain", "two over budgets"])
def test_a_description_is_plain_json_of_the_events_alone(name: str) -> None:
    study = edge(name) if name != "empty" else xs.Study(xs.Space(x=xs.Float(0, 1)), seed=1)
    view = view_of(study)
    made = describe(view, 5, exact=True)
    assert plain_json(made) == made
    folded = StudyView.of(study.name, MemoryJournal(list(study.journal.read(0))))
    assert describe(folded, 5, exact=True) == made
    assert made["trials"] == sum(made["counts"].values())
    assert [row["number"] for row in made["latest"]] == [trial.number for trial in study.history.trials[-5:]]
    assert made["front"]["count"] == (len(study.front) if study.goals.several else 0)


def test_what_cannot_be_written_is_described(tmp_path: Path) -> None:
    unreadable(tmp_path / "x.db")
    with look("s", tmp_path / "x.db") as view:
        plain_json(describe(view, 5))
        for trial in view.history.trials:
            plain_json(whole_trial(view.history, trial))


def test_exact_values_can_be_tried_again_and_others_are_short() -> None:
    words = "w" * 500
    study = xs.Study(xs.Space(x=xs.Choice([words, "b"]), y=xs.Float(0, 1)), seed=1)
    study.enqueue({"x": words, "y": 1 / 3})
    trial = ask(study)
    study.tell(trial, math.pi)
    row, exact = trial_row(study.history, trial), trial_row(study.history, trial, exact=True)
    assert len(row["config"]["x"]) == 120
    assert exact["config"] == {"x": words, "y": 1 / 3}
    assert row["config"]["y"] == 1 / 3
    assert (row["value"], row["number"], row["state"]) == (math.pi, 0, "complete")


def test_a_view_goes_back_and_sees_no_event_that_came_later() -> None:
    study = edge("plain")
    now = view_of(study)
    for event in (1, 7, study.history.seen - 1):
        then = now.at(event)
        assert then.history.seen == len(list(then.read(0))) == event
        assert len(list(then.journal.read(0))) == event
    assert now.at(10**6) is now
    with pytest.raises(InvalidArgument, match="at"):
        now.at(0)


def test_a_study_can_be_read_as_a_search_for_another_metric() -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), metric=["error", "size"], method="random", seed=1)
    for _ in range(3):
        trial = ask(study)
        study.tell(trial, {"error": 1.0, "size": -trial["x"]})
    other = view_of(study).of_metric("size")
    assert other.history.best is not None
    assert other.history.best.number == max(study.trials, key=lambda trial: trial["x"]).number
    with pytest.raises(InvalidArgument, match=r"metric.*error, size.*latency"):
        view_of(study).of_metric("latency")
