"""The progress: complete, cheap, and readable."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

import xstar as xs
from xstar.cli.progress import MOST_FAILURES, MOST_ROWS, LiveProgress, PlainProgress, Tracker, make_progress
from xstar.cli.text import seconds
from xstar.journal import Event
from xstar.study import Limits
from xstar.trial import Verdict


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def make_study(clock: Clock | None = None, **options: object) -> xs.Study:
    options.setdefault("method", "random")
    return xs.Study(xs.Space(x=xs.Float(0, 1)), seed=1, clock=clock or Clock(), **options)  # type: ignore[arg-type]


def ask(study: xs.Study) -> xs.Trial:
    trial = study.ask()
    assert trial is not None
    return trial


def terminal(width: int = 100) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, height=40, color_system=None, markup=False)


def drawn(progress: LiveProgress, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None, markup=False)
    console.print(progress.render())
    return console.file.getvalue()  # type: ignore[attr-defined]


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
            from xstar.trial import New, Promote

            paused = study.history.paused
            return Promote(next(iter(paused)), 2) if paused else New(1)

        def judge(self, history: object, report: object) -> Verdict:
            return Verdict.PAUSE

    study = make_study(scheduler=Pausing())
    tracker = Tracker(study, Limits())
    trial = ask(study)
    study.report(trial, 0.5)
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
    with make_study(clock, name="shared", storage=tmp_path / "x.db") as study:
        tracker = Tracker(study, Limits())
        mine = ask(study)
        study.tell(mine, 1.0)
        with xs.Study.open("shared", tmp_path / "x.db", clock=clock) as other:
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


def test_lines_for_a_log() -> None:
    clock, file = Clock(), io.StringIO()
    study = make_study(clock, metric="error")
    progress = PlainProgress(Tracker(study, Limits()), Console(file=file, width=40, markup=False))
    with progress:
        for value in (0.5, 0.031, 0.1):
            trial = ask(study)
            clock.now += 3.2
            study.tell(trial, value)
            progress(study)
        study.fail(ask(study), "Traceback\n…\nValueError: " + "long " * 20)
    assert file.getvalue().splitlines() == [
        "trial 0 complete error=0.5 (best 0.5, trial 0) 3.2 s",
        "trial 1 complete error=0.031 (best 0.031, trial 1) 3.2 s",
        "trial 2 complete error=0.1 (best 0.031, trial 1) 3.2 s",
        "trial 3 failed: ValueError: " + ("long " * 20).strip(),
    ]


def test_the_table() -> None:
    clock = Clock()
    study = make_study(clock, metric="error", max_budget=9)
    progress = LiveProgress(Tracker(study, Limits(trials=20)), terminal())
    assert "none yet" in drawn(progress)
    assert "0 of 20" in drawn(progress)
    for _ in range(3):
        trial = ask(study)
        for _ in range(9):
            study.report(trial, {"error": 0.5 + trial.number})
    trials = [ask(study) for _ in range(MOST_ROWS + 3)]
    study.report(trials[0], {"error": 0.75})
    clock.now += 6
    progress(study)
    picture = drawn(progress)
    assert "3 of 20" in picture
    assert "15 running, 3 complete" in picture
    assert "error=0.5  trial 0  x=" in picture
    assert "6.0 s elapsed, 30 trials/min, about 34.0 s left" in picture
    assert "    3     1/9   0.75    6.0 s  x=" in picture
    assert "and 3 more trials" in picture
    assert max(map(len, drawn(progress, width=60).splitlines())) <= 60


def test_bests_and_failures_stay_above_the_table() -> None:
    study = make_study()
    console = terminal()
    progress = LiveProgress(Tracker(study, Limits()), console)
    with progress:
        for value in (0.5, 0.75, 0.25):
            study.tell(ask(study), value)
            progress(study)
        for number in range(MOST_FAILURES + 5):
            study.fail(ask(study), f"ValueError: number {number}")
            progress(study)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert text.count("new best") == 2
    assert "trial 0 complete" in text
    assert "trial 1 complete" not in text
    assert text.count("ValueError") == MOST_FAILURES
    assert text.count("only counted") == 1


def test_a_table_only_where_it_can_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    study = make_study()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")  # colours in a log are the user's wish, a table in it nobody's
    assert isinstance(make_progress(study, Limits(), Console(file=Screen())), LiveProgress)
    assert isinstance(make_progress(study, Limits(), Console(file=io.StringIO())), PlainProgress)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(make_progress(study, Limits(), Console(file=Screen())), PlainProgress)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.123, "0.12 s"),
        (12.34, "12.3 s"),
        (59.99, "60.0 s"),
        (65.2, "1 min 05 s"),
        (3599.7, "1 h 00 min"),
        (11_520, "3 h 12 min"),
    ],
)
def test_durations(value: float | None, text: str) -> None:
    assert seconds(value) == text
