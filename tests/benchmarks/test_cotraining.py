"""A long co-training run that is continued from call to call is the run that was never interrupted."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from benchmarks import cotrain
from benchmarks.harness import machine
from benchmarks.harness.experiment import main
from benchmarks.harness.records import Store

torch = pytest.importorskip("torch")

from benchmarks.workloads import cotraining  # noqa: E402
from benchmarks.workloads import cotraining_state as state  # noqa: E402

torch.set_num_threads(1)  # small matrices: threads only get in each other's way


def small(which: str) -> Any:
    rng = torch.Generator().manual_seed(0)
    data = {
        "x_train": torch.rand(130, 784, generator=rng),
        "y_train": torch.randint(0, 10, (130,), generator=rng),
        "x_test": torch.rand(100, 784, generator=rng),
        "y_test": torch.randint(0, 10, (100,), generator=rng),
    }
    return cotraining.Experiment(getattr(cotraining, which)(6), data, 2, 0.05, torch.device("cpu"))


@pytest.mark.parametrize("which", ["Layers", "Activations"])
def test_a_long_run_of_the_benchmark_goes_on_exactly_from_its_file(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cotraining, "SLICE", 3)
    whole = small(which)
    wanted = whole.run(20)
    file, clock, found, calls = tmp_path / "run.pt", itertools.count(), None, 0
    monkeypatch.setattr(cotraining, "time", SimpleNamespace(perf_counter=lambda: float(next(clock))))
    while found is None:
        part = small(which)
        if file.exists():
            torch.manual_seed(99)  # another process has other random numbers
            state.load(part, file)
        found = part.run(20, until=float(next(clock)) + 6.0)
        if found is None:
            state.save(part, file)
            assert part.done < 20
        calls += 1
    assert calls > 2
    assert without_times(found["curve"]) == without_times(wanted["curve"])
    for ours, theirs in zip(part.params, whole.params, strict=True):
        assert_array_equal(ours.detach().numpy(), theirs.detach().numpy())
    assert_array_equal(part.pairs.theta.numpy(), whole.pairs.theta.numpy())
    assert [core.dump() for core in part.cores] == [core.dump() for core in whole.cores]
    assert float(part.lr) == float(whole.lr) == pytest.approx(0.05 * 0.01)


def without_times(curve: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in taken.items() if name != "seconds"} for taken in curve]


def test_the_command_goes_on_from_call_to_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "changes", lambda root=None: [])
    monkeypatch.setattr(cotraining, "SLICE", 1)
    monkeypatch.setattr(cotraining, "Layers", lambda kind=cotraining.Layers: kind(4))
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 255, (130, 28, 28), dtype=np.uint8), rng.integers(0, 10, 130)
    np.savez(tmp_path / "mnist.npz", x_train=images, y_train=labels, x_test=images, y_test=labels)
    given = ["--mnist", str(tmp_path / "mnist.npz"), "--experiments", "layers", "--seeds", "1", "--device", "cpu"]
    given += ["--records", str(tmp_path), "--processes", "0", "--checkpoints", str(tmp_path / "kept")]
    with pytest.raises(SystemExit, match="needs --iterations"):
        main(cotrain.EXPERIMENT, given)
    given += ["--iterations", "6"]
    with pytest.raises(SystemExit, match="has 0 of 6 iterations: call again"):
        main(cotrain.EXPERIMENT, [*given, "--minutes", "0"])
    main(cotrain.EXPERIMENT, [*given, "--minutes", "5"])
    (record,) = Store(tmp_path / "cotrain.jsonl").read().values()
    assert record.found["iterations"] == record.found["curve"][-1]["iteration"] == 6
    capsys.readouterr()
