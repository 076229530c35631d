"""Draw terminal.svg: what a search shows on a terminal while it runs, from a real search of examples/digits.py.

    python docs/assets/make_terminal.py

The table is the one of the live display, taken after two thirds of the trials; rich turns it into a picture.
"""

import io
import os
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console

import xstar as xs
from xstar.look.progress.terminal import LiveProgress
from xstar.look.progress.tracker import Tracker
from xstar.study import Limits

HERE = Path(__file__).parent
TRIALS = 60
WIDTH = 100


class Recorder:
    """Keeps the picture of the moment when so many trials have begun, and two of them are in the middle of their training."""

    def __init__(self):
        self.picture = None
        self.progress = None
        self.console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)

    def __call__(self, study):
        if self.progress is None:
            self.progress = LiveProgress(Tracker(study, Limits(trials=TRIALS)), self.console)
        self.progress.tracker.advance()
        running = [trial for trial in study.trials if trial.state is xs.State.RUNNING and trial.budget > 1]
        if self.picture is None and len(study.trials) > TRIALS * 2 // 3 and len(running) == 2:
            self.console.print(self.progress.render())
            picture = self.console.export_svg(title="python search.py", unique_id="terminal")
            # The reader's own fonts: nothing is fetched for them.
            self.picture = re.sub(r"\s*@font-face \{[^}]*\}", "", picture)


def main():
    sys.path.insert(0, str(HERE.parents[1] / "examples"))
    import digits

    recorder = Recorder()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # the study's database and checkpoints
        settings = {**digits.settings, "trials": TRIALS}
        xs.minimize(
            digits.objective, digits.space, workers=2, study="digits", watch=recorder, progress=False, **settings
        )
        os.chdir(HERE)
    (HERE / "terminal.svg").write_text(recorder.picture, encoding="utf-8")


if __name__ == "__main__":
    main()
