"""The walk of one suggestion in ``docs/architecture.md``: few files to read, and those that run."""

import re
import sys
from pathlib import Path
from types import FrameType

import xstar as xs
from tests.trials import run_trials

SOURCES = Path(xs.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
MOST_TO_READ = 12
MOST_EXECUTED = 30
"""Files with a function that runs between ``study.ask()`` and its answer, from the journal to the columns of the space."""


def executed() -> set[str]:
    """The files of xstar that one suggestion of the Gaussian process runs through, once all are loaded."""
    study = xs.Study(xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1)), method="gp", seed=0)
    run_trials(study, 13, lambda trial: (trial["x"] - 0.3) ** 2 + trial["y"])
    found: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(SOURCES):
            found.add(path.relative_to(SOURCES).as_posix())

    others = sys.getprofile()
    sys.setprofile(note)
    try:
        trial = study.ask()
    finally:
        sys.setprofile(others)
    assert trial is not None
    assert trial.origin.startswith("gp: log EI")
    return found


def test_one_suggestion_is_a_short_walk() -> None:
    text = PAGE.read_text(encoding="utf-8")
    walk = text[text.index("### The walk of one suggestion") : text.index("### The walk of one report")]
    rows = [line.split("|")[2] for line in walk.splitlines() if re.match(r"\| \d+ \|", line)]
    listed = re.findall(r"[\w/]+\.py", "".join(rows))
    ran = executed()
    assert 0 < len(listed) <= MOST_TO_READ
    assert set(listed) - ran == set(), "the page names a file that a suggestion does not run through"
    assert len(ran) <= MOST_EXECUTED, sorted(ran)
