"""Searches that train for real go on from call to call, and what the device broke is not a result."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import xstar as xs
from benchmarks.workloads import device, kept_search

SPACE = xs.Space(x=xs.Float(0.0, 1.0))


def parabola(trial: Any) -> dict[str, float]:
    return {"error": (trial["x"] - 0.5) ** 2, "test": trial["x"]}


def broken_once(trial: Any) -> dict[str, float]:
    """The device is not ready for the first process that asks for it."""
    with device.device_errors():
        try:
            os.close(os.open(os.environ["XSTAR_TEST_MARK"], os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return parabola(trial)
        raise RuntimeError("CUDA error: CUDA-capable device(s) is/are busy or unavailable")


def stuck_once(trial: Any) -> dict[str, float]:
    """The first process that trains makes some progress, and then none; the others are slow, but go on."""
    with device.device_errors(patience=3.0):
        pace = device.Pace("cpu")
        try:
            os.close(os.open(os.environ["XSTAR_TEST_MARK"], os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            for _ in range(4):
                time.sleep(1.0)
                pace.keep()
            return parabola(trial)
        pace.keep()
        time.sleep(600.0)
    raise AssertionError("it was not ended")


def always_broken(trial: Any) -> dict[str, float]:
    raise RuntimeError("CUDA error: CUDA-capable device(s) is/are busy or unavailable")


def search(objective: Any, file: Path, trials: int, **how: Any) -> Any:
    given = {"method": "random", "seed": 0, "workers": 1, **how}
    return kept_search.search(objective, SPACE, file, time.time() + 120.0, trials=trials, metric="error", **given)


def test_a_search_goes_on_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "random-0.jsonl"
    first, _ = search(parabola, file, 3)
    more, best = search(parabola, file, 5)
    assert [trial.value for trial in more[:3]] == [trial.value for trial in first]
    assert len(more) == 5
    assert best.value == min(trial.value for trial in more)
    ((name, count, shown, test),) = kept_search.under_way(tmp_path, set(), "error")
    assert (name, count) == ("random-0", "5")
    assert (shown, test) == (f"{best.value:.4g}", f"{best.metrics['test']:.4g}")
    assert kept_search.under_way(tmp_path, {"random-0"}, "error") == []


def test_a_search_that_was_begun_with_other_retries_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "random-0.jsonl"
    search(parabola, file, 2, retries=1)
    more, _ = search(parabola, file, 3)
    assert len(more) == 3


def test_a_call_without_time_begins_nothing(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="call again"):
        kept_search.search(parabola, SPACE, tmp_path / "a.jsonl", time.time(), trials=3, metric="error")
    assert list(tmp_path.iterdir()) == []


def test_a_trial_that_the_device_broke_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "PAUSE", 0.0)
    monkeypatch.setenv("XSTAR_TEST_MARK", str(tmp_path / "mark"))
    done, _ = search(broken_once, tmp_path / "random-0.jsonl", 4, workers=2)
    assert (tmp_path / "mark").exists()
    assert [trial.value is None for trial in done] == [False] * 4
    assert (tmp_path / "random-0.jsonl").read_text(encoding="utf-8").count("the device failed") == 1


def test_a_trial_that_is_stuck_is_run_again_and_says_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XSTAR_TEST_MARK", str(tmp_path / "mark"))
    file = tmp_path / "random-0.jsonl"
    done, _ = search(stuck_once, file, 3, workers=2)
    assert [trial.value is None for trial in done] == [False] * 3
    (killed,) = [line for line in file.read_text(encoding="utf-8").splitlines() if '"killed"' in line]
    assert "in stuck_once" in killed


def test_a_search_that_the_device_broke_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="device failed in 4 trials"):
        search(always_broken, tmp_path / "random-0.jsonl", 4, max_failures=None)


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        ("CUDA error: CUDA-capable device(s) is/are busy or unavailable", True),
        ("CUDA error: MPS client failed to connect", True),
        ("CUDA out of memory. Tried to allocate 2.00 GiB", False),
        ("Given groups=1, weight of size [3, 3]", False),
        (None, False),
    ],
)
def test_errors_of_the_device_are_told_from_those_of_a_network(text: str | None, machine: bool) -> None:
    assert device.of_the_machine(text) is machine


def test_the_host_is_one_step_ahead_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    told: list[str] = []

    class Event:
        made = 0

        def __init__(self) -> None:
            Event.made += 1
            self.number, self.asked = Event.made, 0

        def record(self) -> None:
            told.append(f"record {self.number}")

        def query(self) -> bool:
            told.append(f"ask for {self.number}")
            self.asked += 1
            return self.asked == 2

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(device, "time", SimpleNamespace(sleep=lambda seconds: told.append("sleep")))
    pace = device.Pace("cuda:0")
    for _ in range(3):
        pace.keep()
    waits = [["record 2", "ask for 1", "sleep", "ask for 1"], ["record 3", "ask for 2", "sleep", "ask for 2"]]
    assert told == ["record 1", *waits[0], *waits[1]]
    device.Pace("cpu").keep()
    assert Event.made == 3
