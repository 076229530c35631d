"""Pausing for real: at a rung the worker is freed, the trial goes on from its checkpoint, checkpoints go when unneeded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.journal.trial import Job
from xstar.look.audit import audit
from xstar.run.running import RunningTrial
from xstar.schedulers import ASHA, Hyperband, Scheduler, StoppingASHA

SPACE = xs.Space(x=xs.Float(0, 1))


def training(trial: Any) -> Iterator[float]:
    """Counts its epochs in the checkpoint; the process that trains each one is written down beside it."""
    saved = trial.checkpoint / "epoch"
    done = int(saved.read_text()) if trial.resumed else 0
    with (trial.checkpoint.parent / "log.txt").open("a") as log:
        for epoch in trial.epochs(done):
            if epoch > done:
                log.write(f"{epoch} {os.getpid()}\n")
                log.flush()
                saved.write_text(str(epoch))
            yield trial["x"] + 1 / epoch


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("scheduler", [ASHA(9), StoppingASHA(9), Hyperband(9)], ids=lambda s: type(s).__name__)
def test_every_epoch_is_trained_once(scheduler: Scheduler, workers: int, tmp_path: Path) -> None:
    result = xs.minimize(training, SPACE, trials=30, scheduler=scheduler, workers=workers, directory=tmp_path, seed=2)
    history = result.study.history
    assert audit(result.study).findings == []
    assert 0 < history.count(xs.State.COMPLETE) < 30
    processes = set()
    for trial in history.trials:
        lines = (result.study.files.of(trial.number) / "log.txt").read_text().split()
        assert [int(epoch) for epoch in lines[::2]] == list(range(1, trial.budget + 1))
        assert [reading.budget for reading in trial.reports] == list(range(1, trial.budget + 1))
        processes |= set(lines[1::2])
    if workers > 1:
        assert str(os.getpid()) not in processes


def test_only_checkpoints_that_can_be_needed_stay(tmp_path: Path) -> None:
    for scheduler in (ASHA(9), StoppingASHA(9), Hyperband(9, brackets=1)):
        folder = tmp_path / type(scheduler).__name__
        result = xs.minimize(training, SPACE, trials=36, scheduler=scheduler, directory=folder, seed=2, checkpoints=2)
        history, files = result.study.history, result.study.files
        left = {trial.number for trial in history.trials if (files.of(trial.number) / "checkpoint").exists()}
        complete = sorted(
            (t for t in history.trials if t.state is xs.State.COMPLETE), key=lambda t: (t.scores, t.number)
        )
        best = {trial.number for trial in complete[:2]}
        if isinstance(scheduler, ASHA):  # any paused trial may still be promoted
            assert left == best | set(history.paused)
        elif isinstance(scheduler, StoppingASHA):
            assert left == best
        else:  # of the four brackets of nine, all rungs are full: who pauses has lost
            assert len(history.paused) == 32
            assert left == best
        assert all((files.of(trial.number) / "log.txt").exists() for trial in history.trials)


def test_checkpoints_may_all_be_kept_or_none(tmp_path: Path) -> None:
    for kept, expected in ((None, 4), (0, 0)):
        result = xs.minimize(training, SPACE, trials=4, max_budget=2, directory=tmp_path / str(kept), checkpoints=kept)
        assert sum((result.study.files.of(n) / "checkpoint").exists() for n in range(4)) == expected


def test_an_objective_that_returns_is_called_rung_by_rung() -> None:
    calls: list[tuple[int, int, int]] = []

    def objective(trial: Any) -> float:
        epochs = list(trial.epochs())
        calls.append((trial.number, epochs[0], epochs[-1]))
        (trial.checkpoint / "saved").touch()
        return float(trial["x"]) + 1 / epochs[-1]

    for scheduler in (ASHA(9), StoppingASHA(9)):
        calls.clear()
        result = xs.minimize(objective, SPACE, trials=9, scheduler=scheduler, seed=1)
        for trial in result.study.history.trials:
            mine = [(first, last) for number, first, last in calls if number == trial.number]
            assert mine == [(1, 1), (2, 3), (4, 9)][: len(mine)]
            assert [reading.budget for reading in trial.reports] == [last for _, last in mine]


def test_a_paused_study_is_resumed_where_it_was(tmp_path: Path) -> None:
    whole = xs.minimize(training, SPACE, trials=20, method="asha", max_budget=9, seed=5, directory=tmp_path / "whole")
    for trials in (7, 13, 20):
        part = xs.minimize(
            training, SPACE, trials=trials, method="asha", max_budget=9, seed=5, study="s", storage=tmp_path / "s.db"
        )
        assert audit(part.study).findings == []
        part.study.close()
    assert [trial.config for trial in part.study.history.trials] == [
        trial.config for trial in whole.study.history.trials
    ]
    assert part.study.history.count(xs.State.COMPLETE) >= 1


@pytest.mark.parametrize("ending", [".new", ".tmp", ".part"])
def test_a_file_whose_rename_never_came_is_no_checkpoint(tmp_path: Path, ending: str) -> None:
    job = Job(trial=0, config={}, attempt=1, start=0, stop=3, full=3, directory=str(tmp_path))
    folder = RunningTrial(job).checkpoint
    (folder / f"model{ending}").write_text("half a mod")
    assert not RunningTrial(job).resumed
    (folder / "model.pt").write_text("a model")
    assert RunningTrial(job).resumed
