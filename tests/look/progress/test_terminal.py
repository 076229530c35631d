"""The table: complete and readable, and nothing of it where it does not belong."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterable

import pytest
from rich.console import Console

from tests.look.progress.cases import Clock, make_study
from tests.trials import ask
from xstar.journal import Event
from xstar.look.progress import Tracker
from xstar.look.progress.lines import LogProgress
from xstar.look.progress.terminal import MOST_FAILURES, MOST_ROWS, LiveProgress, make_progress
from xstar.look.progress.tracker import LOOK
from xstar.study import Limits


def terminal(width: int = 100) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, height=40, color_system=None, markup=False)


def drawn(progress: LiveProgress, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None, markup=False)
    console.print(progress.render())
    return console.file.getvalue()  # type: ignore[attr-defined]


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
    for error in (1.0, 0.875, 0.75):
        study.report(trials[0], {"error": error})
    clock.now += 6
    progress(study)
    picture = drawn(progress)
    assert "3 of 20" in picture
    assert "15 running, 3 complete" in picture
    assert "error=0.5  trial 0  x=" in picture
    assert "6.0 s elapsed, 30 trials/min, about 34.0 s left" in picture
    assert "    3     3/9   0.75  █▅▁      6.0 s  x=" in picture
    assert "and 3 more trials" in picture
    study.fail(trials[1], "ValueError: " + "long " * 50)
    clock.now += LOOK
    progress(study)
    narrow = drawn(progress, width=60).splitlines()
    assert max(map(len, narrow)) <= 60
    for label in ("done", "pace", "trials", "best", "failed"):
        assert any(line.startswith(label) for line in narrow), "what is long gives way, not the labels"


def test_the_method_bests_and_failures_stay_above_the_table() -> None:
    clock = Clock()
    study = make_study(clock, method=None)
    console = terminal()
    progress = LiveProgress(Tracker(study, Limits()), console)
    with progress:
        for value in (0.5, 0.75, 0.25):
            study.tell(ask(study), value)
            clock.now += LOOK
            progress(study)
        for number in range(MOST_FAILURES + 5):
            study.fail(ask(study), f"ValueError: number {number}")
            clock.now += LOOK
            progress(study)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert text.count("new best") == 2
    assert "method auto: every trial runs to its end; a Gaussian process chooses" in text.partition("new best")[0]
    assert "trial 0 complete" in text
    assert "trial 1 complete" not in text
    assert text.count("failed: ValueError") == MOST_FAILURES
    assert text.count("only counted") == 1


def test_a_table_looks_ten_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at a stored study is a query: there shall not be one for every report."""
    clock = Clock()
    study = make_study(clock)
    progress = LiveProgress(Tracker(study, Limits()), terminal())
    looks = 0
    read = study.journal.read

    def counted(since: int) -> Iterable[Event]:
        nonlocal looks
        looks += 1
        return read(since)

    with progress:
        for _ in range(30):
            study.tell(ask(study), 1.0)
            clock.now += LOOK / 10
            with monkeypatch.context() as patch:
                patch.setattr(study.journal, "read", counted)
                progress(study)
        assert looks == pytest.approx(3, abs=1)
    assert progress.tracker.ended == 30


def test_a_table_only_where_it_can_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")  # colours in a log are the user's wish, a table in it nobody's
    assert isinstance(make_progress(study, Limits(), Console(file=Screen())), LiveProgress)
    assert isinstance(make_progress(study, Limits(), Console(file=io.StringIO())), LogProgress)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(make_progress(study, Limits(), Console(file=Screen())), LogProgress)


def test_the_table_says_what_it_compares_and_what_went_wrong() -> None:
    study = make_study(metric="error", method="asha", max_budget=9, study=None)
    progress = LiveProgress(Tracker(study, Limits(trials=20)), terminal())
    for value in (0.5, 0.25, 0.75):
        study.report(ask(study), value)
    study.report(ask(study), 0.2, 2)
    study.fail(ask(study), "Traceback\nValueError: no luck")
    progress(study)
    picture = drawn(progress)
    assert "3 at epoch 1, 0 at 3, 0 at 9" in picture
    assert "error=0.2  trial 1, running after 2 epochs" in picture
    assert "trial 3: ValueError: no luck" in picture
    assert "study" not in picture


def test_what_stays_says_why_it_ended() -> None:
    study = make_study()
    console = terminal()
    with LiveProgress(Tracker(study, Limits(trials=1)), console) as progress:
        running = ask(study)
        assert f"x={running['x']:.3g}" in drawn(progress)
        progress.finish("the time limit of 5 s is reached")
    picture = drawn(progress)
    assert "ended" in picture
    assert "the time limit of 5 s is reached" in picture
    assert "configuration" not in picture
    assert "Ctrl-C" not in picture


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_others_write_goes_above_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prints and log lines on the terminal; not what the user sent to a file."""
    screen, file = Screen(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(sys, "stdout", file)
    handler, logger = logging.StreamHandler(screen), logging.getLogger("xstar")
    logger.addHandler(handler)
    try:
        console = Console(file=screen, width=80, height=20)
        with LiveProgress(Tracker(make_study(), Limits()), console):
            assert handler.stream is sys.stderr is not screen
            assert sys.stdout is file
        assert handler.stream is sys.stderr is screen
    finally:
        logger.removeHandler(handler)


def test_the_cursor_comes_back_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    study, console = make_study(), terminal()
    progress = LiveProgress(Tracker(study, Limits()), console)

    def broken(since: int) -> None:
        raise OSError("the database is gone")

    with pytest.raises(OSError, match="is gone"), progress:  # noqa: PT012
        ask(study)
        monkeypatch.setattr(study.journal, "read", broken)
        progress(study)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")
