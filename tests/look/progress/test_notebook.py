"""The display of a notebook: updated in place, whole and safe; and in a real kernel where there is one."""

from __future__ import annotations

import re
import sys
import types
from typing import Any

import pytest

import xstar as xs
from tests.look.progress.cases import make_study
from tests.pages import EVIL, Page
from tests.trials import ask
from tests.waiting import PATIENCE, until
from xstar.look.progress import Tracker, notebook, show_progress
from xstar.look.progress.choice import in_notebook
from xstar.look.progress.notebook import MOST_MESSAGES, NotebookProgress
from xstar.study import Limits


class Kernel:
    """What IPython offers to a display, and what it was shown."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.displays: list[list[str]] = []
        shell = types.SimpleNamespace(kernel=object())
        package, module = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        package.get_ipython = lambda: shell  # type: ignore[attr-defined]
        module.display = self.display  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", package)
        monkeypatch.setitem(sys.modules, "IPython.display", module)

    def display(self, thing: Any, *, raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id is True
        pages = [thing["text/html"]]
        self.displays.append(pages)
        return types.SimpleNamespace(update=lambda thing, raw: pages.append(thing["text/html"]))


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    return Kernel(monkeypatch)


def objective(trial: Any) -> float:
    return float(trial["x"])


def test_a_search_has_a_display_of_its_own_each_time(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "REFRESH", 1000.0)
    assert in_notebook()
    for _ in range(2):
        xs.minimize(objective, xs.Space(x=xs.Float(0, 1)), trials=30, seed=1)
    assert len(kernel.displays) == 2
    for pages in kernel.displays:
        assert "0 of 30" in pages[0]
        assert "method auto: every trial runs to its end" in pages[0]
        assert "30 of 30" in pages[-1]
        assert "all 30 trials are done" in pages[-1]
        assert len(pages) == 2, "an update for every trial would keep the browser busy"
    xs.minimize(objective, xs.Space(x=xs.Float(0, 1)), trials=1, progress=False)
    assert len(kernel.displays) == 2


def test_it_goes_on_while_nothing_is_reported(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "REFRESH", 0.001)
    study = xs.Study(xs.Space(x=xs.Float(0, 1)))
    with show_progress(study, Limits(trials=1), None):
        pages = kernel.displays[0]
        until(lambda: len(pages) >= 3)
    assert len(set(pages)) == len(pages), "what has not changed is not sent again"


def test_an_error_leaves_the_last_state(kernel: Kernel) -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)))
    with pytest.raises(KeyboardInterrupt), show_progress(study, Limits(), None) as progress:  # noqa: PT012
        assert progress is not None
        study.tell(ask(study), 0.5)
        raise KeyboardInterrupt
    assert "value=0.5" in kernel.displays[0][-1]


def test_the_page() -> None:
    study = make_study(metric="error", method="asha", max_budget=9)
    progress = NotebookProgress(Tracker(study, Limits(trials=20)))
    assert "none yet" in progress.page()["text/plain"]
    for value in (0.5, 0.25, 0.75):
        study.report(ask(study), value)
    study.report(ask(study), 0.2, 2)
    study.fail(ask(study), f"Traceback\nValueError: {EVIL}")
    progress(study)
    for number in range(MOST_MESSAGES + 1):
        progress.message(f"{EVIL} {number}")
    page = progress.page()["text/html"]
    assert not re.search("color: #(000|fff)", page), "notebooks are light or dark"
    text = Page(page).text
    for words in ("3 of 20", "3 at epoch 1, 0 at 3, 0 at 9", "error=0.2", f"trial 3: ValueError: {EVIL}", "█▁", "2/3"):
        assert words in text
    assert f"{EVIL} 0" not in text
    assert f"{EVIL} {MOST_MESSAGES}" in text


def test_a_real_kernel() -> None:
    why = "needs a Jupyter kernel: pip install nbclient ipykernel"
    nbclient = pytest.importorskip("nbclient", reason=why)
    pytest.importorskip("ipykernel", reason=why)
    nbformat = pytest.importorskip("nbformat", reason=why)
    search = "xs.minimize(lambda trial: trial['x'] ** 2, xs.Space(x=xs.Float(0, 1)), trials=5, seed=1)"
    cells = ["import xstar as xs", search, search + ".study"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=int(PATIENCE)).execute()
    for cell, words in zip(book.cells[1:], ("Result", "Study"), strict=True):
        display, shown = cell.outputs
        assert display.output_type == "display_data"
        assert "5 of 5" in display.data["text/html"]
        assert "all 5 trials are done" in display.data["text/html"]
        assert words in shown.data["text/html"]
