"""The rule ``repeats="once"``, which stored studies have: when trials repeat another, and that one of them goes on."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

import xstar as xs
from tests.schedulers.curves import SPACE, falling, trained
from xstar.inspect.audit import audit
from xstar.schedulers import ASHA
from xstar.schedulers.repetition import Repetition
from xstar.trial import Trial


def seen(study: xs.Study) -> bool:
    return study.history.memo.fold(Repetition, study.history).seen


def full(study: xs.Study) -> list[Trial]:
    return [trial for trial in study.history.trials if trial.budget == 9]


DECOY, GOOD, BAD = falling(0.5, 0.6), falling(0.3, 0.9), falling(0.8)
"""The first learns fast and ends badly, the second does not and does not."""
CURVES = [DECOY, GOOD, BAD, BAD]


def test_of_equal_curves_one_goes_on() -> None:
    once, each = (trained(ASHA(9, min_budget=1, repeats=rule), CURVES, 60) for rule in ("once", "each"))
    assert seen(once)
    assert sorted(trial.known_loss for trial in full(once)) == [GOOD[-1], DECOY[-1]]
    assert len(full(each)) > 2  # copies of the two
    assert audit(once).findings == audit(each).findings == []


def test_where_no_two_curves_are_equal_nothing_changes() -> None:
    curves = [falling(0.1 + 0.001 * number, 1.0 - 0.003 * number) for number in range(80)]
    once, each = (trained(ASHA(27, repeats=rule), [c * 3 for c in curves], 80) for rule in ("once", "each"))
    assert [trial.budget for trial in once.history.trials] == [trial.budget for trial in each.history.trials]
    assert not seen(once)


@pytest.mark.parametrize(
    "curves",
    [
        pytest.param([[0.9] * 9], id="at chance throughout"),
        pytest.param([[0.9, *falling(0.1 + 0.01 * number)[1:]] for number in range(40)], id="at chance at first"),
    ],
)
def test_equal_losses_alone_keep_nobody_from_going_on(curves: list[list[float]]) -> None:
    once, each = (trained(ASHA(9, min_budget=1, repeats=rule), curves, 40) for rule in ("once", "each"))
    assert not seen(once)
    assert len(full(once)) == len(full(each)) > 1


def test_what_has_been_seen_does_not_depend_on_when_one_looks() -> None:
    study = trained(ASHA(9, min_budget=1, repeats="each"), CURVES, 12)
    kept = seen(study)
    study.history.memo.clear()
    assert seen(study) == kept


def test_a_study_of_an_earlier_release_lets_each_go_on(tmp_path: Path) -> None:
    place = tmp_path / "s.db"
    with xs.Study(SPACE, name="s", storage=place, scheduler=ASHA(9, repeats="each"), method="random"):
        pass
    with sqlite3.connect(place) as database:
        ((body,),) = database.execute("SELECT body FROM xstar_events").fetchall()
        created = json.loads(body)
        del created["scheduler"]["repeats"]
        database.execute("UPDATE xstar_events SET body = ?", (json.dumps(created),))
    database.close()
    for call in ({}, {"scheduler": ASHA(9)}, {"scheduler": ASHA(9, repeats="each")}):
        with xs.Study(name="s", storage=place, **call) as study:  # type: ignore[arg-type]
            assert study.scheduler == ASHA(9, repeats="each")
