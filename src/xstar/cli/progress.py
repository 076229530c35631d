"""What a search looks like while it runs: a live table on a terminal, a line per ended trial elsewhere.

Neither costs more as the study grows: a :class:`Tracker` reads the events since its last look, and the table shows what is
running. Rich redraws the table from a thread of its own, so that the clock goes on during a long epoch. That thread only
reads single values and copies (``list(dict.values())`` is one step to the interpreter); what takes several steps, such as
finding the best trial, is done between two steps of the loop and kept.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from xstar.cli.text import STYLES, counts, number, plural, seconds, short_config
from xstar.journal import events as ev
from xstar.loop import trial_log
from xstar.study import Limits, Study
from xstar.trial import State, Trial, last_line

REFRESHES = 4
"""Redraws per second: a table that changes faster cannot be read, and each redraw takes a few milliseconds of a core."""

MOST_ROWS = 12
"""Running trials that the table lists; with a hundred workers it would not fit the screen."""

BAR = 40
"""Columns of the bar: it leaves room for the numbers beside it on the narrowest terminal."""

WINDOW = 50
"""Ended trials that the rate is measured over: it follows a change of pace, and does not jump with every trial."""

MOST_FAILURES = 10
"""Failures printed above the table; after that they are only counted, or they would scroll everything else away."""


class Tracker:
    """What is new since the last look, how fast it goes and how long it may still take."""

    def __init__(self, study: Study, limits: Limits) -> None:
        self.study = study
        self.limits = limits
        self.started = study.stopwatch()
        self.before = len(study.history.trials)
        """Trials of earlier sessions."""
        self.ended = 0
        self.best: Trial | None = study.history.best
        self._starts: dict[int, tuple[int, float]] = {}  # running trials → (attempt, when it began)
        self._cursor = study.history.seen
        self._announced: set[int] = set()
        self._done = self.done()
        self._ends: deque[float] = deque([self.started], maxlen=WINDOW)

    @property
    def elapsed(self) -> float:
        return self.study.stopwatch() - self.started

    def advance(self) -> list[Trial]:
        """The trials that ended, or have to be run again, since the last call."""
        history = self.study.history
        if self._cursor == history.seen:
            return []
        found: list[Trial] = []
        for event in self.study.journal.read(self._cursor):
            if self._cursor == history.seen:
                break  # others appended more; the study has not folded it yet
            self._cursor += 1
            if isinstance(event, ev.Started):
                self._starts[event.trial] = (event.attempt, event.at)
            number = getattr(event, "trial", None)
            if number is None or number in self._announced:
                continue
            trial = history.trials[number]
            if trial.state.over:
                self._announced.add(number)
                self._starts.pop(number, None)
                self.ended += 1
                found.append(trial)
            elif trial.state is State.WAITING and trial not in found:
                found.append(trial)
        self.best = history.best
        # Trials that pause count as well: most of them never run again, and the end is near when all have been tried.
        self._ends.extend([self.study.stopwatch()] * min(WINDOW, self.done() - self._done))
        self._done = max(self._done, self.done())
        return found

    def running_for(self, trial: Trial) -> float | None:
        """Seconds since the present run of the trial began: a resumed or promoted one was asked for long ago."""
        attempt, began = self._starts.get(trial.number, (0, trial.asked_at))
        return self.study.clock() - began if attempt == trial.attempt else None

    def rate(self) -> float | None:
        """Trials per second that ended or paused, lately."""
        if len(self._ends) < 2:
            return None
        # Up to now, not up to the last end: while nothing ends, the rate sinks.
        return (len(self._ends) - 1) / max(self.study.stopwatch() - self._ends[0], 1e-6)

    def done(self) -> int:
        """How many of ``limits.trials`` are behind us."""
        history = self.study.history
        return len(history.trials) - history.added - len(history.running) - len(history.waiting)

    def remaining(self) -> float | None:
        """Seconds until a limit is met, as far as can be foreseen."""
        rate, guesses = self.rate(), []
        if self.limits.trials is not None and rate is not None:
            guesses.append(max(0, self.limits.trials - self.done()) / rate)
        if self.limits.seconds is not None:
            guesses.append(max(0.0, self.limits.seconds - self.elapsed))
        return min(guesses, default=None)

    def line(self, trial: Trial) -> Text:
        """One trial's end in one line."""
        start = Text(f"trial {trial.number} ")
        reason = last_line(trial.reason or "")
        if trial.state is State.WAITING:
            return start.append("will run again", STYLES[trial.state]).append(f": {reason}")
        start.append(trial.state.value, STYLES[trial.state])
        if trial.state in (State.FAILED, State.INFEASIBLE):
            return start.append(f": {reason}")
        start.append(f" {self.study.metric}={number(trial.value)}")
        if self.best is not None:
            start.append(f" (best {number(self.best.value)}, trial {self.best.number})")
        return start.append(f" {seconds(trial.seconds)}")


