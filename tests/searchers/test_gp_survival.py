"""Over budgets, a trial says as much about failures as it has outlived."""

from __future__ import annotations

import json
import math
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import xstar as xs
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.schedulers import ASHA
from xstar.searchers import GP, SEARCHERS, Auto
from xstar.searchers.gp.settings import BEFORE_LEVEL, BEFORE_SURVIVAL
from xstar.searchers.model_based.observations import Observations
from xstar.searchers.model_based.outcomes import Failures
from xstar.trial import State, Trial

SQUARE = xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1))
EPOCHS = 27


def loss(trial: Trial, epoch: int) -> float:
    """It would be lowest right of the middle, where it ends after the fifteenth epoch."""
    if trial["x"] > 0.5 and epoch > 15:
        return math.nan
    return float((trial["x"] - 0.6) ** 2 + (trial["y"] - 0.4) ** 2 + 1.0 / epoch)


def searched(study: xs.Study, trials: int) -> xs.Study:
    while len(study.history.trials) < trials:
        trial = study.ask()
        assert trial is not None
        while trial.state is State.RUNNING:
            value = loss(trial, trial.budget + 1)
            if math.isnan(value):
                study.fail(trial, "diverged")
            else:
                study.report(trial, value)
    return study


def small(searcher: GP, seed: int = 3) -> xs.Study:
    return xs.Study(SQUARE, searcher=searcher, scheduler=ASHA(EPOCHS), seed=seed)


def test_what_fails_late_is_left_though_trials_pause_there() -> None:
    """The last 30 of 60 suggestions, of three searches."""
    failing = {}
    for rule in ("outlived", "any"):
        studies = [searched(small(GP(survival=rule, straight_running=0), seed), 60) for seed in range(3)]
        failing[rule] = sum(trial["x"] > 0.5 for study in studies for trial in study.history.trials[30:])
        assert all(audit(study).findings == [] for study in studies)
    assert failing["outlived"] < 0.5 * failing["any"], failing


def test_weights_are_shares_of_failures() -> None:
    study = small(GP())
    history = study.history
    ends = {4: 2, 7: 8, 9: 0, 10: 20}  # the epochs after which four trials fail; others pause, or are complete
    for _ in range(60):
        trial = study.ask()
        assert trial is not None
        while trial.state is State.RUNNING:
            if trial.budget == ends.get(trial.number, -1):
                study.fail(trial, "diverged")
            else:
                study.report(trial, 1.0 / (1.0 + trial.number))
    data = Observations.of(history)
    failures = Failures(history, data, 500, "key", weighs=True)
    alive = [number for number in data.evaluated if number not in data.has_failed]
    budgets = [history.trials[number].budget for number in data.failed]
    found = failures._weights(alive, len(alive) + len(budgets))
    expected = [
        1.0
        if (trial := history.trials[number]).state is State.COMPLETE
        else float(np.mean([budget < trial.budget for budget in budgets]))
        for number in alive
    ]
    assert_allclose(found, np.array([*expected, *(1.0 for _ in budgets)]))
    assert {State.COMPLETE, State.PAUSED} <= {history.trials[number].state for number in alive}
    assert len(set(expected)) > 2


def test_at_full_budget_nothing_changes() -> None:
    """A complete trial has outlived all, however short it was."""

    def ran(rule: str) -> list[dict[str, float]]:
        study = xs.Study(SQUARE, searcher=GP(survival=rule), seed=1)
        for number in range(16):
            trial = study.ask()
            assert trial is not None
            if trial["x"] > 0.6:
                study.report(trial, 1.0)
                study.fail(trial, "diverged")
            else:
                study.tell(trial, trial["x"] - trial["y"] + number % 2)
        return [trial.config for trial in study.history.trials]

    assert ran("outlived") == ran("any")


def test_a_study_from_before_goes_on_as_it_did(tmp_path: Path) -> None:
    place = str(tmp_path / "studies.db")
    with xs.Study(SQUARE, method="mobster", max_budget=EPOCHS, seed=3, name="kept", storage=place):
        pass
    with sqlite3.connect(place) as database:
        ((body,),) = database.execute("SELECT body FROM xstar_events").fetchall()
        created = json.loads(body)
        del created["searcher"]["survival"]  # as it was stored before there was the setting
        database.execute("UPDATE xstar_events SET body = ?", (json.dumps(created),))
    database.close()
    with xs.Study(SQUARE, method="mobster", max_budget=EPOCHS, seed=3, name="kept", storage=place) as study:
        assert study.searcher == GP(**BEFORE_SURVIVAL)
        before = [trial.config for trial in searched(study, 40).history.trials]
        assert audit(study).findings == []
    assert before != [trial.config for trial in searched(small(GP()), 40).history.trials]


def test_the_setting_is_read_as_it_was_stored() -> None:
    today = SEARCHERS.dump(GP())
    assert SEARCHERS.load({**today, **BEFORE_SURVIVAL}) == GP(survival="any")
    assert today in SEARCHERS.read({name: value for name, value in today.items() if name != "survival"})
    assert Auto(defaults=12)._gp == GP(**BEFORE_LEVEL, **BEFORE_SURVIVAL)
    assert Auto()._gp == GP()
    with pytest.raises(InvalidArgument, match="survival"):
        GP(survival="some")
