"""What an objective may give back."""

from __future__ import annotations

from typing import Any

import pytest

import xstar as xs
from xstar.core.metrics import parse_metrics
from xstar.errors import MissingMetric, ObjectiveError
from xstar.inspect.audit import audit

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
