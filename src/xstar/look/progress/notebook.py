"""Progress in a notebook: the terminal's table as text in colours, updated in place once a second, however fast trials end."""

from __future__ import annotations

import contextvars
import io
import threading
from typing import Any

from rich.terminal_theme import TerminalTheme

from xstar.look.progress.lines import choice_of
from xstar.look.progress.terminal import console_on, draw
from xstar.look.progress.tracker import Progress, Tracker

REFRESH = 1.0
"""Seconds between two updates: each is a message of some kilobytes to the browser, which may be far away."""
WIDTH = 110
"""Columns."""
MOST_MESSAGES = 5
"""Warnings that stay in view; the latest ones."""
COLOURS = [(128, 128, 128), (204, 68, 68), (34, 145, 77), (176, 125, 0), (82, 119, 219), (176, 80, 196), (0, 141, 161)]
"""Of a terminal's black, red, green, yellow, blue, magenta and cyan, so that they can be read on white and on black."""
THEME = TerminalTheme((128, 128, 128), (128, 128, 128), [*COLOURS, (128, 128, 128)])
FRAME = '<pre style="font-family: monospace; line-height: normal; overflow-x: auto">{code}</pre>'


class NotebookProgress(Progress):
    """A display in the output of the cell that runs the search."""

    def __init__(self, tracker: Tracker) -> None:
        super().__init__(tracker)
        self._messages: list[str] = []
        self._over = threading.Event()
        self._display: Any = None
        self._last: dict[str, str] = {}
        # In a copy of this context, by which the kernel knows to which cell an output belongs.
        self._thread = threading.Thread(
            target=contextvars.copy_context().run, args=(self._refresh,), name="xstar-progress", daemon=True
        )

    def look(self) -> None:
        self.tracker.advance()

    def message(self, text: str) -> None:
        self._messages = [*self._messages, text][-MOST_MESSAGES:]

    def __enter__(self) -> NotebookProgress:
        from IPython import display

        show: Any = display.display  # not annotated, where IPython is installed
        self._last = self.page()
        self._display = show(self._last, raw=True, display_id=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        self.look()
        self._update()

    def _refresh(self) -> None:
        while not self._over.wait(REFRESH):
            self._update()

    def _update(self) -> None:
        page = self.page()
        if page != self._last:
            self._last = page
            self._display.update(page, raw=True)

    def page(self) -> dict[str, str]:
        """The study as it stands, by MIME type: HTML, and plain text for what shows none."""
        out = console_on(io.StringIO(), record=True, width=WIDTH, force_jupyter=False)
        texts = [choice_of(self.tracker.study.history), *self._messages]
        out.print(draw(self.tracker, self.ending, running=not self._over.is_set()))
        out.print("\n".join(filter(None, texts)), end="")
        html = out.export_html(theme=THEME, inline_styles=True, code_format=FRAME, clear=False)
        return {"text/html": html, "text/plain": out.export_text()}
