"""The tutorial runs in a real kernel, and shows there what it shows in the documentation."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.modules import module_of

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOK = DOCS / "tutorial.ipynb"


def outputs(notebook: Any, marker: str) -> list[Any]:
    """What the code cell with these words gave."""
    found = [cell for cell in notebook["cells"] if cell["cell_type"] == "code" and marker in "".join(cell["source"])]
    assert len(found) == 1, marker
    return list(found[0]["outputs"])


def html(output: Any) -> str:
    return "".join(output["data"]["text/html"])


def check(notebook: Any) -> None:
    """The display of a search below its cell, and a table for everything that has one."""
    for marker, trials in (("trials=20", 20), ("trials=26", 26)):
        display = outputs(notebook, marker)[0]
        assert display["output_type"] == "display_data"
        assert f"all {trials} trials are done" in html(display)
        assert f"{trials} of {trials} trials, best value=" in "".join(display["data"]["text/plain"])
    for marker, shown in (
        ("space = xs.Space", "momentum"),
        ("result.best", "<b>Trial"),
        ("study.enqueue", "<b>Trial"),
        ("trials=26", "tutorial"),
    ):
        last = outputs(notebook, marker)[-1]
        assert last["output_type"] == "execute_result"
        assert shown in html(last)
        assert "<table" in html(last)
    (result,) = (html(cell["outputs"][0]) for cell in notebook["cells"] if "".join(cell["source"]).strip() == "result")
    assert "<b>Result</b> of 20 trials" in result
    assert "<svg" in "".join(outputs(notebook, "nets.sample")[0]["data"]["image/svg+xml"])
    assert re.search(r"decisions made again, 0 came out differently", "".join(outputs(notebook, "audit(")[0]["text"]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the kernel's client, not ours: those of the notebook stay in its outputs
def test_it_runs_in_a_kernel() -> None:
    module = module_of(DOCS / "assets" / "make_tutorial.py")
    notebook = module.executed()
    check(notebook)
    errors = [
        output for cell in notebook["cells"] for output in cell.get("outputs", []) if output.get("name") == "stderr"
    ]
    assert errors == []


def test_the_documentation_has_its_outputs() -> None:
    check(json.loads(NOTEBOOK.read_text(encoding="utf-8")))
