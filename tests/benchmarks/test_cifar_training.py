"""How batches of images are varied while a network is trained on CIFAR-10."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch.nn import functional  # noqa: E402

from benchmarks.workloads import cifar_training as cifar  # noqa: E402
from benchmarks.workloads.cifar_steps import Steps, one_cycle  # noqa: E402
from benchmarks.workloads.network_costs import multiplications  # noqa: E402


def steps(image: Any, moved: Any) -> set[tuple[int, int]]:
    """All steps by which the first is moved to become the second."""
    padded = functional.pad(image, (cifar.SHIFT,) * 4)
    sides = range(2 * cifar.SHIFT + 1)
    return {
        (down, across)
        for down in sides
        for across in sides
        if torch.equal(padded[:, down : down + 32, across : across + 32], moved)
    }


def batch() -> Any:
    return torch.randn(64, 3, 32, 32, generator=torch.Generator().manual_seed(0)).bfloat16()


def test_each_image_is_moved_by_a_step_of_its_own() -> None:
    images = batch()
    moved = cifar.shifted_apart(images, torch.Generator().manual_seed(1))
    found = [steps(*pair) for pair in zip(images, moved, strict=True)]
    assert all(len(each) == 1 for each in found)
    assert len(set.union(*found)) > 30  # 64 draws of 81


def test_a_batch_is_moved_by_one_step() -> None:
    images = batch()
    found = [steps(*pair) for pair in zip(images, cifar.shifted_alike(images), strict=True)]
    assert len(set.intersection(*found)) == 1


@pytest.mark.parametrize("each_image", [False, True])
def test_half_of_the_images_are_mirrored(each_image: bool) -> None:
    images = torch.arange(32.0).expand(512, 3, 32, 32)  # rises from the left to the right
    out = cifar.varied(images, torch.Generator().manual_seed(0), each_image)
    mirrored = (out[:, 0, 16, 12] > out[:, 0, 16, 20]).float().mean()
    assert out.shape == images.shape
    assert 0.4 < mirrored < 0.6


def test_rates_are_those_of_one_cycle() -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], 0.05)
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.05, total_steps=156, pct_start=0.25, cycle_momentum=False)
    expected = []
    for _ in range(156):
        expected.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        cycle.step()
    assert one_cycle(156, 0.05, 0.25) == pytest.approx(expected)


def test_a_step_is_that_of_sgd() -> None:
    def network() -> Any:
        torch.manual_seed(0)
        layers = [torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Conv2d(8, 10, 30)]
        torch.nn.init.constant_(layers[1].weight, 8.0)  # large enough for gradients that are clipped
        return torch.nn.Sequential(*layers, torch.nn.Flatten()).to(memory_format=torch.channels_last).train()

    images, classes = batch(), torch.arange(64) % 10
    rates = [0.05, 0.02, 0.01]
    ours, plain = network(), network()
    steps = Steps(ours, 64, rates, 5e-4, "cpu")
    optimizer = torch.optim.SGD(plain.parameters(), momentum=0.9, nesterov=True, weight_decay=5e-4)
    for rate in rates:
        steps.take(images, classes)
        with torch.autocast("cpu", torch.bfloat16):
            out = plain(images)
        optimizer.zero_grad()
        functional.cross_entropy(out.float(), classes).backward()
        assert torch.nn.utils.clip_grad_norm_(plain.parameters(), 5.0) > 5.0
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
    for one, other in zip(ours.state_dict().values(), plain.state_dict().values(), strict=True):
        torch.testing.assert_close(one, other)


def test_what_was_tried_before_the_training_leaves_no_trace() -> None:
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 10, 32), torch.nn.BatchNorm2d(10), torch.nn.Flatten()).train()
    before = {name: each.clone() for name, each in module.state_dict().items()}
    steps = Steps(module, 64, [0.05], 5e-4, "cpu")
    steps.take(batch(), torch.zeros(64, dtype=torch.int64))
    assert any(not torch.equal(each, before[name]) for name, each in module.state_dict().items())
    steps.restore()
    assert all(torch.equal(each, before[name]) for name, each in module.state_dict().items())
    assert not any(each.any() for each in steps.speed)


def test_algorithms_are_timed_for_networks_that_are_worth_it() -> None:
    pool = cifar.domain().pool
    costs = [multiplications(net.to_json()) for net in pool]
    small, large = (pick(zip(costs, pool, strict=True), key=itemgetter(0)) for pick in (min, max))
    assert small[0] < cifar.SMALL < large[0]
    assert cifar.suited(small[1], "tuned") == "graph"
    assert cifar.suited(large[1], "tuned") == "tuned"
    assert cifar.suited(small[1], "eager") == "eager"
