"""The template package, installed: its parts are found by name, stored, opened again and audited."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import xstar as xs
from xstar.core import entry_points
from xstar.errors import InvalidArgument

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
import xstar as xs
from xstar.look.audit import audit

offers = {(offer.group, offer.name) for offer in xs.registry.offered() if offer.package == "xstar-template 0.1.0"}
assert offers == {("xstar.searchers", "one-change"), ("xstar.schedulers", "better-half"), ("xstar.executors", "counting"),
                  ("xstar.domains", "permutation")}, offers
assert "xstar_template" not in sys.modules
assert "one-change" in xs.registry.searchers.names()

def curve(trial):
    for epoch in trial.epochs():
        yield sum(abs(a - b) for a, b in enumerate(trial["order"])) + trial["x"] + 1 / epoch

if sys.argv[1] == "search":
    from xstar_template import BetterHalf, Counting, Permutation
    space = xs.Space(x=xs.Float(0, 1), order=Permutation(4))
    scheduler = BetterHalf(max_budget=4, look=2)
    names = {"method": "one-change", "executor": "counting", "study": "t"}
    result = xs.minimize(curve, space, scheduler=scheduler, trials=15, seed=0, **names)
    assert Counting.jobs == 15
    assert {trial.origin.method for trial in result.study.trials} == {"one-change"}
    assert xs.State.STOPPED in {trial.state for trial in result.study.trials}
else:
    study = xs.Study.open("t")  # by a program that imports nothing of the package
    assert type(study.searcher).__name__ == "OneChange" and study.scheduler.look == 2
    assert type(study.space["order"]).__name__ == "Permutation"
    found = audit(study)
    assert found.decisions > 15 and not found.findings, found.findings
print("fine")
"""


@pytest.mark.slow
def test_the_template_package_installed(tmp_path: Path) -> None:
    site = tmp_path / "site"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        str(site),
    ]
    built = subprocess.run(
        [*pip, str(ROOT / "examples" / "package")], capture_output=True, text=True, timeout=200, check=False
    )
    if "hatchling" in built.stderr and built.returncode:
        pytest.skip("hatchling is not installed, and nothing is fetched for a test")
    assert built.returncode == 0, built.stderr
    path = os.pathsep.join([str(site), str(ROOT / "src")])
    for what in ("search", "open"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, what],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == "fine\n"


def test_a_package_that_cannot_be_imported_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("broken", "no_such_package:Thing", "xstar.searchers")
    monkeypatch.setattr(entry_points, "offered", lambda group: [broken] if group == "xstar.searchers" else [])
    with pytest.raises(
        InvalidArgument, match=r"broken: the entry point of a package in xstar.searchers must lead to something"
    ):
        xs.Study(xs.Space(x=xs.Float(0, 1)), method="broken")
