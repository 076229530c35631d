"""What trials print in worker processes, in files that do not grow without end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.waiting import until
from xstar.run import output
from xstar.run.output import Bounded

SPACE = xs.Space(x=xs.Float(0, 1))


def test_the_middle_goes_and_what_is_left_out_adds_up(tmp_path: Path) -> None:
    path = tmp_path / "stdout.txt"
    file = Bounded(path, limit=1000)
    path.write_bytes(b"a" * 500 + b"b" * 500)
    file.cut()
    assert path.stat().st_size == 1000, "within the limit"
    with path.open("ab") as others:
        others.write(b"c" * 300 + b"d" * 250)
        others.flush()
        file.cut()
        assert path.read_bytes().startswith(b"a" * 500 + b"\n[xstar] some 800 bytes are left out")
        assert path.read_bytes().endswith(b"stay\n" + b"d" * 250)
        others.write(b"e" * 1000)
        others.flush()
        file.cut()
    assert path.stat().st_size < 1000
    text = path.read_bytes()
    assert text.startswith(b"a" * 500 + b"\n[xstar] some ")
    assert text.count(b"[xstar]") == 1, "the total is said once"
    assert text.endswith(b"stay\n" + b"e" * 250)


def test_a_worker_keeps_the_beginning_and_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def objective(trial: Any) -> float:
        print("the first line")
        for number in range(30):
            os.write(1, b"%d " % number * 500_000)
        folder = trial.checkpoint.parent
        cut = range(output.LIMIT * 3 // 4 + 1, output.LIMIT)
        until(lambda: (folder / "stdout.txt").stat().st_size in cut, "cut while it runs")
        print("the last line")
        return float(trial["x"])

    study = xs.minimize(objective, SPACE, trials=1, workers=2, seed=1).study
    text = (study.files.of(0) / "stdout.txt").read_bytes()
    assert len(text) < output.LIMIT + 200
    assert text.startswith(b"the first line")
    assert b"bytes are left out here" in text
    assert text.endswith(b"the last line\n")