class Progress(Protocol):
    """A ``watch`` for the loop, and the place where messages go while it runs."""

    tracker: Tracker

    def __call__(self, study: Study) -> None: ...
    def __enter__(self) -> Progress: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class PlainProgress:
    """A line per ended trial."""

    def __init__(self, tracker: Tracker, console: Console) -> None:
        self.tracker = tracker
        self._console = console

    def __call__(self, study: Study) -> None:
        for trial in self.tracker.advance():
            self._console.print(self.tracker.line(trial), soft_wrap=True)

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self(self.tracker.study)


class LiveProgress:
    """A table that is redrawn in place; new bests and failures stay above it."""

    def __init__(self, tracker: Tracker, console: Console) -> None:
        self.tracker = tracker
        self._console = console
        self._failures = 0
        self._shown = tracker.best
        self._live = Live(
            console=console,
            get_renderable=self.render,
            refresh_per_second=REFRESHES,
            transient=True,
            vertical_overflow="crop",
        )

    def __call__(self, study: Study) -> None:
        for trial in self.tracker.advance():
            if trial.state in (State.FAILED, State.INFEASIBLE, State.WAITING):
                self._failures += 1
                if self._failures <= MOST_FAILURES:
                    self._console.print(self.tracker.line(trial), soft_wrap=True)
                if self._failures == MOST_FAILURES:
                    self._console.print("further failures are only counted; `xstar show` lists them")
            elif trial is self.tracker.best and trial is not self._shown:
                self._shown = trial
                self._console.print(self.tracker.line(trial).append("  new best", "bold green"), soft_wrap=True)

    def __enter__(self) -> LiveProgress:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self(self.tracker.study)
        self._live.stop()

    # ------------------------------------------------------------ the picture

    def render(self) -> RenderableType:
        """Everything at a glance, from the study as it stands."""
        study, best = self.tracker.study, self.tracker.best
        facts = Table.grid(padding=(0, 2))
        facts.add_column(style="dim")
        facts.add_column(no_wrap=True, overflow="ellipsis")
        facts.add_row("study", Text(study.name or "", "bold"))
        if (total := self.tracker.limits.trials) is not None:
            done = Table.grid(padding=(0, 2))
            done.add_row(
                ProgressBar(total=total, completed=self.tracker.done(), width=BAR), f"{self.tracker.done()} of {total}"
            )
            facts.add_row("done", done)
        facts.add_row("pace", self._pace())
        facts.add_row("trials", counts(study.history))
        if best is None:
            facts.add_row("best", Text("none yet", "dim"))
        else:
            shown = Text(f"{study.metric}={number(best.value)}", "bold green")
            facts.add_row(
                "best", shown.append(f"  trial {best.number}  {short_config(best.config)}", "not bold default")
            )
        # A short last line: the terminal writes its own ^C there, and on a full one it would shift the table by a line.
        return Group(facts, self._running(), Text("Ctrl-C lets running trials finish", "dim"))

    def _pace(self) -> Text:
        tracker, text = self.tracker, Text(f"{seconds(self.tracker.elapsed)} elapsed")
        if (rate := tracker.rate()) is not None:
            text.append(f", {rate * 60:.3g} trials/min")
        if (left := tracker.remaining()) is not None:
            text.append(f", about {seconds(left)} left")
        return text

    def _running(self) -> Table:
        study = self.tracker.study
        running = list(study.history.running.values())
        table = Table(box=None, padding=(0, 2, 0, 0), expand=True, header_style="dim")
        for name in ("trial", "epochs", study.metric, "elapsed"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("configuration", no_wrap=True, overflow="ellipsis", ratio=1)
        for trial in running[:MOST_ROWS]:
            epochs = f"{trial.budget}/{trial.target}" if trial.target else str(trial.budget)
            table.add_row(
                str(trial.number),
                epochs,
                number(trial.value),
                seconds(self.tracker.running_for(trial)),
                short_config(trial.config),
            )
        if len(running) > MOST_ROWS:
            table.add_row("", "", "", "", f"and {plural(len(running) - MOST_ROWS, 'more trial')}")
        return table


def make_progress(study: Study, limits: Limits, console: Console) -> Progress:
    """The live table where there is a terminal that can draw one, lines everywhere else."""
    tracker = Tracker(study, limits)
    # Asked of the stream itself: rich takes FORCE_COLOR for a terminal, and a log file full of redraws helps nobody.
    if console.file.isatty() and not console.is_dumb_terminal:
        return LiveProgress(tracker, console)
    return PlainProgress(tracker, console)


@contextmanager
def messages_to(console: Console) -> Iterator[None]:
    """Print the library's warnings (Ctrl-C, a lost lease) where they do not tear the table."""

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.name != trial_log.name:  # the progress shows trials in its own way
                console.print(Text(record.getMessage(), "yellow"), soft_wrap=True)

    log, handler = logging.getLogger("xstar"), Handler(logging.WARNING)
    propagate, log.propagate = log.propagate, False
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate = propagate
