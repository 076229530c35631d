"""A study that runs elsewhere, followed from its journal alone: what ``xstar watch`` shows."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Group, RenderableType

from xstar.executors.clock import stopwatch, wall_clock
from xstar.inspect.look import View
from xstar.journal import History, Readable
from xstar.progress.picture import take
from xstar.progress.terminal import facts_of, running_of
from xstar.progress.tracker import Tracker
from xstar.study import NO_LIMITS
from xstar.trial import Trial


class _Elsewhere:
    def ran(self, trial: Trial) -> bool:
        """All of them are run elsewhere, and all are of interest."""
        return True


class Watched:
    """A view with the clocks that a tracker asks for."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.leases = _Elsewhere()
        self.clock: Callable[[], float] = wall_clock
        self.stopwatch: Callable[[], float] = stopwatch(wall_clock)
        self.tracker = Tracker(self, NO_LIMITS)

    @property
    def name(self) -> str:
        return self._view.name

    @property
    def metric(self) -> str:
        return self._view.created.metric

    @property
    def direction(self) -> str:
        return self._view.created.direction

    @property
    def history(self) -> History:
        return self._view.history

    @property
    def journal(self) -> Readable:
        return self._view.journal

    def look(self) -> None:
        """Read what is new."""
        self._view.refresh()
        self.tracker.advance()


def picture_of(watched: Watched) -> RenderableType:
    """The same as the program that runs the study shows."""
    picture = take(watched.tracker)
    return Group(facts_of(picture), running_of(picture)) if picture.running else facts_of(picture)
