"""Out of memory: told by names, infeasible, and run once more alone where others had a part of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.run.cases import Recorder, run
from tests.waiting import appears
from xstar.errors import ObjectiveError, ProgramFailed
from xstar.journal.messages import GPU_MEMORY, MACHINE_MEMORY
from xstar.journal.trial import Failure, Job
from xstar.look.audit import audit
from xstar.run.devices import Place
from xstar.run.memory import exhausted
from xstar.run.processes import ProcessExecutor
from xstar.study.loop import job_of

SPACE = xs.Space(x=xs.Float(0, 1))


class OutOfMemoryError(RuntimeError):
    """As torch's, by its name."""


OutOfMemoryError.__module__ = "torch"


def caused(error: Exception) -> Exception:
    made = ValueError("the step failed")
    made.__cause__ = error
    return made


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), MACHINE_MEMORY),
        (caused(MemoryError("Unable to allocate 7.28 TiB")), MACHINE_MEMORY),
        (OSError(12, "Cannot allocate memory"), MACHINE_MEMORY),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to"), MACHINE_MEMORY),
        (RuntimeError("std::bad_alloc"), MACHINE_MEMORY),
        (OutOfMemoryError("Allocation on device"), GPU_MEMORY),
        (RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB"), GPU_MEMORY),
        (RuntimeError("CUDA error: out of memory"), GPU_MEMORY),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), GPU_MEMORY),
        (RuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8 bytes."), GPU_MEMORY),
        (MemoryError("std::bad_alloc: out_of_memory: CUDA error at: rmm"), GPU_MEMORY),
        (RuntimeError("CUDA error: device-side assert triggered"), None),
        (ValueError("the classifier has no memory; out of patience"), None),
        (OSError(28, "No space left on device"), None),
    ],
)
def test_what_is_out_of_memory(error: Exception, expected: str | None) -> None:
    assert exhausted(error) == expected


@pytest.mark.parametrize(
    "error",
    [OutOfMemoryError("no room"), ProgramFailed("exit code 1; the end:\ntorch.OutOfMemoryError: CUDA out of memory.")],
)
def test_the_configuration_is_said(error: Exception) -> None:
    def objective(trial: Any) -> float:
        raise error

    outcome = run(objective, Job(0, {"batch": 512, "x": 0.25}, 0, 0, None, None, None), Recorder())
    assert isinstance(outcome, Failure)
    assert outcome.kind == GPU_MEMORY
    assert outcome.reason.splitlines()[-1].startswith("out of GPU memory with batch=512 x=0.25 (torch.OutOfMemoryError")


def test_in_one_process_it_is_infeasible_at_once_and_is_learned_from() -> None:
    def objective(trial: Any) -> float:
        if trial["x"] > 0.5:
            raise MemoryError
        return float(trial["x"])

    study = xs.minimize(objective, SPACE, trials=12, method="random", seed=1).study
    beyond = [trial for trial in study.trials if trial["x"] > 0.5]
    assert beyond
    assert {trial.state for trial in beyond} == {xs.State.INFEASIBLE}
    assert all(trial.attempt == 0 and "out of memory with x=" in str(trial.reason) for trial in beyond)


def test_a_search_that_is_always_out_of_memory_ends() -> None:
    def objective(trial: Any) -> float:
        raise MemoryError

    with pytest.raises(ObjectiveError, match=r"5 trials failed in the same way.*out of memory with x="):
        xs.minimize(objective, SPACE, trials=60, seed=1)


@pytest.mark.parametrize("enough", [True, False])
def test_beside_others_it_is_run_once_more_alone(tmp_path: Path, enough: bool) -> None:
    """Trial 0 is out of memory while trial 1 runs; it runs again when nothing else does, and keeps its checkpoint."""
    marks = tmp_path / "marks"
    marks.mkdir()

    def objective(trial: Any) -> Iterator[float]:
        mine = marks / f"{trial.number}-{trial.attempt}"
        mine.touch()
        for epoch in trial.epochs():
            if trial.number == 0 and epoch == 2:
                if trial.attempt == 0:
                    appears(marks / "1-0")
                beside = sorted(path.name for path in marks.iterdir() if path != mine)
                (tmp_path / f"beside-{trial.attempt}").write_text(json.dumps(beside))
                if trial.attempt == 0 or not enough:
                    raise OutOfMemoryError("no room")
            if trial.number == 1:
                appears(tmp_path / "waiting")
            trial.save({}, epoch)
            yield trial["x"]
        mine.unlink()

    def watch(study: xs.Study) -> None:
        if study.trials[0].attempt:  # it was started again, while trial 1 still runs
            (tmp_path / "waiting").touch()

    options: Any = {"max_budget": 3, "method": "random", "seed": 1, "workers": 2, "watch": watch}
    place = tmp_path / "s.db"
    study = xs.minimize(objective, SPACE, trials=5, study="s", storage=place, **options).study
    first = study.trials[0]
    assert first.attempt == 1
    assert [report.budget for report in first.reports] == ([1, 2, 3] if enough else [1])
    assert first.state is (xs.State.COMPLETE if enough else xs.State.INFEASIBLE)
    assert "1-0" in json.loads((tmp_path / "beside-0").read_text())
    assert set(json.loads((tmp_path / "beside-1").read_text())) <= {"0-0"}, "that of its first run"
    assert audit(study).findings == []
    study.close()
    with xs.Study.open("s", place) as again:  # as one who resumes finds it
        assert again.trials[0].state is first.state


def test_one_that_waits_to_be_alone_does_so_in_the_program_that_resumes(tmp_path: Path) -> None:
    place = tmp_path / "s.db"
    with xs.Study(SPACE, study="s", storage=place, method="random", seed=1) as study:
        study.fail(study.ask(), "no room", GPU_MEMORY)  # type: ignore[arg-type]
    with xs.Study.open("s", place) as study:
        trial = study.ask()
        assert trial is not None
        assert (trial.number, trial.attempt, job_of(study, trial).alone) == (0, 1, GPU_MEMORY)
        study.fail(trial, "again", GPU_MEMORY)
        assert trial.state is xs.State.INFEASIBLE


def test_which_workers_share_a_gpu() -> None:
    places = [Place(0, gpus=("0",)), Place(1, gpus=("0",)), Place(2, gpus=("1",)), Place(3), Place(4, gpus=())]
    shared = {(a.worker, b.worker) for a in places for b in places if a.worker < b.worker and a.shares_gpu(b)}
    assert shared == {(0, 1), (0, 3), (1, 3), (2, 3), (3, 4)}


def test_only_those_beside_it_are_kept_free(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    go = tmp_path / "go"

    def objective(trial: Any) -> float:
        appears(go)
        return float(os.getpid())

    def job(number: int, alone: str | None = None) -> Job:
        return Job(number, {}, 0, 0, None, None, None, alone=alone)

    from xstar.core.goals import DEFAULT

    executor = ProcessExecutor(objective, DEFAULT, 4, gpus=0.5)
    try:
        executor.submit(job(0))
        executor.submit(job(1, GPU_MEMORY))  # on the same GPU as job 0: it waits
        assert executor.free() == 2
        executor.submit(job(2))
        executor.submit(job(3, MACHINE_MEMORY))
        assert executor.free() == 0
        go.touch()
        ended: list[int] = []
        while len(ended) < 4:
            ended += [outcome.trial for outcome in executor.poll() if type(outcome).__name__ == "Finished"]
        assert ended.index(0) < ended.index(1)
        assert ended[-1] == 3
        assert executor.free() == 4
    finally:
        executor.close()
