"""Which files a worker runs: those its program would run, and none that merely lie in the current folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import pathlib
import xstar as xs
def objective(trial):
    return trial["x"]
result = xs.minimize(objective, xs.Space(x=xs.Float(0, 1)), trials=3, workers=2, seed=1)
print([trial.state.value for trial in result.study.history.trials])
"""


def test_files_in_the_current_folder_are_not_run(tmp_path: Path) -> None:
    home, trap = tmp_path / "home", tmp_path / "trap"
    home.mkdir()
    trap.mkdir()
    (home / "search.py").write_text(SCRIPT)
    for name in ("cloudpickle", "queue", "random", "numpy", "xstar", "sitecustomize"):
        (trap / f"{name}.py").write_text(f"open({str(trap / 'sprung')!r}, 'a').write('{name} ')\nraise SystemExit(3)\n")
    done = subprocess.run([sys.executable, str(home / "search.py")], cwd=trap, capture_output=True, text=True)
    assert not (trap / "sprung").exists(), (trap / "sprung").read_text()
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['complete', 'complete', 'complete']\n"


def test_an_objective_of_the_current_folder_still_works(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import helper\ndef objective(trial):\n    return helper.twice(trial['x'])\n")
    (tmp_path / "helper.py").write_text("def twice(x):\n    return 2 * x\n")
    script = SCRIPT.replace("xs.minimize(objective,", "xs.minimize(mine.objective,").replace(
        "import pathlib", "import mine"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "['complete', 'complete', 'complete']\n", done.stderr
