"""Progress on a terminal, a live table.

Rich redraws the table from a thread of its own, so that the clock goes on during a long epoch.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import IO, Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from xstar.core.words import harmless, plural
from xstar.journal import History
from xstar.journal.trial import State, Trial
from xstar.look.progress.choice import Progress
from xstar.look.progress.lines import LogProgress
from xstar.look.progress.picture import Picture, choice_of, in_a_line, take
from xstar.look.progress.tracker import BROKEN, Tracker
from xstar.study import Limits, Study

REFRESHES = 4
"""Redraws per second: a table that changes faster cannot be read, and each redraw takes a few milliseconds of a core."""

BAR = 40
"""Columns of the bar: it leaves room for the numbers beside it on the narrowest terminal."""

MOST_FAILURES = 10
"""Failures printed above the table; after that they are only counted, or they would scroll everything else away."""

PIPED_WIDTH = 160
"""Columns when the output goes to a file or a pipe, which have no width: wide enough that tables need not be squeezed."""

STYLES = {
    State.RUNNING: "cyan",
    State.PAUSED: "blue",
    State.WAITING: "yellow",
    State.COMPLETE: "green",
    State.STOPPED: "magenta",
    State.FAILED: "red",
    State.INFEASIBLE: "yellow",
}


class _HarmlessConsole(Console):
    """Shows a study's words without obeying them: a storage may come from anywhere, and so may what is written in it."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=harmless(segment.text))


def console_on(stream: IO[str]) -> Console:
    """A console that prints what it is given: a study's words may contain ``[brackets]`` or ``:colons:`` of their own."""
    return _HarmlessConsole(
        file=stream, markup=False, emoji=False, highlight=False, width=None if stream.isatty() else PIPED_WIDTH
    )


def counts(found: list[tuple[State, int]]) -> Text:
    """How many trials are in each state, each in its colour."""
    parts = [Text(f"{count} {state.value}", STYLES[state]) for state, count in found]
    return Text(", ").join(parts) if parts else Text("no trials yet")


def counts_of(history: History) -> Text:
    """How many trials are in each state that has any, in the states' own order."""
    return counts([(state, history.count(state)) for state in State if history.count(state)])


