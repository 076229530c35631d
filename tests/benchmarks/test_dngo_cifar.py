"""The network and the images of DNGO's CIFAR-10 experiment, and its search at a size for a test."""

from __future__ import annotations

import colorsys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import dngo_cifar
from benchmarks.harness import machine
from benchmarks.harness.experiment import main
from benchmarks.harness.records import Store
from benchmarks.workloads import cifar_hyperparameters as cnn
from benchmarks.workloads import cifar_training as cifar

torch = pytest.importorskip("torch")

torch.set_num_threads(1)
STILL = dict.fromkeys(cnn.OPTIMUM, 0.0) | {"momentum": 1.0, "rate": 2.0, "deviation": 1.4, "input_deviation": 1.0}


def images(count: int) -> Any:
    return torch.randint(0, 256, (count, 3, 32, 32), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)


def test_hue_saturation_and_value_are_those_of_colorsys() -> None:
    colours = torch.rand(200, 3, generator=torch.Generator().manual_seed(1))
    colours[0], colours[1] = 0.0, 0.5  # black and grey have no hue
    hue, saturation, value = cnn.to_hsv(colours)
    wanted = np.array([colorsys.rgb_to_hsv(*each) for each in colours.tolist()])
    assert_allclose(torch.stack([hue / 6.0, saturation, value], 1).numpy(), wanted, atol=1e-5)
    assert_allclose(cnn.to_rgb(hue, saturation, value).numpy(), colours.numpy(), atol=1e-5)


def test_an_image_that_is_not_changed_is_a_window_of_itself() -> None:
    pixels = images(40)
    found = cnn.changed(pixels, STILL, torch.Generator().manual_seed(2)).numpy()
    means, spreads = (np.array(each).reshape(3, 1, 1) for each in (cifar.MEANS, cifar.SPREADS))
    for before, after in zip(pixels.numpy(), found, strict=True):
        whole = (before / 255.0 - means) / spreads
        windows = [
            one[:, row : row + 27, column : column + 27]
            for one in (whole, whole[:, :, ::-1])
            for row in range(6)
            for column in range(6)
        ]
        assert min(np.abs(window - after).max() for window in windows) < 1e-3


def test_changes_differ_from_image_to_image_and_stay_within_bounds() -> None:
    pixels = images(1).expand(50, -1, -1, -1)
    found = cnn.changed(pixels, cnn.OPTIMUM | {"pixel_dropout": 0.0}, torch.Generator().manual_seed(3))
    assert found.shape == (50, 3, 27, 27)
    assert len({float(one.sum()) for one in found}) == 50
    highest = max((1.0 - mean) / spread for mean, spread in zip(cifar.MEANS, cifar.SPREADS, strict=True))
    assert float(found.max()) <= highest + 1e-4
    dropped = cnn.changed(pixels, STILL | {"pixel_dropout": 0.25}, torch.Generator().manual_seed(3))
    assert float((dropped == 0.0).float().mean()) == pytest.approx(0.25, abs=0.01)


def test_the_network_is_that_of_table_5() -> None:
    model = cnn.network(STILL | {"deviation": 1.2}, 0)
    layers = [one for one in model if isinstance(one, torch.nn.Conv2d)]
    assert [(one.out_channels, one.kernel_size[0]) for one in layers] == [
        (96, 3), (96, 3), (192, 3), (192, 3), (192, 3), (192, 3), (192, 1), (10, 1)
    ]  # fmt: skip
    assert model[:-2](torch.zeros(1, 3, 27, 27)).shape == (1, 10, 6, 6)  # "global averaging 6 × 6"
    assert float(layers[1].weight.detach().std()) == pytest.approx(1.2 / (96 * 9) ** 0.5, rel=0.02)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty images of two colours, forty of them to learn from."""
    monkeypatch.setattr(machine, "changes", lambda root=None: [])
    classes = torch.arange(60) % 2
    pixels = torch.zeros(60, 3, 32, 32, dtype=torch.uint8)
    pixels[classes == 1] = 220
    for name, value in {"TRAIN": 40, "VALID": 10, "_kept": {"cpu": (pixels, classes)}}.items():
        monkeypatch.setattr(cnn, name, value)
    monkeypatch.setattr(cnn, "BATCH", 20)
    file = tmp_path / cifar.FILE
    file.parent.mkdir(parents=True)
    file.touch()
    monkeypatch.setenv("XSTAR_DATA", str(tmp_path))


@pytest.mark.usefixtures("small")
def test_a_network_learns_two_colours_and_one_that_diverges_is_at_chance() -> None:
    assert cnn.train(STILL | {"rate": 2.5, "decay": 5.0}, 20, 0, "cpu", rows=40)["error"] == 0.0
    assert cnn.train(STILL | {"rate": -8.0, "decay": 5.0}, 3, 0, "cpu", rows=40)["error"] == cnn.CHANCE


def test_steps_are_those_of_sgd_and_warming_up_leaves_no_trace() -> None:
    config = STILL | {"momentum": 1.0, "decay": 2.0}
    model, other = (cnn.network(config, 0).to(memory_format=torch.channels_last) for _ in range(2))
    steps = cnn.Steps(model, config, 8, "cpu")
    steps.images.normal_(generator=torch.Generator().manual_seed(5))
    steps.classes.copy_(torch.arange(8) % 10)
    for _ in range(3):  # as before a capture: the rate is 0
        steps.one()
    steps.restore()
    for mine, theirs in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(mine, theirs)
    optimizer = torch.optim.SGD(other.parameters(), 0.01, momentum=0.9, weight_decay=0.01)
    steps.rate.fill_(0.01)
    for _ in range(3):
        steps.one()
        with torch.autocast("cpu", torch.bfloat16):
            out = other(steps.images)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(out.float(), steps.classes).backward()
        optimizer.step()
    for mine, theirs in zip(model.parameters(), other.parameters(), strict=True):
        assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), rtol=1e-5, atol=1e-7)


@pytest.mark.usefixtures("small")
def test_the_search_and_its_last_network_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        cnn, "train", lambda config, *rest: {"error": config["decay"] / 10, "test": 0.5, "trained": 1.0}
    )
    given = ["--methods", "random", "--evaluations", "3", "--epochs", "1", "--workers", "1", "--device", "cpu"]
    given += ["--processes", "0", "--records", str(tmp_path), "--studies", str(tmp_path / "kept")]
    main(dngo_cifar.EXPERIMENT, [*given, "--final-epochs", "2"])
    records = Store(tmp_path / "dngo_cifar.jsonl").read()
    assert sorted((task.problem, task.method) for task in records) == [
        ("cifar10", "random"),
        ("final", "paper"),
        ("final", "random"),
    ]
    found = next(record.found for task, record in records.items() if task.problem == "cifar10")
    assert found["best"][-1][1] == pytest.approx(found["pick"]["decay"] / 10, rel=1e-4)
