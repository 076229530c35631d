"""How many multiplications a network takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.workloads import cifar_training as cifar
from benchmarks.workloads.network_costs import multiplications


def test_a_network_by_hand() -> None:
    net: dict[str, Any] = {
        "layers": [["ip"], ["conv3", 16], ["max-pool"], ["res5", 16], ["res3", 32, 2], ["fc", 64], ["softmax"], ["op"]],
        "edges": [[0, 1], [1, 2], [2, 3], [2, 4], [3, 4], [4, 5], [5, 6], [6, 7]],
    }
    first = 9 * 3 * 16 * 32**2
    second = 25 * (16 + 16) * 16 * 16**2
    third = (9 * (32 + 32) + 32) * 32 * 8**2  # from both of its parents, at half of the size, with a bridge
    assert multiplications(net) == first + second + third + 32 * 64 + 64 * 10


@pytest.mark.parametrize("case", range(3))
def test_torch_makes_as_many(case: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    domain, rng = cifar.domain(), np.random.default_rng(case)
    graph = domain.sample(rng)
    for _ in range(5):
        graph = domain.mutate(graph, rng)
    module: Any = graph.to_torch()
    counted = []

    def count(one: Any, given: Any, out: Any) -> None:
        counted.append(one.weight.numel() * (out.shape[2] * out.shape[3] if out.dim() == 4 else 1))

    for one in module.modules():
        if isinstance(one, torch.nn.Conv2d | torch.nn.Linear):
            one.register_forward_hook(count)
    module.eval()(torch.zeros(1, 3, 32, 32))
    assert multiplications(graph.to_json()) == sum(counted)
