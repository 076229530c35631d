"""The training of MLPs at the paper's size, and the search with it, at a size for a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import nasbot_uci
from benchmarks.harness import machine
from benchmarks.harness.experiment import main
from benchmarks.harness.records import Store
from benchmarks.workloads import mlp_graph_training as training
from benchmarks.workloads.mlp_training import FILES, WORST, Split
from xstar import nets

torch = pytest.importorskip("torch")

torch.set_num_threads(1)
SMALL = {"iterations": 40, "every": 20, "batch": 32, "warmup": 5, "most_units": 16, "max_layers": 12, "rate": 0.01}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SMALL.items():
        monkeypatch.setitem(training.TRAINING, name, value)


def line(rows: int, spread: float = 1.0) -> Split:
    """y = the first of three inputs, in three equal parts."""
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(3, rows, 3, generator=rng)
    return Split(*((part, spread * part[:, :1]) for part in x))


def network() -> nets.Graph:
    return nets.MLP(inputs=3, units=(8, 16), max_layers=12).pool[0]


@pytest.mark.usefixtures("small")
def test_a_network_learns_a_line_the_same_way_every_time() -> None:
    first, second = (training.train(network(), line(200), 3, "cpu") for _ in range(2))
    assert first["mse"] == second["mse"]
    assert first["mse"] < 0.5  # a constant errs by 1
    assert abs(first["test"] - first["mse"]) < 0.3
    assert training.train(network(), line(200), 4, "cpu")["mse"] != first["mse"]


@pytest.mark.usefixtures("small")
def test_the_rate_rises_and_falls() -> None:
    steps = training.Steps(network().to_torch(), line(50), 0, "cpu")
    rates = steps.rates.numpy()
    wanted = [0.01 * min(1.0, at / 5) * (1.0 - (at - 1) / 40) for at in range(1, 41)]
    np.testing.assert_allclose(rates, wanted, rtol=1e-5)


@pytest.mark.usefixtures("small")
def test_steps_that_warm_up_leave_no_trace() -> None:
    first, second = (training.Steps(network().to_torch(), line(50), 0, "cpu") for _ in range(2))
    second.model.load_state_dict(first.model.state_dict())
    second.before = [param.detach().clone() for param in second.params]
    for _ in range(3):
        second.one()
    second.restore()
    for steps in (first, second):
        steps.several()
    for mine, theirs in zip(first.params, second.params, strict=True):
        assert torch.equal(mine, theirs)


@pytest.mark.usefixtures("small")
def test_a_network_that_diverges_counts_as_the_worst() -> None:
    found = training.train(network(), line(200, spread=1e30), 0, "cpu")
    assert (found["mse"], found["test"]) == (WORST, WORST)


@pytest.mark.usefixtures("small")
def test_the_search_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(machine, "changes", lambda root=None: [])
    rng = np.random.default_rng(0)
    table = rng.normal(size=(60, 5))
    file = tmp_path / "data" / FILES["naval"]
    file.parent.mkdir(parents=True)
    np.savez(file, data=table, feature_index=np.arange(4), target_index=np.array([4]))
    monkeypatch.setenv("XSTAR_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(nasbot_uci, "FINAL", 1)
    given = ["--problems", "naval", "--methods", "treebo,evolution", "--seeds", "1", "--evaluations", "3"]
    given += ["--workers", "1", "--device", "cpu", "--processes", "0", "--records", str(tmp_path)]
    main(nasbot_uci.EXPERIMENT, [*given, "--studies", str(tmp_path / "kept")])
    records = Store(tmp_path / "nasbot_uci.jsonl").read()
    assert sorted(task.method for task in records) == ["evolution", "treebo"]
    for record in records.values():
        assert record.found["failed"] == 0
        assert record.found["best"][-1][1] <= record.found["best"][0][1]
        assert len(record.found["tests"]) == 1
    assert "### naval" in capsys.readouterr().out
