"""What shows a search: a notebook's display, a terminal's, lines in a log, or nothing."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from xstar.errors import InvalidArgument, StorageError
from xstar.look.progress.lines import LogProgress, logged, messages_to
from xstar.look.progress.tracker import Progress, Tracker
from xstar.study import Limits, Study
from xstar.study.loop import log

_SCREEN = threading.Lock()
"""Held by the one search of this program that has the screen: two tables would overwrite each other."""


def check_progress(wanted: bool | None) -> None:
    """Refuse what is neither yes nor no nor "where it can be seen"."""
    if wanted is not None and not isinstance(wanted, bool):
        raise InvalidArgument("progress", "must be True, False or None", wanted)


@contextmanager
def show_progress(study: Study, limits: Limits, wanted: bool | None) -> Iterator[list[Progress]]:
    """What shows a search while it runs; with ``wanted=False`` nothing.

    In a notebook and on a terminal that is a display, and lines in a log if one is set up; elsewhere lines. A search within
    another, or beside it in another thread, leaves the screen to the first one; ``True`` lets it write lines.
    """
    if wanted is False:
        yield []
        return
    with screen() as first, ExitStack() as shown:
        display = _display(study, limits) if first else None
        found = [] if display is None else [display]
        if logged() or (display is None and (first or wanted)):
            found.append(LogProgress(Tracker(study, limits)))
        for each in found:
            shown.enter_context(each)
        # Who has set up logging gets the messages there; otherwise Python would write them across the display.
        if found and not log.hasHandlers():
            shown.enter_context(messages_to(found[0].message))
        try:
            yield found
        except BaseException:
            with suppress(StorageError):  # a last look must not hide what ended the search
                shown.close()
            raise


@contextmanager
def screen() -> Iterator[bool]:
    """Take the screen, if it is free; yields whether it was."""
    first = _SCREEN.acquire(blocking=False)
    try:
        yield first
    finally:
        if first:
            _SCREEN.release()


def _display(study: Study, limits: Limits) -> Progress | None:
    """A notebook's or a terminal's."""
    if in_notebook():
        from xstar.look.progress.notebook import NotebookProgress

        return NotebookProgress(Tracker(study, limits))
    # What a script prints may go to a file meanwhile, or what it logs.
    streams = (each for each in (sys.stderr, sys.stdout) if each is not None and not each.closed and each.isatty())
    if (stream := next(streams, None)) is None or os.environ.get("TERM") == "dumb":
        return None
    from xstar.look.progress.terminal import LiveProgress, console_on

    return LiveProgress(Tracker(study, limits), console_on(stream))


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this program: one that does has imported IPython already."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None
