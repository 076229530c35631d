"""Where rungs are, how many trials go on to the full budget, and what studies of earlier releases keep."""

from __future__ import annotations

import itertools
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import xstar as xs
from xstar.errors import InvalidArgument, StudyMismatch
from xstar.inspect.audit import audit
from xstar.schedulers import ASHA, SCHEDULERS, Hyperband, StoppingASHA
from xstar.schedulers.ladder import geometric_rungs, rungs_from_top
from xstar.testing.schedulers import simulated
from xstar.trial import State, Trial

Class = type[ASHA | StoppingASHA]


@pytest.mark.parametrize(
    ("arguments", "rungs"),
    [
        ((1, 243, 3), (1, 3, 9, 27, 81, 243)),
        ((1, 52, 3), (1, 2, 6, 17, 52)),
        ((1, 100, 3), (1, 4, 11, 33, 100)),
        ((27, 100, 3), (27, 100)),
        ((27, 40, 3), (27, 40)),
        ((3, 52, 3), (3, 6, 17, 52)),
        ((1, 23, 2), (1, 3, 6, 12, 23)),  # 23/16 is 1 as well
        ((1, 2, 3), (1, 2)),
        ((5, 5, 2), (5,)),
    ],
)
def test_ladders_from_the_top(arguments: tuple[int, int, int], rungs: tuple[int, ...]) -> None:
    assert rungs_from_top(*arguments) == rungs


@given(st.integers(1, 50), st.integers(0, 9), st.integers(2, 10))
def test_where_the_steps_fit_both_ladders_are_the_same(low: int, steps: int, eta: int) -> None:
    high = low * eta**steps
    assert rungs_from_top(low, high, eta) == geometric_rungs(low, high, eta)


@given(st.integers(1, 300), st.integers(0, 5000), st.integers(2, 6))
def test_from_the_top_only_the_lowest_step_differs_from_eta(low: int, more: int, eta: int) -> None:
    rungs = rungs_from_top(low, low + more, eta)
    assert (rungs[0], rungs[-1]) == (low, low + more)
    assert list(rungs) == sorted(set(rungs))
    for k, budget in enumerate(reversed(rungs[1:])):
        assert abs(budget - rungs[-1] / eta**k) <= 0.5
    if len(rungs) > 2:
        assert low * eta**0.5 - 0.5 <= rungs[1] <= low * eta**1.5 + 0.5


@pytest.mark.parametrize("cls", [ASHA, StoppingASHA])
def test_where_the_rungs_are(cls: Class) -> None:
    assert cls(52).rungs == (2, 6, 17, 52)  # 52/27, rounded
    assert cls(81).rungs == (3, 9, 27, 81)
    assert cls(27).rungs == (1, 3, 9, 27)
    assert cls(5).rungs == (1, 5)
    assert cls(52, min_budget=1).rungs == (1, 2, 6, 17, 52)
    assert cls(52, min_budget=1, ladder="bottom").rungs == (1, 3, 9, 27, 52)
    assert Hyperband(52, min_budget=None).rungs == (2, 6, 18, 52)
    assert cls(52, levels=(1, 10, 52)).rungs == (1, 10, 52)
    assert Hyperband(52).rungs == (1, 3, 9, 27, 52)  # as the literature has it
    with pytest.raises(InvalidArgument, match="ladder"):
        cls(52, ladder="middle")


# ---------------------------------------------------------------- the last rung


@pytest.mark.parametrize("cls", [ASHA, StoppingASHA])
def test_a_short_last_step_keeps_the_ratio_of_the_budgets(cls: Class) -> None:
    short = cls(52, min_budget=1, ladder="bottom", last_rung="ratio")
    assert [short.kept(12, place) for place in range(4)] == [4, 4, 4, 6]
    assert cls(52, min_budget=1, ladder="bottom", last_rung="eta").kept(12, 3) == 4
    assert cls(81).kept(12, 2) == 4  # 27 → 81 is as long as the other steps
    with pytest.raises(InvalidArgument, match="last_rung"):
        cls(52, last_rung="half")


def test_a_long_step_keeps_the_ratio_of_the_budgets_by_promotion() -> None:
    """Each rung takes the same share of the time, however far it is to the next."""
    cells = ASHA(200, levels=(12, 200))
    assert [cells.kept(count, 0) for count in (3, 16, 17, 34)] == [0, 0, 1, 2]
    both = ASHA(300, levels=(1, 10, 300), last_rung="ratio")
    assert [both.kept(60, place) for place in range(2)] == [6, 2]
    assert ASHA(300, levels=(1, 10, 300)).kept(3, 1) == 1  # the best goes on in any case
    assert ASHA(5, levels=(1, 5)).kept(3, 0) == 1  # √27 is 5.2: ladders that are built have such steps
    for former in (ASHA(200, levels=(12, 200), long_steps="eta"), StoppingASHA(200, levels=(12, 200))):
        assert former.kept(12, 0) == 4
    with pytest.raises(InvalidArgument, match="long_steps"):
        ASHA(200, long_steps="half")


