"""Raylets, actors, workers and the driver are killed at random: nothing is lost, none is stuck, none runs twice at once."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import xstar as xs
from tests.executors.clusters import add_node, ray_cluster
from xstar.inspect.audit import audit

PROGRAM = Path(__file__).with_name("ray_program.py")
SLOTS = int(os.environ.get("XSTAR_TEST_SLOTS", "64"))
TRIALS = {"random": 2000, "asha": 2000, "mobster": 2000}
if "XSTAR_TEST_TRIALS" in os.environ:  # for a machine, or a moment, with less
    TRIALS = dict.fromkeys(TRIALS, int(os.environ["XSTAR_TEST_TRIALS"]))

KILLS = ["worker"] * 5 + ["actor"] * 3 + ["node"] * 2 + ["driver"] * 2

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes through /proc"),
]


def processes_of(folder: Path, program: str) -> list[int]:
    """Processes of our own cluster and driver, known by a mark in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                marked = f"XSTAR_TEST={folder}".encode() in (entry / "environ").read_bytes()
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if marked and program.encode() in words:
                found.append(int(entry.name))
    return found


def _processes_to_kill(folder: Path, program: str, seconds: float = 300.0) -> list[int]:
    """At least one: just after a node died there may be none for a while."""
    until = time.monotonic() + seconds
    while not (found := processes_of(folder, program)):
        assert time.monotonic() < until, f"no process of {program} in {seconds:g} s"
        time.sleep(0.05)
    return found


@pytest.mark.parametrize("method", list(TRIALS))
def test_nothing_is_lost_whatever_dies(tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs").mkdir()
    monkeypatch.setenv("XSTAR_TEST", str(tmp_path))
    dice = random.Random(7)
    errors = tmp_path / "errors.txt"
    each = SLOTS // 4
    victims = KILLS * (2 if TRIALS[method] >= 1000 else 1)
    dice.shuffle(victims)
    often = TRIALS[method] // (len(victims) + 2)

    def begun() -> int:
        return len(os.listdir(tmp_path / "runs"))

    with ray_cluster(each, each, each, each) as cluster:

        def start() -> subprocess.Popen[bytes]:
            with errors.open("ab") as file:
                words = [cluster.address, str(tmp_path), str(TRIALS[method]), method, str(SLOTS)]
                return subprocess.Popen([sys.executable, str(PROGRAM), *words], stderr=file, stdout=file)

        driver = start()
        try:
            for number, victim in enumerate(victims, start=1):  # by progress, not by time: the machine may be busy
                while begun() < number * often and driver.poll() is None:
                    time.sleep(dice.uniform(0.01, 0.2))
                assert driver.poll() is None, errors.read_text()[-3000:]
                if victim == "driver":
                    driver.kill()
                    driver.wait()
                    driver = start()
                elif victim == "node":
                    nodes = sorted(cluster.worker_nodes, key=lambda node: node.unique_id)
                    cluster.remove_node(dice.choice(nodes), allow_graceful=False)
                    add_node(cluster, each)
                else:
                    program = "start_worker.py" if victim == "worker" else "ray::Relay"
                    _kill(dice.choice(_processes_to_kill(tmp_path, program)))
            driver.wait(3000)
            assert driver.returncode == 0, errors.read_text()[-3000:]
        finally:
            driver.kill()
            driver.wait()
    _check(tmp_path, method)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _check(folder: Path, method: str) -> None:
    with xs.Study.open("chaos", storage=folder / "chaos.db") as study:
        history = study.history
        assert len(history.trials) == TRIALS[method]
        assert history.count(xs.State.RUNNING, xs.State.WAITING, xs.State.FAILED) == 0
        for trial in history.trials:
            assert [reading.budget for reading in trial.reports] == list(range(1, trial.budget + 1))
            assert (trial.budget == 9) == (trial.state is xs.State.COMPLETE)
        assert sum(trial.crashes for trial in history.trials) > 0
        assert audit(study).findings == []
    for path in (folder / "runs").iterdir():
        assert_one_at_a_time(path)


def assert_one_at_a_time(path: Path) -> None:
    """Once another run of a trial has begun, no earlier one speaks of it again."""
    over: set[str] = set()
    current = ""
    for line in path.read_text().splitlines():
        _, who, _ = line.split()
        assert who not in over, f"{path.name}: {line}"
        if who != current:
            over.add(current)
            current = who
