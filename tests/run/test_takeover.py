"""Who takes a trial over from a holder that may still live has a directory of its own, which begins with a copy."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.core.processes import machine, started
from xstar.journal import events as ev
from xstar.journal.trial import Job
from xstar.run.carrying import UrlCarrier
from xstar.run.orphans import RECORD, take_over, taken_over
from xstar.study.loop import job_of

SPACE = xs.Space(x=xs.Float(0, 1))


def job(folder: Path, *homes: int) -> Job:
    name = f"00007-{homes[-1]}" if homes[-1] else "00007"
    return Job(7, {}, homes[-1], 0, 3, 3, str(folder / name), homes)


def test_an_attempt_begins_with_a_copy_that_later_writes_do_not_change(tmp_path: Path) -> None:
    saved = tmp_path / "00007" / "checkpoint" / "deep" / "state"
    saved.parent.mkdir(parents=True)
    saved.write_text("old")
    (tmp_path / "00007" / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "00007" / "pipe")
    take_over(job(tmp_path, 0))
    assert [path.name for path in tmp_path.iterdir()] == ["00007"]
    take_over(job(tmp_path, 0, 2))
    copied = tmp_path / "00007-2" / "checkpoint" / "deep" / "state"
    with saved.open("r+") as file:
        file.write("new")
    assert copied.read_text() == "old"
    assert sorted(path.name for path in (tmp_path / "00007-2").iterdir()) == ["checkpoint", "link"]
    take_over(job(tmp_path, 0, 2))
    assert copied.read_text() == "old", "it is made once"
    take_over(job(tmp_path, 0, 2, 3))
    assert (tmp_path / "00007-3" / "checkpoint" / "deep" / "state").read_text() == "old"
    take_over(job(tmp_path, 0, 5, 6))
    assert (tmp_path / "00007-6" / "checkpoint" / "deep" / "state").read_text() == "new", "attempt 5 never made its own"


def test_a_file_that_goes_while_it_is_copied_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "00007" / "checkpoint"
    folder.mkdir(parents=True)
    (folder / "1.new").write_text("state")
    copy, calls = shutil.copy2, list[str]()

    def copy2(source: str, target: Path) -> Any:
        calls.append(source)
        if source.endswith(".new"):
            os.rename(source, source.removesuffix(".new"))
        return copy(source, target)

    monkeypatch.setattr(shutil, "copy2", copy2)
    take_over(job(tmp_path, 0, 1))
    assert len(calls) == 2
    assert [path.name for path in (tmp_path / "00007-1" / "checkpoint").iterdir()] == ["1"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00007", "00007-1"]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes through /proc")
def test_what_still_runs_here_is_ended_and_can_say_by_whom(tmp_path: Path) -> None:
    (tmp_path / "00007").mkdir()
    run = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    (tmp_path / "00007" / RECORD).write_text(f"{machine()}|{run.pid}|{started(run.pid)}\n")
    assert taken_over(str(tmp_path / "00007")) is None
    take_over(job(tmp_path, 0, 1))
    assert run.wait() == -9
    assert f"ended by process {os.getpid()} on" in str(taken_over(str(tmp_path / "00007")))


def test_checkpoints_at_a_url_are_kept_apart(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    carrier = UrlCarrier(f"file://{tmp_path}/kept")
    for homes, text in (((0,), "first"), ((0, 2), "second")):
        brought = carrier.bring(job(tmp_path, *homes), None)
        assert brought.directory is not None
        state = Path(brought.directory) / "checkpoint" / "state"
        if homes == (0, 2):
            assert state.read_text() == "first"
        state.parent.mkdir(exist_ok=True)
        state.write_text(text)
        carrier.keep(brought)
    superseded = carrier.bring(job(tmp_path, 0), None)
    (Path(superseded.directory or "") / "checkpoint").mkdir(exist_ok=True)
    (Path(superseded.directory or "") / "checkpoint" / "late").write_text("of the first")
    carrier.keep(superseded)
    assert carrier.fetch(7, tmp_path / "found", 2)
    assert [path.name for path in (tmp_path / "found").iterdir()] == ["state"]
    assert (tmp_path / "found" / "state").read_text() == "second"


@pytest.mark.parametrize("end", ["lost", "killed"])
@pytest.mark.parametrize("may_live", [True, False])
def test_the_journal_says_which_directory_counts(end: str, may_live: bool) -> None:
    study = xs.Study(SPACE, seed=1, method="random", max_budget=4)
    trial = study.ask()
    assert trial is not None
    if end == "lost":
        study.journal.append([ev.Lost(0, "silent", 2.0, may_live=may_live)], study.history.seen)
    else:
        study.fail(trial, "out of reach", "killed", may_live=may_live)
    assert study.refresh().trials[0].runs.homes == (0,), (
        "until somebody takes it over, what the first attempt reports counts"
    )
    assert study.ask() is trial
    assert trial.runs.homes == ((0, 1) if may_live else (0,))
    made = job_of(study, trial)
    assert made.directory is not None
    assert Path(made.directory).name == ("00000-1" if may_live else "00000")
    study.fail(trial, "dead for certain", "killed")
    if end == "lost":  # else the retries are used up
        assert study.ask() is trial
        assert trial.runs.homes == ((0, 1) if may_live else (0,)), "it goes on in place"
    study.close()