class LiveProgress:
    """A table that is redrawn in place; new bests and failures stay above it."""

    def __init__(self, tracker: Tracker, console: Console, *, transient: bool = False) -> None:
        self.tracker = tracker
        self._console = console
        self._failures = 0
        self._shown = tracker.best
        self._ending: str | None = None
        self._over = False
        self._redirected = ExitStack()
        self._live = Live(
            console=console,
            get_renderable=self.render,
            refresh_per_second=REFRESHES,
            transient=transient,
            vertical_overflow="crop",
            # What the objective prints goes above the table, unless the user sent it elsewhere.
            redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
            redirect_stderr=sys.stderr is not None and sys.stderr.isatty(),
        )

    def __call__(self, study: Study) -> None:
        if self.tracker.due():
            self._look()

    def _look(self) -> None:
        for trial in self.tracker.advance():
            if trial.state in (*BROKEN, State.WAITING):
                self._failures += 1
                if self._failures <= MOST_FAILURES:
                    self._print(trial)
                if self._failures == MOST_FAILURES:
                    self._console.print("further failures are only counted")
            elif trial.state.over and trial is self.tracker.best and trial is not self._shown:
                self._shown = trial
                self._print(trial, "  new best")

    def _print(self, trial: Trial, more: str = "") -> None:
        start, state, rest = in_a_line(self.tracker, trial).partition(trial.state.value)
        text = Text(start).append(state, STYLES[trial.state]).append(rest).append(more, "bold green")
        self._console.print(text, soft_wrap=True)

    def message(self, text: str) -> None:
        """Print something above the table."""
        self._console.print(Text(text, "yellow"), soft_wrap=True)

    def finish(self, reason: str) -> None:
        """Say why the search ended."""
        self._ending = reason

    def __enter__(self) -> LiveProgress:
        if choice := choice_of(self.tracker.study.history):
            self._console.print(choice, soft_wrap=True)
        before = sys.stdout, sys.stderr
        self._live.start()
        self._redirected.enter_context(_logs_follow(before, (sys.stdout, sys.stderr)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._look()
        finally:
            self._over = True
            self._redirected.close()
            self._live.stop()  # the cursor is shown again, whatever happened

    def render(self) -> RenderableType:
        """Everything at a glance, from the study as it stands."""
        picture = take(self.tracker, self._ending)
        if self._over:
            return facts_of(picture)
        # A short last line: the terminal writes its own ^C there, and on a full one it would shift the table by a line.
        return Group(
            facts_of(picture), running_of(picture), Text("Ctrl-C ends running trials at their next report", "dim")
        )


def facts_of(picture: Picture) -> Table:
    """The study at a glance."""
    facts = Table.grid(padding=(0, 2), expand=True)
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(no_wrap=True, overflow="ellipsis", ratio=1)  # a long configuration gives way, not the labels
    if picture.study is not None:
        facts.add_row("study", Text(picture.study, "bold"))
    if picture.total is not None:
        done = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=picture.total, completed=picture.done, width=BAR)
        done.add_row(bar, f"{picture.done} of {picture.total}")
        facts.add_row("done", done)
    facts.add_row("pace", picture.pace)
    facts.add_row("trials", counts(picture.counts))
    if picture.rungs:
        facts.add_row("rungs", picture.rungs)
    if picture.best:
        facts.add_row("best", Text(picture.best, "bold green").append(f"  {picture.best_trial}", "not bold default"))
    else:
        facts.add_row("best", Text("none yet", "dim"))
    if picture.failure:
        facts.add_row("failed", Text(picture.failure, "red"))
    if picture.ending is not None:
        facts.add_row("ended", picture.ending)
    return facts


def running_of(picture: Picture) -> Table:
    """The trials that run."""
    table = Table(box=None, padding=(0, 2, 0, 0), expand=True, header_style="dim")
    for name in ("trial", "epochs", picture.metric):
        table.add_column(name, justify="right", no_wrap=True)
    if picture.has_curves:
        table.add_column("curve", no_wrap=True, style="cyan")
    table.add_column("elapsed", justify="right", no_wrap=True)
    table.add_column("configuration", no_wrap=True, overflow="ellipsis", ratio=1)
    for row in picture.running:
        curve = (row.curve,) if picture.has_curves else ()
        table.add_row(row.number, row.epochs, row.value, *curve, row.elapsed, row.config)
    if picture.more:
        table.add_row(*[""] * (len(table.columns) - 1), f"and {plural(picture.more, 'more trial')}")
    return table


def make_progress(study: Study, limits: Limits, console: Console, *, transient: bool = False) -> Progress:
    """The live table where there is a terminal that can draw one, lines everywhere else."""
    tracker = Tracker(study, limits)
    # Asked of the stream itself: rich takes FORCE_COLOR for a terminal, and a log file full of redraws helps nobody.
    if console.file.isatty() and not console.is_dumb_terminal:
        return LiveProgress(tracker, console, transient=transient)
    return LogProgress(tracker, lambda text: console.print(Text(text), soft_wrap=True))


@contextmanager
def _logs_follow(before: Sequence[Any], after: Sequence[Any]) -> Iterator[None]:
    """Let log handlers that write to one of the streams ``before`` write to its successor.

    A handler keeps the stream that it was made with, and what it wrote there behind rich's back would tear the table.
    """
    moved: list[tuple[logging.StreamHandler[Any], Any]] = []
    for handler in (*logging.getLogger().handlers, *logging.getLogger("xstar").handlers):
        for old, new in zip(before, after, strict=True):
            if isinstance(handler, logging.StreamHandler) and handler.stream is old is not new:
                handler.setStream(new)
                moved.append((handler, old))
    try:
        yield
    finally:
        for handler, stream in moved:
            handler.setStream(stream)
