"""Which report of a trial counts as its value: the last, or the best."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.trials import ask
from xstar.errors import InvalidArgument, StudyMismatch
from xstar.look.audit import audit
from xstar.schedulers import ASHA

SPACE = xs.Space(x=xs.Ordinal([0.0, 1.0]))
CURVES = {0.0: (3.0, 1.0, 4.0), 1.0: (5.0, 2.5, 3.5)}
"""The first has the lowest report, the second the lower last one."""


def train(trial: Any) -> Iterator[float]:
    for epoch in trial.epochs():
        yield CURVES[trial["x"]][epoch - 1]


def negated(trial: Any) -> Iterator[float]:
    return (-loss for loss in train(trial))


@pytest.mark.parametrize(("which", "x", "value"), [(None, 1.0, 3.5), ("last", 1.0, 3.5), ("best", 0.0, 1.0)])
def test_best_and_value_follow_the_setting(which: str | None, x: float, value: float) -> None:
    result = xs.minimize(train, SPACE, trials=2, method="grid", max_budget=3, trial_value=which)
    assert (result.best["x"], result.value) == (x, value)
    assert result.study.history.best_over_time[-1].value == value
    assert result.best.reports[-1].metrics["value"] == CURVES[x][-1]
    upwards = xs.maximize(negated, SPACE, trials=2, method="grid", max_budget=3, trial_value=which)
    assert (upwards.best["x"], upwards.value) == (x, -value)
    assert audit(result.study).findings == []


def test_before_any_trial_is_complete_it_is_the_lowest_so_far() -> None:
    study = xs.Study(SPACE, method="grid", max_budget=3, trial_value="best")
    trial = ask(study)
    for loss in (3.0, 1.0):
        study.report(trial, loss)
        assert study.best.value == loss
    study.report(trial, 4.0)
    assert study.best.value == 1.0
    assert [step.value for step in study.history.best_over_time] == [3.0, 1.0, 1.0]


def test_a_target_is_met_by_what_counts() -> None:
    for which, count in (("best", 1), ("last", 2)):
        result = xs.minimize(train, SPACE, target=1.5, trials=2, method="grid", max_budget=3, trial_value=which)
        assert len(result.study.trials) == count


def test_decisions_do_not_depend_on_it() -> None:
    def rows(which: str) -> Any:
        study = xs.minimize(train, SPACE, trials=2, scheduler=ASHA(3), method="grid", trial_value=which, seed=1).study
        return [(t.config, t.state, [r.metrics for r in t.reports]) for t in study.trials]

    assert rows("last") == rows("best")


def test_it_is_stored_with_the_study(tmp_path: Path) -> None:
    options: Any = {"study": "s", "storage": tmp_path / "s.db", "max_budget": 3, "method": "grid"}
    xs.minimize(train, SPACE, trials=2, trial_value="best", **options).study.close()
    with xs.Study.open("s", tmp_path / "s.db") as study:
        assert study.best.value == 1.0
    with pytest.raises(StudyMismatch, match="trial_value: 'last' here, 'best' in the stored study"):
        xs.minimize(train, SPACE, trials=2, trial_value="last", **options)
    with pytest.raises(InvalidArgument, match="trial_value: must be one of last, best, but got 'first'"):
        xs.minimize(train, SPACE, trials=2, trial_value="first")
