"""A disk without room is named, with its machine and folder, and is not held against the configuration."""

from __future__ import annotations

import errno
import os
import platform
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.errors import ObjectiveError
from xstar.executors.objective import full_disk

SPACE = xs.Space(x=xs.Float(0, 1))


def no_room(path: str | None = None, number: int = errno.ENOSPC) -> OSError:
    return OSError(number, os.strerror(number), path) if path else OSError(number, os.strerror(number))


def test_the_folder_that_the_error_names(tmp_path: Path) -> None:
    found = full_disk(no_room(str(tmp_path / "not" / "there")), None)
    assert found is not None
    assert f"the disk is full on {platform.node()}" in found
    assert f"MB are left in {tmp_path};" in found
    assert "quota" in str(full_disk(no_room(str(tmp_path), errno.EDQUOT), None))


def test_an_error_without_a_name_and_one_that_was_wrapped(tmp_path: Path) -> None:
    assert " MB are left in /" in str(full_disk(no_room(), str(tmp_path)))
    wrapped = RuntimeError("writing failed")
    wrapped.__cause__ = no_room(str(tmp_path))
    assert f"left in {tmp_path}" in str(full_disk(wrapped, None))
    assert full_disk(RuntimeError("anything else"), str(tmp_path)) is None
    assert full_disk(OSError(errno.EACCES, "permission denied"), str(tmp_path)) is None


@pytest.mark.parametrize("workers", [1, 2])
def test_the_trial_is_tried_again(tmp_path: Path, workers: int, caplog: pytest.LogCaptureFixture) -> None:
    def objective(trial: Any) -> float:
        if trial.number == 2 and trial.attempt == 0:
            raise OSError(28, "No space left on device", str(trial.checkpoint / "weights"))
        return float(trial["x"])

    result = xs.minimize(
        objective, SPACE, trials=5, method="random", seed=1, workers=workers, max_budget=1, directory=tmp_path
    )
    trials = result.study.history.trials
    assert [trial.state for trial in trials] == [xs.State.COMPLETE] * 5
    assert [trial.crashes for trial in trials] == [0, 0, 1, 0, 0]
    assert f"trial 2 will run again: the disk is full on {platform.node()}" in caplog.text
    assert str(tmp_path) in caplog.text


def test_a_search_that_never_has_room_ends(tmp_path: Path) -> None:
    def objective(trial: Any) -> float:
        raise OSError(28, "No space left on device", str(tmp_path))

    with pytest.raises(ObjectiveError, match=f"the disk is full on {platform.node()}.*{tmp_path}"):
        xs.minimize(objective, SPACE, trials=50, method="random", seed=1)
