"""Co-training of a small CNN on a few images of two colours."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks import cotrain_cifar
from benchmarks.harness import machine
from benchmarks.harness.experiment import main
from benchmarks.harness.records import Store
from benchmarks.workloads import cifar_training as cifar

torch = pytest.importorskip("torch")

from benchmarks.workloads import cotraining_cifar as workload  # noqa: E402

torch.set_num_threads(1)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = torch.arange(60) % 2
    images = torch.randn(60, 3, 32, 32, generator=torch.Generator().manual_seed(0)) + 2.0 * classes.view(-1, 1, 1, 1)
    found = images.bfloat16().to(memory_format=torch.channels_last), classes
    monkeypatch.setattr(cifar, "images_on", lambda device: found)
    for name, value in {"TRAIN": 40, "VALID": 10}.items():
        monkeypatch.setattr(cifar, name, value)
    monkeypatch.setattr(workload, "BATCH", 20)
    monkeypatch.setattr(workload, "Network", partial(workload.Network, (4, 4)))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("method", cotrain_cifar.METHODS)
def test_each_method_learns_two_colours(method: str) -> None:
    found = workload.run(method, 8, 0, "cpu", rows=40)
    assert found["bits"] == 16
    assert found["test"] <= 0.2
    assert [epoch for epoch, _ in found["curve"]] == list(range(1, 9))
    assert found["ones"] == {"ReLU": 16, "tanh": 0}.get(method, found["ones"])
    assert ("decided" in found) == (method in workload.LEARNED)


@pytest.mark.usefixtures("small")
def test_a_channel_is_tanh_or_relu_by_its_bit() -> None:
    module = workload.Network()
    module.eval()
    images, _ = cifar.images_on("cpu")
    handed: list[Any] = []
    module.convolutions[1].register_forward_hook(lambda one, given, out: handed.append(given[0]))
    bits = torch.zeros(1, 16)
    bits[0, 1] = 1.0
    with torch.no_grad():
        module(images[:5], bits.expand(5, -1))
    (first,) = handed
    assert first[:, 0].min() < 0.0  # tanh
    assert first[:, 1].min() >= 0.0  # ReLU


@pytest.mark.usefixtures("small")
def test_the_command_records_each_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(machine, "changes", lambda root=None: [])
    monkeypatch.setattr(workload, "run", partial(workload.run, rows=40))
    given = ["--methods", "PBIL-λ,ReLU", "--seeds", "1", "--epochs", "2", "--device", "cpu", "--processes", "0"]
    main(cotrain_cifar.EXPERIMENT, [*given, "--records", str(tmp_path)])
    assert sorted(task.method for task in Store(tmp_path / "cotrain_cifar.jsonl").read()) == ["PBIL-λ", "ReLU"]
    assert "| PBIL-λ | 1 |" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="no time is left"):
        main(cotrain_cifar.EXPERIMENT, [*given, "--records", str(tmp_path / "new"), "--minutes", "-1"])
