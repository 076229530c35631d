"""Progress in a notebook: HTML without scripts or widgets, updated in place.

The display has an id of its own each time, so that a cell that is run again gets a new one. A thread updates it once a second
and nothing else does but the start and the end: however fast trials end, the browser has time for other things.
"""

from __future__ import annotations

import contextvars
import threading
from types import TracebackType
from typing import Any

from xstar.core.markup import LEFT, escaped, table
from xstar.core.words import plural
from xstar.look.progress.picture import Picture, take
from xstar.look.progress.tracker import Tracker
from xstar.study import Study

REFRESH = 1.0
"""Seconds between two updates: each is a message of some kilobytes to the browser, which may be far away."""

MOST_MESSAGES = 5
"""Warnings that stay in view; the latest ones."""

NUMBERS = "font-variant-numeric: tabular-nums"


class NotebookProgress:
    """A display in the output of the cell that runs the search."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self._messages: list[str] = []
        self._ending: str | None = None
        self._over = threading.Event()
        self._display: Any = None
        self._last = ""
        # In a copy of this context, by which the kernel knows to which cell an output belongs.
        self._thread = threading.Thread(
            target=contextvars.copy_context().run, args=(self._refresh,), name="xstar-progress", daemon=True
        )

    def __call__(self, study: Study) -> None:
        if self.tracker.due():
            self.tracker.advance()

    def message(self, text: str) -> None:
        """Show something else below the facts."""
        self._messages = [*self._messages, text][-MOST_MESSAGES:]

    def finish(self, reason: str) -> None:
        """Say why the search ended."""
        self._ending = reason

    def __enter__(self) -> NotebookProgress:
        from IPython import display

        show: Any = display.display  # not annotated, where IPython is installed
        self._last = self.page()
        self._display = show(_Page(self._last, self._words()), display_id=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self.tracker.advance()
        self._update()

    def _refresh(self) -> None:
        while not self._over.wait(REFRESH):
            self._update()

    def _update(self) -> None:
        page = self.page()
        if page != self._last:
            self._last = page
            self._display.update(_Page(page, self._words()))

    def page(self) -> str:
        """The HTML, from the study as it stands."""
        picture = take(self.tracker, self._ending)
        parts = [_facts(picture)]
        if not self._over.is_set() and picture.running:
            parts.append(_running(picture))
        parts += [f"<div>{escaped(text)}</div>" for text in self._messages]
        return f'<div style="{NUMBERS}">{"".join(parts)}</div>'

    def _words(self) -> str:
        """The same for what shows no HTML, in one line."""
        picture = take(self.tracker, self._ending)
        of = "" if picture.total is None else f" of {picture.total}"
        return f"{picture.done}{of} trials, best {picture.best or 'none yet'}, {picture.ending or picture.pace}"


class _Page:
    """What IPython is handed."""

    def __init__(self, page: str, words: str) -> None:
        self._page = page
        self._words = words

    def _repr_html_(self) -> str:
        return self._page

    def __repr__(self) -> str:
        return self._words


def _facts(picture: Picture) -> str:
    rows: list[tuple[str, str]] = []
    if picture.study is not None:
        rows.append(("study", f"<b>{escaped(picture.study)}</b>"))
    if picture.choice:
        rows.append(("search", escaped(picture.choice)))
    if picture.total is not None:
        bar = f'<progress value="{picture.done}" max="{max(1, picture.total)}"></progress>'
        rows.append(("done", f"{bar} {picture.done} of {picture.total}"))
    rows.append(("pace", escaped(picture.pace)))
    found = ", ".join(f"{count} {state.value}" for state, count in picture.counts)
    rows.append(("trials", found or "no trials yet"))
    if picture.rungs:
        rows.append(("rungs", escaped(picture.rungs)))
    best = f"<b>{escaped(picture.best)}</b> {escaped(picture.best_trial)}" if picture.best else "none yet"
    rows.append(("best", best))
    if picture.failure:
        rows.append(("failed", escaped(picture.failure)))
    if picture.ending is not None:
        rows.append(("ended", escaped(picture.ending)))
    body = "".join(f"<tr><td {LEFT}>{name}</td><td {LEFT}>{shown}</td></tr>" for name, shown in rows)
    return f"<table><tbody>{body}</tbody></table>"


def _running(picture: Picture) -> str:
    head = ["trial", "epochs", picture.metric, *(["curve"] if picture.has_curves else []), "elapsed", "configuration"]
    rows = []
    for row in picture.running:
        curve = [row.curve] if picture.has_curves else []
        rows.append([row.number, row.epochs, row.value, *curve, row.elapsed, row.config])
    more = f"<div>and {plural(picture.more, 'more trial')}</div>" if picture.more else ""
    return table(head, rows) + more
