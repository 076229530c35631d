"""A look at a study: complete, cheap, and right about the time left."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.clocks import study_at
from tests.look.progress.cases import Clock, make_study
from tests.trials import ask
from xstar.journal import Event
from xstar.journal.trial import Verdict
from xstar.look.progress import Tracker
from xstar.study import Limits


def test_each_end_is_seen_once() -> None:
    study = make_study(retries=1)
    study.tell(ask(study), 1.0)  # an earlier session's
    tracker = Tracker(study, Limits())
    assert tracker.advance() == []
    first, second, third = ask(study), ask(study), ask(study)
    study.report(first, 0.5)
    assert tracker.advance() == []
    study.tell(first, 0.25)
    study.fail(second, "boom")
    study.fail(third, "lost a worker", "killed")
    assert tracker.advance() == [first, second, third]
    assert tracker.advance() == []
    again = ask(study)
    assert again is third
    study.tell(third, 0.125)
    assert tracker.advance() == [third]
    assert tracker.best is third
    assert tracker.ended == 3


def test_a_trial_promoted_and_ended_between_two_looks_is_seen() -> None:
    class Pausing:
        rungs = (1,)
        max_budget = 2

        def next(self, history: object) -> object:
            from xstar.journal.trial import New, Promote

            paused = study.history.paused
            return Promote(next(iter(paused)), 2) if paused else New(1)

        def judge(self, history: object, report: object) -> Verdict:
            return Verdict.PAUSE

    study = make_study(scheduler=Pausing())
    tracker = Tracker(study, Limits())
    trial = ask(study)
    study.report(trial, 0.5)
    assert tracker.advance() == [trial], "it pauses"
    study.annotate(trial, {"looked": "at"})
    assert tracker.advance() == []
    assert ask(study) is trial
    study.report(trial, 0.25)
    assert tracker.advance() == [trial]


def test_a_look_costs_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study()
    tracker = Tracker(study, Limits())
    costs = []
    read = study.journal.read

    def counted(since: int) -> Sequence[Event]:
        found = list(read(since))
        costs.append(len(found))
        return found

    for _ in range(50):
        study.tell(ask(study), 1.0)
        with monkeypatch.context() as patch:
            patch.setattr(study.journal, "read", counted)
            tracker.advance()
            tracker.advance()
    assert costs == [2] * 50


def test_events_of_others_wait_until_the_study_has_folded_them(tmp_path: Path) -> None:
    clock = Clock()
    with make_study(clock, study="shared", storage=tmp_path / "x.db") as study:
        tracker = Tracker(study, Limits())
        mine = ask(study)
        study.tell(mine, 1.0)
        with study_at(clock, study="shared", storage=tmp_path / "x.db") as other:
            other.tell(ask(other), 1.0)
            assert tracker.advance() == [mine]
            study.refresh()
            assert [trial.number for trial in tracker.advance()] == [1]


def test_rate_and_time_left() -> None:
    clock = Clock()
    study = make_study(clock)
    tracker = Tracker(study, Limits(trials=10))
    assert tracker.rate() is None
    assert tracker.remaining() is None
    for _ in range(4):
        trial = ask(study)
        clock.now += 2
        study.tell(trial, 1.0)
        tracker.advance()
    assert tracker.rate() == pytest.approx(0.5)
    assert tracker.remaining() == pytest.approx(12)
    clock.now += 8  # nothing ended since: slower, and longer to go
    assert tracker.rate() == pytest.approx(0.25)
    for limits, left in ((Limits(trials=10, seconds=20), 4), (Limits(seconds=5), 0)):
        tracker.limits = limits
        assert tracker.remaining() == pytest.approx(left)


def test_time_since_this_run_began_not_since_the_first() -> None:
    clock = Clock()
    study = make_study(clock)
    trial = ask(study)
    study.fail(trial, "lost a worker", "killed")
    clock.now += 3600
    tracker = Tracker(study, Limits())
    assert ask(study) is trial
    assert tracker.running_for(trial) is None  # not looked yet
    tracker.advance()
    clock.now += 5
    assert tracker.running_for(trial) == pytest.approx(5)
