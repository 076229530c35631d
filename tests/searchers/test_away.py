"""Suggestions keep away from where they proved to be copies of earlier trials."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import xstar as xs
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.journal.copies import Copies
from xstar.schedulers import ASHA
from xstar.searchers import DNGO, GP, Auto, Searcher
from xstar.searchers.base import SEARCHERS
from xstar.searchers.gp.earlier import (
    BEFORE_ALIKE,
    BEFORE_COPIES,
    BEFORE_LEVEL,
    BEFORE_LONGER,
    BEFORE_SPREAD,
    BEFORE_STRAIGHT,
)
from xstar.searchers.model_based.away import LEFT, PENALTY, away, away_from_copies
from xstar.searchers.model_based.observations import Observations
from xstar.trial import State, Trial

SPACE = xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1))
EPOCHS = 9
STEPS = 6


def cell(trial: Trial) -> tuple[int, int]:
    return min(int(trial["x"] * STEPS), STEPS - 1), min(int(trial["y"] * STEPS), STEPS - 1)


def searched(searcher: Searcher, trials: int, steps: bool = True) -> xs.Study:
    """A search whose parameters count in steps only, or as they are."""
    study = xs.Study(SPACE, searcher=searcher, scheduler=ASHA(EPOCHS, min_budget=1), seed=3)
    while len(study.history.trials) < trials:
        trial = study.ask()
        assert trial is not None
        x, y = (place / (STEPS - 1) for place in cell(trial)) if steps else (trial["x"], trial["y"])
        end = (x - 0.73) ** 2 + (y - 0.41) ** 2
        while trial.state is State.RUNNING:
            study.report(trial, end + 1.0 / (trial.budget + 1 + x))
    return study


def most(study: xs.Study) -> int:
    """How many trials have the most frequent curve."""
    return max(Counter(cell(trial) for trial in study.history.trials).values())


def makers(copies: str) -> dict[str, Searcher]:
    return {"gp": GP(copies=copies, straight_running=0), "dngo": DNGO(copies=copies, networks=2)}


@pytest.mark.parametrize("name", ["gp", "dngo"])
def test_no_curve_is_suggested_as_often(name: str) -> None:
    avoiding, ignoring = (searched(makers(rule)[name], 40) for rule in ("avoid", "ignore"))
    assert most(avoiding) <= 0.75 * most(ignoring)
    assert not audit(avoiding).findings


@pytest.mark.usefixtures("short_training")
@pytest.mark.parametrize("name", ["gp", "dngo"])
def test_without_copies_nothing_changes(name: str) -> None:
    avoiding, ignoring = (searched(makers(rule)[name], 12, steps=False) for rule in ("avoid", "ignore"))
    assert [trial.config for trial in avoiding.history.trials] == [trial.config for trial in ignoring.history.trials]


@pytest.mark.parametrize("room", [1 << 22, 130, 1])
def test_the_nearest_trial_decides(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few distances are computed at once."""
    monkeypatch.setattr("xstar.searchers.model_based.away.ROOM", room)
    rng = np.random.default_rng(1)
    X, values, rows = rng.random((20, 3)), rng.random(20), rng.random((50, 3))
    plain = [values[np.argmin([((x - row) ** 2).sum() for x in X])] for row in rows]
    found, back = away(X, values)(rows)
    np.testing.assert_array_equal(found, plain)
    assert back is not None
    np.testing.assert_array_equal(back(np.ones(50)), np.zeros((50, 3)))


def test_around_shared_curves_it_is_lower() -> None:
    study = searched(GP(straight_running=0), 24)  # curves are compared within a bracket
    history, data = study.history, Observations.of(study.history)
    begun = [trial for trial in history.trials if trial.reports]
    count = Counter(cell(trial) for trial in begun)
    number, alike = history.memo.fold(Copies, history).alike()
    assert dict(zip(number, alike, strict=True)) == {trial.number: count[cell(trial)] for trial in begun}
    assert max(count.values()) > 1
    (term,) = away_from_copies(history, data)
    found, _ = term(data.rows(begun))
    counts = [count[cell(trial)] for trial in begun]
    np.testing.assert_allclose(found, [np.log(2.0 / (1 + each)) if each < LEFT else -PENALTY for each in counts])


@pytest.mark.parametrize("today", [GP(), DNGO()], ids=["gp", "dngo"])
def test_a_study_from_before_suggests_copies_as_it_did(today: GP | DNGO) -> None:
    data = {name: value for name, value in SEARCHERS.dump(today).items() if name != "copies"}
    first, *others = (SEARCHERS.load(each) for each in SEARCHERS.read(data))
    assert isinstance(first, (GP, DNGO))
    assert first.copies == "ignore"
    assert today in others  # to ask for today's is no other method
    assert SEARCHERS.load(SEARCHERS.dump(today)) == today


def test_auto_suggests_copies_as_it_did() -> None:
    before = {
        **BEFORE_LEVEL,
        **BEFORE_ALIKE,
        **BEFORE_COPIES,
        **BEFORE_LONGER,
        **BEFORE_SPREAD,
        **BEFORE_STRAIGHT,
    }
    assert Auto(defaults=8)._gp == GP(**before)
    assert Auto()._gp == GP()


@pytest.mark.parametrize("make", [GP, DNGO], ids=["gp", "dngo"])
def test_an_unknown_rule_is_refused(make: type[GP | DNGO]) -> None:
    with pytest.raises(InvalidArgument, match="copies"):
        make(copies="both")
