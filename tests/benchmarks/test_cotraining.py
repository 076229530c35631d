"""A long co-training run that is continued from call to call is the run that was never interrupted."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks import cotrain
from benchmarks.harness import machine
from benchmarks.harness.experiment import main
from benchmarks.harness.records import Record, Store, Task

torch = pytest.importorskip("torch")

from benchmarks.workloads import cotraining  # noqa: E402
from benchmarks.workloads import cotraining_state as state  # noqa: E402
from benchmarks.workloads.device import MOMENTUM  # noqa: E402
from tests.benchmarks.small_cotraining import small  # noqa: E402

torch.set_num_threads(1)  # small matrices: threads only get in each other's way


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


@pytest.mark.parametrize("which", ["Layers", "Activations"])
def test_a_compact_checkpoint_keeps_all_but_the_momentum(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "PART", 1000)
    first, file = small(which), tmp_path / "run.pt"
    first.advance(7)
    state.save(first, file, compact=True)
    assert len(list(tmp_path.glob("run.*.pt"))) == -(-sum(param.numel() for param in first.params) // 1000)
    second = small(which)
    state.load(second, file)
    assert second.done == 7
    for ours, theirs in zip(second.params, first.params, strict=True):
        assert_array_equal(ours.detach().numpy(), theirs.detach().half().float().numpy())
    for ours, theirs, left in zip(second.points, first.points, first.left, strict=True):
        assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
        assert left <= len(ours)
    assert torch.equal(second.queue[:, : len(second.points[0])], first.queue[:, : len(first.points[0])])
    assert not any(speed.any() for speed in second.speed)
    assert_array_equal(second.pairs.theta.numpy(), first.pairs.theta.numpy())
    second.advance(3)
    assert second.done == 10


@pytest.mark.parametrize("which", ["Layers", "Activations"])
def test_a_fused_step_is_the_step(which: str) -> None:
    plain, fused = small(which), small(which)
    fused.fuse(backend="aot_eager")  # what is compiled is the same, and there is no compiler to wait for
    for experiment in (plain, fused):
        torch.manual_seed(5)
        experiment.advance(5)
    for ours, theirs in zip(fused.params, plain.params, strict=True):
        assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-4, atol=1e-6)
    assert_allclose(fused.pairs.theta.numpy(), plain.pairs.theta.numpy(), rtol=1e-9)
    assert not torch.all(fused.pairs.theta == 0.5)


def test_runs_of_other_seeds_have_other_weights_and_those_of_the_same_do_not() -> None:
    data = small("Layers").data

    def made(seeds: int, first: int) -> Any:
        return cotraining.Experiment(cotraining.Layers(6), data, seeds, 0.05, torch.device("cpu"), first)

    both, later = made(2, 0), made(1, 1)
    assert torch.equal(both.params[0][1], later.params[0][0])
    assert not torch.equal(both.params[0][0], later.params[0][0])


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


def test_a_step_of_the_weights_is_nesterovs() -> None:
    experiment = small("Activations")
    before = [param.detach().clone() for param in experiment.params]
    experiment.speed = [torch.rand_like(param) for param in before]
    speed = [each.clone() for each in experiment.speed]
    grads = [torch.rand_like(param) for param in before]
    experiment._descend([grad.clone() for grad in grads])
    for param, was, v, grad in zip(experiment.params, before, speed, grads, strict=True):
        g = grad + cotraining.DECAY * was
        v = MOMENTUM * v + g
        torch.testing.assert_close(param.detach(), was - 0.05 * (g + MOMENTUM * v))


def test_runs_of_other_seeds_are_told_as_one() -> None:
    def run(first: int, seeds: int, iterations: int, error: float) -> Record:
        task = Task.of(first, "layers", "side by side", seeds=seeds, rate=0.01, iterations=iterations)
        moment = {"iteration": iterations, "seconds": 10.0, "cGA": {"error": [error] * seeds, "ones": [1] * seeds}}
        return Record(task, {"iterations": iterations, "curve": [moment]}, {})

    one, other = cotrain.pooled([run(0, 2, 50, 1.0), run(0, 1, 90, 3.0), run(2, 1, 50, 2.0)])
    assert (one[2], other[2]) == (3, 1)
    assert one[1]["curve"][-1]["cGA"] == {"error": [1.0, 1.0, 2.0], "ones": [1, 1, 1]}
    assert one[1]["curve"][-1]["seconds"] == 20.0
    assert other[1]["curve"][-1]["cGA"]["error"] == [3.0]
