"""Cores and GPUs are shared out among workers. The GPUs are those of a made-up ``nvidia-smi``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.waiting import until
from xstar.errors import InvalidArgument
from xstar.journal.trial import Job
from xstar.run import Place, devices
from xstar.run.devices import THREADS, available_cores, share, share_gpus, visible_gpus
from xstar.run.running import RunningTrial

SPACE = xs.Space(x=xs.Float(0, 1))
JOB = Job(0, {}, 0, 0, None, None, None)

TWO = """\
GPU 0: NVIDIA H200 (UUID: GPU-aaaa)
GPU 1: NVIDIA H200 (UUID: GPU-bbbb)
"""

DIVIDED = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-aaaa)
  MIG 3g.20gb     Device  0: (UUID: MIG-1111)
  MIG 3g.20gb     Device  1: (UUID: MIG-2222)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-bbbb)
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that puts a listing of GPUs in place; without one there is no ``nvidia-smi``."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    devices._listed.cache_clear()

    def has(listing: str, code: int = 0) -> None:
        program = folder / "nvidia-smi"
        program.write_text(f"#!/bin/sh\n/bin/cat <<'END'\n{listing}END\nexit {code}\n")
        program.chmod(0o755)
        devices._listed.cache_clear()

    yield has
    devices._listed.cache_clear()


def test_gpus_are_found_by_nvidia_smi(machine: Any) -> None:
    assert visible_gpus() == ()
    machine(TWO)
    assert visible_gpus() == ("GPU-aaaa", "GPU-bbbb")
    machine(DIVIDED)
    assert visible_gpus() == ("MIG-1111", "MIG-2222", "GPU-bbbb")
    machine("NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.\n", code=9)
    assert visible_gpus() == ()


@pytest.mark.parametrize(
    ("variable", "found"),
    [
        ("2,3", ("2", "3")),
        (" 0 , 1", ("0", "1")),
        ("", ()),
        ("-1", ()),
        ("0,-1,1", ("0",)),  # as CUDA reads it
        ("NoDevFiles", ()),
        ("GPU-aaaa,MIG-1111", ("GPU-aaaa", "MIG-1111")),
        ("MIG-GPU-aaaa/1/0", ("MIG-GPU-aaaa/1/0",)),
    ],
)
def test_the_environment_says_which_are_ours(
    machine: Any, monkeypatch: pytest.MonkeyPatch, variable: str, found: tuple[str, ...]
) -> None:
    machine(TWO)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", variable)
    assert visible_gpus() == found


@pytest.mark.parametrize(
    ("workers", "gpus", "count", "expected"),
    [
        (2, 1, 2, [("0",), ("1",)]),
        (2, 1, 4, [("0",), ("1",)]),
        (2, 2, 4, [("0", "1"), ("2", "3")]),
        (4, 0.5, 2, [("0",), ("0",), ("1",), ("1",)]),
        (3, 0.5, 2, [("0",), ("0",), ("1",)]),
        (3, 1 / 3, 1, [("0",)] * 3),
        (3, 0.3, 1, [("0",)] * 3),
        (2, 0.7, 2, [("0",), ("1",)]),
        (2, 0, 0, [(), ()]),
    ],
)
def test_workers_share_gpus(workers: int, gpus: float, count: int, expected: Any) -> None:
    assert share_gpus(workers, gpus, [str(number) for number in range(count)]) == expected


@pytest.mark.parametrize(
    ("workers", "gpus", "count", "message"),
    [
        (
            2,
            2,
            3,
            r"gpus: 2 workers with 2 each need 4 GPUs, but got found=3 \(0, 1, 2\); ask for fewer workers, or",
        ),
        (4, 1, 2, r"4 workers with 1 each need 4 GPUs, .* two with gpus=0.5 share one"),
        (5, 0.5, 2, r"5 workers with 0.5 each need 3 GPUs, but got found=2"),
        (1, 8, 2, r"1 worker with 8 each need 8 GPUs, but got found=2"),
        (2, 1, 0, r"need 2 GPUs, but got found=none; `nvidia-smi -L` lists .* or pass gpus=0"),
        (2, 1.5, 4, "must be a whole number, or below 1"),
        (2, -1, 4, "must be a number of GPUs for each worker"),
        (2, float("nan"), 4, "must be a number of GPUs for each worker"),
        (2, True, 4, "must be a number of GPUs for each worker"),
        (2, "1", 4, "must be a number of GPUs for each worker"),
    ],
)
def test_too_few_gpus_are_named(
    monkeypatch: pytest.MonkeyPatch, workers: int, gpus: Any, count: int, message: str
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with pytest.raises(InvalidArgument, match=message):
        share_gpus(workers, gpus, [str(number) for number in range(count)])


def test_a_search_without_its_gpus_leaves_no_study_behind(machine: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="need 2 GPUs"):
        xs.minimize(
            lambda trial: 1.0, SPACE, trials=1, study="s", storage=tmp_path / "s.db", executor=xs.Processes(2, gpus=1)
        )
    with pytest.raises(InvalidArgument, match="need 1 GPU,"):
        xs.minimize(
            lambda trial: 1.0, SPACE, trials=1, study="s", storage=tmp_path / "s.db", executor=xs.Processes(gpus=1)
        )
    assert not (tmp_path / "s.db").exists()


def looking(trial: Any) -> float:
    trial.note("place", [trial.worker, trial.device, os.environ.get("CUDA_VISIBLE_DEVICES"), trial.cores])
    trial.note("threads", {name: os.environ.get(name) for name in THREADS})
    return 1.0


def test_each_worker_sees_its_own(machine: Any, tmp_path: Path) -> None:
    def objective(trial: Any) -> float:
        (tmp_path / f"worker-{trial.worker}").touch()
        until(lambda: len(list(tmp_path.glob("worker-*"))) == 4)  # so each worker has a trial
        return looking(trial)

    machine(TWO)
    study = xs.minimize(objective, SPACE, trials=4, method="random", executor=xs.Processes(4, gpus=0.5)).study
    places = {tuple(trial.attrs["place"][:3]) for trial in study.trials}
    assert places == {(number, "cuda:0", "GPU-aaaa" if number < 2 else "GPU-bbbb") for number in range(4)}


def test_this_process_sees_all(machine: Any) -> None:
    machine(TWO)
    (trial,) = xs.minimize(looking, SPACE, trials=1, method="random", executor=xs.Processes(gpus=1)).study.trials
    assert trial.attrs["place"] == [0, "cuda:0", None, available_cores()]
    (trial,) = xs.minimize(looking, SPACE, trials=1, method="random", executor=xs.Processes(gpus=0)).study.trials
    assert trial.attrs["place"][1] == "cpu"


def test_without_gpus_the_device_is_the_first_that_is_seen(machine: Any) -> None:
    assert RunningTrial(JOB).device == "cpu"
    machine(TWO)
    assert RunningTrial(JOB).device == "cuda:0"
    assert RunningTrial(JOB, Place(3, 2, ())).device == "cpu"
    assert RunningTrial(JOB, Place(3, 2, ())).worker == 3


def test_workers_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "available_cores", lambda: 8)
    assert [place.cores for place in share(3)] == [2, 2, 2]
    assert [place.cores for place in share(20)] == [1] * 20
    assert [place.cores for place in share(2, cores=3)] == [3, 3]
    assert share(2)[1].environment({}) == dict.fromkeys(THREADS, "4")
    own = {"OMP_NUM_THREADS": "7", "HOME": "/home"}
    assert share(2)[1].environment(own) == {**dict.fromkeys(THREADS, "4"), **own}
    overruled = share(2, cores=3)[1].environment(own, overrule=True)
    assert overruled == {**dict.fromkeys(THREADS, "3"), "HOME": "/home"}
    assert share(1)[0].environment(own) == own  # one worker has all, and its libraries know best
    with pytest.raises(InvalidArgument, match="cores: must be a whole number of at least 1"):
        share(2, cores=0)


def test_worker_processes_have_as_many_threads_as_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in THREADS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "5")
    (trial,) = xs.minimize(looking, SPACE, trials=1, workers=2, method="random").study.trials
    each = str(max(1, available_cores() // 2))
    assert trial.attrs["threads"] == {**dict.fromkeys(THREADS, each), "MKL_NUM_THREADS": "5"}
    (trial,) = xs.minimize(looking, SPACE, trials=1, method="random", executor=xs.Processes(cores=3)).study.trials
    assert trial.attrs["threads"] == dict.fromkeys(THREADS, "3")
    assert trial.attrs["place"][3] == 3
    assert trial.attrs["place"][1] in ("cpu", "cuda:0")