@given(st.integers(1, 100), st.integers(1, 5000), st.integers(2, 6), st.sampled_from(["top", "bottom"]))
def test_a_ladder_that_is_built_has_no_long_step(low: int, more: int, eta: int, ladder: str) -> None:
    built = ASHA(low + more, min_budget=low, eta=eta, ladder=ladder, last_rung="eta")
    for place, (lower, upper) in enumerate(itertools.pairwise(built.rungs)):
        if upper <= lower * eta**1.5:  # but for what rounding adds
            assert built.kept(100, place) == 100 // eta


def test_the_best_of_the_last_rung_but_one_goes_on_however_few_there_are() -> None:
    best, ratio = ASHA(27), ASHA(27, last_rung="ratio")
    assert [best.kept(count, 2) for count in (0, 1, 2, 3, 6)] == [0, 1, 1, 1, 2]
    assert [ratio.kept(count, 2) for count in (0, 1, 2, 3, 6)] == [0, 0, 0, 1, 2]
    assert [best.kept(count, 1) for count in (0, 1, 2, 3, 6)] == [0, 0, 0, 1, 2]
    assert [best.kept(count, 2, bracket=2) for count in (0, 1, 2, 3, 6)] == [0, 0, 0, 1, 2]  # they began there
    assert ASHA(3).kept(1, 0) == 0


def test_a_search_has_a_complete_trial_after_fewer_trials() -> None:
    def first_complete(scheduler: ASHA) -> int:
        history = simulated(scheduler, 120, 1).history  # at its lowest rung all are equal
        trial = next(t for t in map(history.trials.__getitem__, history.ended) if t.state is State.COMPLETE)
        assert trial.ended_at is not None
        return sum(each.asked_at < trial.ended_at for each in history.trials)

    soon, best, ratio = (
        first_complete(ASHA(27, last_rung=rule, ties="earliest")) for rule in ("soon", "best", "ratio")
    )
    assert soon == 3 < best <= 15 < ratio


def test_while_none_is_complete_the_best_goes_up_at_once() -> None:
    """Two workers: the best of three is promoted to the end, one at a time, and then ⌊n/η⌋ decides again."""
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), scheduler=ASHA(27, last_rung="soon"), method="random", seed=1)
    losses = iter((0.5, 0.3, 0.4, 0.2, 0.1))

    def trained(trial: Trial | None, loss: float) -> int:
        assert trial is not None
        assert trial.target is not None
        study.report(trial, loss, budget=trial.target)
        return trial.budget

    for loss in itertools.islice(losses, 3):
        assert trained(study.ask(), loss) == 1
    assert [trained(study.ask(), 0.3) for _ in range(2)] == [3, 9]
    first = study.ask()
    assert first is not None
    assert (first.number, first.target) == (1, 27)
    assert trained(study.ask(), next(losses)) == 1
    assert trained(study.ask(), 0.2) == 3  # the fourth is the best of four at the lowest rung
    second = study.ask()  # one is on its way: at the second rung two are too few
    assert second is not None
    assert (second.number, second.target) == (4, 1)
    study.fail(first, "out of memory")
    third = study.ask()  # none is, again
    assert third is not None
    assert (third.number, third.target) == (3, 9)


def test_by_stopping_there_is_nothing_to_hurry() -> None:
    assert StoppingASHA(27).last_rung == "best"
    with pytest.raises(InvalidArgument, match="last_rung"):
        StoppingASHA(27, last_rung="soon")


def test_more_trials_are_completed_where_the_last_step_is_short() -> None:
    completed = [
        simulated(ASHA(5, ladder="bottom", last_rung=rule), 60, 4).history.count(State.COMPLETE)
        for rule in ("eta", "ratio")
    ]
    assert completed[0] < completed[1]


def test_fewer_trials_are_completed_after_a_long_step() -> None:
    ratio, eta = (
        simulated(ASHA(17, levels=(1, 17), last_rung="best", long_steps=rule, ties="earliest"), 68, 4).history.count(
            State.COMPLETE
        )
        for rule in ("ratio", "eta")
    )
    assert ratio <= 68 // 17 < 68 // 3 - 4 <= eta  # up to four still run, or were not yet asked for


# ---------------------------------------------------------------- earlier releases


