"""What an objective may give back."""

from __future__ import annotations

from typing import Any

import pytest

import xstar as xs
from xstar.core.goals import parse_metrics
from xstar.errors import InvalidArgument, InvalidReport, MissingMetric, ObjectiveError
from xstar.look.audit import audit

SPACE = xs.Space(x=xs.Float(0, 1))


@pytest.mark.parametrize(
    ("given", "metric", "metrics"),
    [
        (1, "value", {"value": 1.0}),
        ({"value": 1}, "value", {"value": 1.0}),
        ({"error": 1}, "value", {"value": 1.0, "error": 1.0}),
        ({"error": 1}, "error", {"error": 1.0}),
        ({"value": 2, "error": 1}, "value", {"value": 2.0, "error": 1.0}),
    ],
)
def test_parse(given: Any, metric: str, metrics: dict[str, float]) -> None:
    assert parse_metrics(given, metric) == metrics


@pytest.mark.parametrize(("given", "metric"), [({"error": 1}, "loss"), ({"a": 1, "b": 2}, "value"), ({}, "value")])
def test_what_counts_has_to_be_said(given: Any, metric: str) -> None:
    with pytest.raises(MissingMetric, match=f"must contain the watched metric '{metric}'"):
        parse_metrics(given, metric)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_only_number_of_a_dictionary_counts(workers: int) -> None:
    result = xs.maximize(
        lambda trial: {"accuracy": trial["x"]}, SPACE, trials=4, workers=workers, method="random", seed=1
    )
    trials = result.study.history.trials
    assert result.best.value == max(trial["x"] for trial in trials)
    assert all(trial.metrics == {"value": trial["x"], "accuracy": trial["x"]} for trial in trials)
    assert audit(result.study).findings == []
    with pytest.raises(ObjectiveError, match=r"set metric=… to one of \['accuracy', 'loss'\]"):
        xs.minimize(lambda trial: {"accuracy": 0.5, "loss": 0.5}, SPACE, trials=4)


def test_what_no_page_could_show_is_refused_or_escaped_where_it_comes_in() -> None:
    half = "a \udcff"
    study = xs.Study(SPACE, seed=1, method="random")
    first, second = study.ask(), study.ask()
    assert first is not None
    assert second is not None
    study.fail(first, f"OSError: {half}")
    assert first.reason == "OSError: a \\udcff"
    with pytest.raises(InvalidReport, match="can be written as UTF-8"):
        study.tell(second, {"value": 1.0, half: 2.0})
    deep: Any = 1
    for _ in range(19):
        deep = [deep]
    study.annotate(second, {"deep": deep})
    no_text = "what JSON can say"
    for attrs, rule in (({half: 1}, no_text), ({"a": [half]}, no_text), ({"deep": [deep]}, "20 levels")):
        with pytest.raises(InvalidArgument, match=rule):
            study.annotate(second, attrs)
    assert second.attrs == {"deep": deep}
    for settings in ({"metric": half}, {"constraints": {half: 1.0}}):
        with pytest.raises(InvalidArgument):
            xs.Study(SPACE, **settings)


def test_an_objective_that_raises_or_notes_such_words_is_no_end_of_a_search() -> None:
    def objective(trial: Any) -> float:
        if trial.number == 0:
            raise OSError("a \udcff")
        if trial.number == 1:
            trial.note("file", "a \udcff")
        return 1.0

    found = xs.minimize(objective, SPACE, trials=3, seed=1, method="random").study.trials
    assert [trial.state for trial in found] == [xs.State.FAILED, xs.State.FAILED, xs.State.COMPLETE]
    assert "OSError: a \\udcff" in (found[0].reason or "")
    assert "attrs: must hold what JSON can say" in (found[1].reason or "")
