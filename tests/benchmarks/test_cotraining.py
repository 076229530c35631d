"""The co-training benchmark: a tiny run, a step of the weights, runs of several seeds told as one."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import cotrain
from benchmarks.harness import machine
from benchmarks.harness.experiment import main
from benchmarks.harness.records import Record, Store, Task


def test_runs_of_other_seeds_are_told_as_one() -> None:
    def run(first: int, seeds: int, iterations: int, error: float) -> Record:
        task = Task.of(first, "layers", "side by side", seeds=seeds, rate=0.01, iterations=iterations)
        moment = {"iteration": iterations, "seconds": 10.0, "cGA": {"error": [error] * seeds, "ones": [1] * seeds}}
        return Record(task, {"iterations": iterations, "curve": [moment]}, {})

    one, other = cotrain.pooled([run(0, 2, 50, 1.0), run(0, 1, 90, 3.0), run(2, 1, 50, 2.0)])
    assert (one[2], other[2]) == (3, 1)
    assert one[1]["curve"][-1]["cGA"] == {"error": [1.0, 1.0, 2.0], "ones": [1, 1, 1]}
    assert one[1]["curve"][-1]["seconds"] == 20.0


@pytest.mark.parametrize(("part", "told"), [("mnist", "Layer selection"), ("fixed", "| 0.03 | Glorot |")])
def test_a_tiny_run(
    part: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    from benchmarks.workloads import cotraining

    monkeypatch.setattr(machine, "changes", lambda root=None: [])
    for name in ("Layers", "Activations"):
        monkeypatch.setattr(cotraining, name, partial(getattr(cotraining, name), 4))
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 255, (130, 28, 28), dtype=np.uint8), rng.integers(0, 10, 130)
    np.savez(tmp_path / "mnist.npz", x_train=images, y_train=labels, x_test=images, y_test=labels)
    given = [
        "--part",
        part,
        "--mnist",
        str(tmp_path / "mnist.npz"),
        "--experiments",
        "layers",
        "--seeds",
        "1",
        "--device",
        "cpu",
    ]
    main(cotrain.EXPERIMENT, [*given, "--records", str(tmp_path), "--processes", "0", "--iterations", "6"])
    (record,) = Store(tmp_path / "cotrain.jsonl").read().values()
    assert record.found["iterations"] == record.found["curve"][-1]["iteration"] == 6
    assert told in capsys.readouterr().out


def test_a_step_of_the_weights_is_nesterovs() -> None:
    torch = pytest.importorskip("torch")
    from benchmarks.workloads import mnist_networks as networks
    from tests.benchmarks.small_cotraining import small

    experiment: Any = small("Activations")
    before = [param.detach().clone() for param in experiment.params]
    experiment.speed = [torch.rand_like(param) for param in before]
    speed = [each.clone() for each in experiment.speed]
    grads = [torch.rand_like(param) for param in before]
    experiment._descend([grad.clone() for grad in grads])
    momentum = networks.MOMENTUM
    for param, was, v, grad in zip(experiment.params, before, speed, grads, strict=True):
        g = grad + networks.DECAY * was
        torch.testing.assert_close(param.detach(), was - 0.05 * (g + momentum * (momentum * v + g)))