def stored_as(place: Path, scheduler: ASHA | StoppingASHA, *unknown: str) -> None:
    """A study whose journal was written before there were these settings."""
    with xs.Study(xs.Space(x=xs.Float(0, 1)), name="s", storage=place, scheduler=scheduler, method="random"):
        pass
    with sqlite3.connect(place) as database:
        ((body,),) = database.execute("SELECT body FROM xstar_events").fetchall()
        created = json.loads(body)
        for name in unknown:
            del created["scheduler"][name]
        database.execute("UPDATE xstar_events SET body = ?", (json.dumps(created),))
    database.close()


@pytest.mark.parametrize("cls", [ASHA, StoppingASHA])
@pytest.mark.parametrize(
    ("rule", "unknown"), [("eta", ("last_rung", "ladder")), ("ratio", ("ladder",)), ("eta", ("ladder",))]
)
def test_a_study_of_an_earlier_release_keeps_its_rules(
    cls: Class, rule: str, unknown: tuple[str, ...], tmp_path: Path
) -> None:
    later: dict[str, Any] = {"ties": "earliest", **({"long_steps": "eta"} if cls is ASHA else {})}
    meant = cls(52, min_budget=1, last_rung=rule, ladder="bottom", **later)
    stored_as(tmp_path / "s.db", meant, *unknown, *later)
    calls: list[dict[str, Any]] = [{}, {"scheduler": meant}]
    if rule == "ratio" or "last_rung" in unknown:  # the default of its day
        calls.append({"scheduler": cls(52)})
    for call in calls:
        with xs.Study(name="s", storage=tmp_path / "s.db", **call) as study:
            assert study.scheduler == meant
            for _ in range(12):
                trial = study.ask()
                assert trial is not None
                while trial.state is State.RUNNING:
                    study.report(trial, trial.number % 7 + 1.0 / (trial.budget + 1))
            assert audit(study).findings == []
            assert {t.budget for t in study.history.trials} <= {1, 3, 9, 27, 52}


def test_a_study_of_before_goes_on_without_quick_trials_that_go_first(tmp_path: Path) -> None:
    """Whoever asks for the same method today; and with a third of the trials after a long step."""
    for place, method, levels in (("a.db", {"method": "asha", "max_budget": 27}, None), ("b.db", {}, (1, 3, 27))):
        meant = ASHA(27, levels=levels, last_rung="best", long_steps="eta", ties="earliest")
        stored_as(tmp_path / place, meant, "long_steps", "ties")
        calls: list[dict[str, Any]] = [{}, method, {"scheduler": meant}, {"scheduler": ASHA(27, levels=levels)}]
        for call in calls:
            with xs.Study(name="s", storage=tmp_path / place, **call) as study:
                assert study.scheduler == meant
        with pytest.raises(StudyMismatch, match="last_rung"):
            xs.Study(name="s", storage=tmp_path / place, scheduler=ASHA(27, levels=levels, last_rung="ratio"))


def test_what_was_chosen_then_is_not_what_is_usual_now() -> None:
    for chosen in (ASHA(52, last_rung="eta", min_budget=1), ASHA(52, last_rung="ratio", min_budget=3)):
        stored = SCHEDULERS.dump(chosen)
        del stored["ladder"], stored["long_steps"], stored["ties"]
        first, *others = SCHEDULERS.read(stored)
        assert first == {**stored, "ladder": "bottom", "long_steps": "eta", "ties": "earliest"}
        assert others == [
            {**first, "long_steps": steps, "ties": ties}
            for ties, steps in (("earliest", "ratio"), ("latest", "eta"), ("latest", "ratio"))
        ]


@pytest.mark.parametrize(("method", "cls"), [("asha", ASHA), ("asha-stop", StoppingASHA)])
def test_a_study_of_before_goes_on_with_the_earliest_of_equal_trials(method: str, cls: Class, tmp_path: Path) -> None:
    meant = cls(9, ties="earliest")
    stored_as(tmp_path / "s.db", meant, "ties")
    calls: list[dict[str, Any]] = [{}, {"method": method, "max_budget": 9}, {"scheduler": meant}, {"scheduler": cls(9)}]
    for call in calls:
        with xs.Study(name="s", storage=tmp_path / "s.db", **call) as study:
            assert study.scheduler == meant
            for _ in range(6):
                trial = study.ask()
                assert trial is not None
                while trial.state is State.RUNNING:
                    study.report(trial, 0.9)
            assert audit(study).findings == []
    assert [trial.number for trial in study.history.trials if trial.budget > 1][:2] == [0, 1]
    with pytest.raises(InvalidArgument, match="ties"):
        cls(9, ties="random")
