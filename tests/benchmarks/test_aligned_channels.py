"""A network with channels in multiples of eight is the network it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from benchmarks.workloads import cifar_training as cifar  # noqa: E402
from benchmarks.workloads.aligned_channels import MULTIPLE, align  # noqa: E402
from xstar import nets  # noqa: E402

ODD = {
    "layers": [
        ["ip"], ["conv3", 21], ["res5", 43, 2], ["avg-pool"], ["res3", 64], ["max-pool"], ["conv7", 19], ["res3", 83],
        ["fc", 37], ["softmax"], ["op"],
    ],
    "edges": [[0, 1], [1, 2], [1, 3], [2, 4], [3, 4], [4, 5], [5, 6], [5, 7], [6, 7], [7, 8], [8, 9], [9, 10]],
}  # fmt: skip


def networks() -> list[Any]:
    """Random ones after many modifications."""
    domain, rng = cifar.domain(), np.random.default_rng(0)
    found = []
    for _ in range(4):
        graph = domain.sample(rng)
        for _ in range(6):
            graph = domain.mutate(graph, rng)
        found.append(graph)
    return found


def made(graph: Any) -> Any:
    """The same weights each time."""
    torch.manual_seed(0)
    return graph.to_torch(inputs=(3, 32, 32), outputs=10).double()


def outcome(module: Any, images: Any, steps: int = 3) -> list[Any]:
    """Outputs along some steps of SGD with all that the training has, and the outputs without training at the end."""
    optimizer = torch.optim.SGD(module.parameters(), 0.05, momentum=0.9, nesterov=True, weight_decay=5e-4)
    outputs = []
    module.train()
    for _ in range(steps):
        outputs.append(module(images))
        loss = torch.nn.functional.cross_entropy(outputs[-1], torch.arange(len(images)) % 10)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 5.0)
        optimizer.step()
    module.eval()
    return [*outputs, module(images)]


@pytest.mark.parametrize("case", range(5))
def test_an_aligned_network_is_trained_like_the_one_it_was(case: int) -> None:
    # 43 and 21 channels, and 64 and 19, come to residual layers with as many units: nothing is projected there
    graph = nets.Graph.from_json(ODD) if case == 4 else networks()[case]
    plain, same = made(graph), made(graph)
    aligned = align(same)
    convolutions = [each for each in aligned.modules() if isinstance(each, torch.nn.Conv2d)]
    assert all(each.in_channels % MULTIPLE == 0 and each.out_channels % MULTIPLE == 0 for each in convolutions)
    images = torch.randn(6, 3, 32, 32, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    for ours, theirs in zip(outcome(aligned, images), outcome(plain, images), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-10)
