"""Progress on a terminal: a live table. Rich redraws it from a thread of its own, so that the clock goes on in a long epoch."""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from xstar.core.words import harmless, last_line, numbers, plural, seconds, short_config
from xstar.journal.trial import State, Trial
from xstar.look.progress.lines import LogProgress, choice_of, in_a_line
from xstar.look.progress.tracker import BROKEN, Progress, Tracker
from xstar.study import Limits, Study
from xstar.study.naming import counts_of, headline, say_reached

REFRESHES = 4
"""Redraws per second: a table that changes faster cannot be read, and each redraw takes a few milliseconds of a core."""
BAR = 40
"""Columns of the bar: it leaves room for the numbers beside it on the narrowest terminal."""
CURVE = 12
"""Characters of a learning curve: beside it there is room for a configuration on 80 columns."""
BARS = "▁▂▃▄▅▆▇█"
MOST_ROWS = 12
"""Running trials that are listed; with a hundred workers they would not fit the screen."""
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


def console_on(stream: IO[str], **given: Any) -> Console:
    """A console that prints what it is given: a study's words may contain ``[brackets]`` or ``:colons:`` of their own."""
    given.setdefault("width", None if stream.isatty() else PIPED_WIDTH)
    return _HarmlessConsole(file=stream, markup=False, emoji=False, highlight=False, **given)


def colour_counts(counts: Mapping[str, int]) -> Text:
    """How many trials are in each state, each in its colour."""
    parts = [Text(f"{count} {state}", STYLES[State(state)]) for state, count in counts.items()]
    return Text(", ").join(parts) if parts else Text("no trials yet")


def draw(tracker: Tracker, ending: str | None = None, *, running: bool = True) -> RenderableType:
    """A search at a glance, and the trials that run."""
    live = list(tracker.study.history.running.values()) if running else []
    facts = _facts(tracker, ending)
    return Group(facts, _running(tracker, live)) if live else facts


def _facts(tracker: Tracker, ending: str | None) -> Table:
    study, history, best, failure = tracker.study, tracker.study.history, tracker.best, tracker.failure
    facts = Table.grid(padding=(0, 2), expand=True)
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(no_wrap=True, overflow="ellipsis", ratio=1)  # a long configuration gives way, not the labels
    if study.name is not None:
        facts.add_row("study", Text(study.name, "bold"))
    if (total := tracker.limits.trials) is not None:
        done = Table.grid(padding=(0, 2))
        done.add_row(ProgressBar(total=total, completed=tracker.done(), width=BAR), f"{tracker.done()} of {total}")
        facts.add_row("done", done)
    if tracker.takes_part:  # who looks on does not know when it began
        facts.add_row("pace", _pace(tracker, over=ending is not None))
    facts.add_row("trials", colour_counts(counts_of(history)))
    if tracker.rungs:
        (first, count), *rest = tracker.rungs
        facts.add_row("rungs", ", ".join([f"{count} at epoch {first}", *(f"{n} at {budget}" for budget, n in rest)]))
    which = ""
    if best is not None:
        which = f"  {say_reached(best.number, best.state.value, best.budget)}  {short_config(best.config)}"
    found = headline(history, 5)
    shown = Text().append(found, "bold green").append(which) if found else Text("none yet", "dim")
    facts.add_row("best", shown)
    if failure is not None:
        facts.add_row("failed", Text(f"trial {failure.number}: {last_line(failure.reason or '')}", "red"))
    if ending is not None:
        facts.add_row("ended", ending)
    return facts


def _running(tracker: Tracker, trials: list[Trial]) -> Table:
    metric = tracker.study.history.goals.metrics[0]
    curves = {
        trial.number: sparkline([reading.metrics[metric] for reading in reports])
        for trial in trials[:MOST_ROWS]
        if len(reports := list(trial.reports)) > 1
    }
    table = Table(box=None, padding=(0, 2, 0, 0), expand=True, header_style="dim")
    for name in ("trial", "epochs", tracker.study.history.created.metric):
        table.add_column(name, justify="right", no_wrap=True)
    if curves:
        table.add_column("curve", no_wrap=True, style="cyan")
    table.add_column("elapsed", justify="right", no_wrap=True)
    table.add_column("configuration", no_wrap=True, overflow="ellipsis", ratio=1)
    for trial in trials[:MOST_ROWS]:
        epochs = f"{trial.budget}/{trial.target}" if trial.target else str(trial.budget)
        curve = (curves.get(trial.number, ""),) if curves else ()
        elapsed = seconds(tracker.running_for(trial))
        table.add_row(
            str(trial.number), epochs, numbers(trial.values.values()), *curve, elapsed, short_config(trial.config)
        )
    if (more := len(trials) - MOST_ROWS) > 0:
        table.add_row(*[""] * (len(table.columns) - 1), f"and {plural(more, 'more trial')}")
    return table


def _pace(tracker: Tracker, *, over: bool) -> str:
    text = f"{seconds(tracker.elapsed)} elapsed"
    if (rate := tracker.rate()) is not None:
        text += f", {rate * 60:.3g} trials/min"
    if not over and (left := tracker.remaining()) is not None:
        text += f", about {seconds(left)} left"
    return text


def sparkline(values: Sequence[float], width: int = CURVE) -> str:
    """A curve in at most ``width`` characters, from its lowest to its highest value; a blank where it is not finite.

    >>> sparkline([8.0, 4.0, 2.0, 1.0])
    '█▄▂▁'
    """
    if len(values) > width:  # evenly spaced ones, first and last among them
        values = [values[round(place * (len(values) - 1) / (width - 1))] for place in range(width)]
    known = [value for value in values if math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)

    def bar(value: float) -> str:
        if not math.isfinite(value):
            return " "
        # Halved, because the difference of two finite numbers need not be finite.
        share = (value / 2 - low / 2) / (high / 2 - low / 2) if high > low else 0.0
        return BARS[min(len(BARS) - 1, int(share * len(BARS)))]

    return "".join(map(bar, values))


class LiveProgress(Progress):
    """A table that is redrawn in place; new bests and failures stay above it."""

    def __init__(self, tracker: Tracker, console: Console, *, transient: bool = False) -> None:
        super().__init__(tracker)
        self._console = console
        self._failures = 0
        self._shown = tracker.best
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

    def look(self) -> None:
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
        self._console.print(Text(text, "yellow"), soft_wrap=True)

    def __enter__(self) -> LiveProgress:
        if choice := choice_of(self.tracker.study.history):
            self._console.print(choice, soft_wrap=True)
        before = sys.stdout, sys.stderr
        self._live.start()
        self._redirected.enter_context(_logs_follow(before, (sys.stdout, sys.stderr)))
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.look()
        finally:
            self._over = True
            self._redirected.close()
            self._live.stop()  # the cursor is shown again, whatever happened

    def render(self) -> RenderableType:
        """Everything at a glance, from the study as it stands."""
        shown = draw(self.tracker, self.ending, running=not self._over)
        # A short last line: the terminal writes its own ^C there, and on a full one it would shift the table by a line.
        how = Text("Ctrl-C ends running trials at their next report", "dim")
        return shown if self._over else Group(shown, how)


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
