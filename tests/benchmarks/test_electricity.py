"""Networks trained side by side are the networks one would train alone; and the table is made group by group."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.harness import machine
from benchmarks.harness.experiment import main

torch = pytest.importorskip("torch")

from benchmarks import electricity_table  # noqa: E402
from benchmarks.workloads import electricity_training as workload  # noqa: E402

CPU = torch.device("cpu")
torch.set_num_threads(1)  # small matrices: threads only get in each other's way


def config(**changes: float) -> dict[str, float]:
    usual = [1e-2, 8, 1e-3, 0.0, 0.0, 20, 33, 0.3, 0.2]
    return {**dict(zip(workload.NAMES, usual, strict=True)), **changes}


CONFIGS = [config(), config(units_1=16, units_2=64, learning_rate=1e-3), config(weight_decay=0.3, scale_1=1.0)]


def rows(count: int = 160) -> np.ndarray:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(count, 6))
    return np.column_stack([x, (x[:, 0] * x[:, 1] + 0.3 * rng.normal(size=count) > 0.2)])


def alone(given: dict[str, float], seed: int, data: Any, epochs: int) -> tuple[list[int], list[Any]]:
    """The plain way: one network, autograd, torch's Adam."""
    weights = workload.initial(given, seed, data.features)
    first, second = int(given["units_1"]), int(given["units_2"])
    biases = {"b1": torch.zeros(1, first), "b2": torch.zeros(1, second), "b3": torch.zeros(1, 1)}
    w = {name: value.clone().requires_grad_() for name, value in {**weights, **biases}.items()}
    adam = torch.optim.Adam(list(w.values()), lr=given["learning_rate"], weight_decay=given["weight_decay"])

    def logits(x: Any) -> Any:
        h = torch.relu(x @ w["W1"] + w["b1"])
        return torch.relu(h @ w["W2"] + w["b2"]) @ w["W3"] + w["b3"]

    wrong, batch = [], int(given["batch_size"])
    for epoch in range(epochs):
        for part in workload.order(epoch, len(data.x["train"])).split(batch):
            adam.zero_grad()
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                logits(data.x["train"][part]), data.y["train"][part]
            )
            loss.backward()
            adam.step()
        wrong.append(int(((logits(data.x["valid"]) > 0) != (data.y["valid"] > 0.5)).sum()))
    return wrong, [w[name].detach() for name in ("W1", "W2", "W3", "b1", "b2", "b3")]


def test_a_network_of_a_group_is_the_network_trained_alone() -> None:
    data = workload.split(rows(), CPU, (96, 32))
    found = workload.train(CONFIGS, [5, 6, 7], data, 3, CPU)
    assert found["valid"].shape == found["test"].shape == (3, 3)
    for at, given in enumerate(CONFIGS):
        wrong, _ = alone(given, 5 + at, data, 3)
        assert found["valid"][at].tolist() == wrong
    assert len({tuple(row) for row in found["valid"].tolist()}) > 1  # they do differ


def test_the_gradient_under_dropout_is_that_of_autograd(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [config(dropout_1=0.5, dropout_2=0.3), config(dropout_1=0.1, dropout_2=0.8)]
    data = workload.split(rows(), CPU, (96, 32))
    networks = workload.Networks(given, [1, 2], data.features, CPU)
    before = {name: value.clone().requires_grad_() for name, value in networks.w.items()}
    masks: list[Any] = []
    drawn = networks.mask

    def kept(z: Any, keep: Any) -> Any:
        masks.append(drawn(z, keep))
        return masks[-1]

    monkeypatch.setattr(networks, "mask", kept)
    monkeypatch.setattr(networks, "adam", lambda: None)
    x, y = data.x["train"][:64], data.y["train"][:64]
    networks.step(x, y)
    h = (x @ before["W1"] + before["b1"]) * masks[0]
    h = (h @ before["W2"] + before["b2"]) * masks[1]
    logit = h @ before["W3"] + before["b3"]
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logit, y.expand(2, -1, -1), reduction="none")
    loss.mean(dim=1).sum().backward()
    for name, wanted in before.items():
        torch.testing.assert_close(networks.g[name], wanted.grad, rtol=1e-4, atol=1e-6)
    first = masks[0][0, :, :20]
    assert set(first.unique().tolist()) == {0.0, 2.0}  # 1 / keep, or nothing


def test_networks_that_diverge_count_as_the_majority() -> None:
    data = workload.split(rows(), CPU, (96, 32))
    networks = workload.Networks(CONFIGS[:1], [5], data.features, CPU)
    networks.flat.fill_(float("nan"))
    assert int(networks.wrong(data.x["valid"], data.y["valid"])) == int(data.y["valid"].sum())
    assert data.y["train"].mean() <= 0.5


def test_groups_are_trained_once_and_gathered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "changes", lambda root=None: [])
    monkeypatch.setattr(workload, "TRAIN", 128)
    monkeypatch.setattr(workload, "VALID", 16)
    with gzip.open(tmp_path / "elec.csv.gz", "wt") as file:
        np.savetxt(file, rows(), delimiter=",", header="a,b,c,d,e,f,target")
    given = ["--wave", "4", "--waves", "1", "--epochs", "2", "--device", "cpu", "--processes", "0"]
    given += ["--data", str(tmp_path / "elec.csv.gz"), "--records", str(tmp_path), "--parts", str(tmp_path / "parts")]
    with pytest.raises(SystemExit, match="no time is left"):
        main(electricity_table.EXPERIMENT, [*given, "--minutes", "-1"])
    main(electricity_table.EXPERIMENT, given)
    made = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "parts").iterdir()}
    assert made
    main(electricity_table.EXPERIMENT, given)
    assert {file.name: file.stat().st_mtime_ns for file in (tmp_path / "parts").iterdir()} == made
    with pytest.raises(SystemExit, match="has 4 configurations"):
        main(electricity_table.EXPERIMENT, [*given, "--gather", str(tmp_path / "table.npz")])
    with np.load(tmp_path / "table.npz") as table:
        assert table["names"].tolist() == list(workload.NAMES)
        assert table["valid"].shape == table["test"].shape == (4, 2)
        assert table["sizes"].tolist() == [16, 16]
        np.testing.assert_allclose(
            table["configs"][3], [workload.design(4)[3][name] for name in workload.NAMES], rtol=1e-6
        )
    with pytest.raises(SystemExit, match="no wave of 8"):
        main(electricity_table.EXPERIMENT, [*given, "--wave", "8", "--gather", str(tmp_path / "other.npz")])
    capsys.readouterr()
