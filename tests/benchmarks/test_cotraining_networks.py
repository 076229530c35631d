"""The networks of the co-training benchmark, trained side by side, are the networks trained alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from numpy.testing import assert_allclose

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from benchmarks.workloads import cotraining, fixed_networks, pairs  # noqa: E402
from tests.benchmarks.small_cotraining import small  # noqa: E402


def test_the_pairs_of_the_benchmark_are_the_cores() -> None:
    assert pairs.compare_with_the_core(torch.device("cpu")) < 1e-11


def alone(net: Any, p: list[Any], x: Any, m: Any) -> Any:
    """One network, one structure, in the paper's words."""
    h = torch.relu(x @ p[0] + p[1]) if net.key == "layers" else x
    if net.key == "layers":
        for k in range(net.bits):
            h = h + m[k] * torch.relu(h @ p[2][k] + p[3][k])
        return h @ p[4] + p[5]
    for layer in range(3):
        z = h @ p[2 * layer] + p[2 * layer + 1]
        on = m[layer * net.width : (layer + 1) * net.width]
        h = torch.relu(z) * on + torch.tanh(z) * (1 - on)
    return h @ p[6] + p[7]


@pytest.mark.parametrize("which", ["Layers", "Activations"])
def test_networks_side_by_side_are_networks_alone(which: str) -> None:
    run = small(which, tests=1000)
    data = run.data
    nets: list[list[Any]] = []
    for replica in range(run.replicas):
        views = run._per_replica([param.detach() for param in run.params])
        nets.append([nn.Parameter(view[replica].clone()) for view in views])
    optimizers = [torch.optim.SGD(net, lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4) for net in nets]
    drawn: list[Any] = []
    draw: Callable[[Any], Any] = run.pairs.draw

    def kept(uniform: Any) -> Any:
        drawn.append(draw(uniform))
        return drawn[-1]

    run.pairs.draw = kept
    for step in range(5):
        queued = [run.queue[seed, run.place[seed]].clone() for seed in range(2)]
        run.advance(1)
        batch = run.order.view(2, run.epoch, 64)[:, step % run.epoch]
        for replica, net in enumerate(nets):
            seed = replica % 2
            single = queued[seed] if replica < 6 else run.fixed[replica - 6]
            pair = drawn[-1][replica] if replica < 4 else single[None]
            x, y = data["x_train"][batch[seed]], data["y_train"][batch[seed]]
            losses = [functional.cross_entropy(alone(run.net, net, x, m.float()), y) for m in pair]
            optimizers[replica].zero_grad()
            torch.stack(losses).mean().backward()
            if run.net.clips:
                nn.utils.clip_grad_norm_(net, 2.0)
            optimizers[replica].step()
    views = run._per_replica([param.detach() for param in run.params])
    for replica, net in enumerate(nets):
        for view, param in zip(views, net, strict=True):
            assert_allclose(view[replica].numpy(), param.detach().numpy(), rtol=0, atol=2e-6)
    errors = run.test()
    for replica, net in enumerate(nets):
        m = run.structures()[replica].float()
        wrong = alone(run.net, net, data["x_test"], m).argmax(1) != data["y_test"]
        assert errors[replica] == pytest.approx(100 * wrong.float().mean().item(), abs=0.25)
    assert all(core.generation > 0 for core in run.cores)


def test_networks_with_fixed_activations_are_networks_alone_at_their_own_rates() -> None:
    data, rates = small("Activations").data, (0.05, 0.2)
    run = fixed_networks.Grid(cotraining.Activations(6), data, 2, rates, torch.device("cpu"))
    assert run.replicas == 2 * 3 * 2 * 2
    nets = [[nn.Parameter(param[replica].detach().clone()) for param in run.params] for replica in range(24)]
    he, lecun = (nets[place][0] for place in (4, 0))  # of the same seed: the same random numbers
    torch.testing.assert_close(he, 2**0.5 * lecun)
    batches = []
    for step in range(4):
        run.advance(1)
        batches.append(run.order.view(2, run.epoch, 64)[:, step % run.epoch].clone())
    for replica, net in enumerate(nets):
        sgd = torch.optim.SGD(net, lr=rates[replica // 12], momentum=0.9, nesterov=True, weight_decay=1e-4)
        structure = torch.full((18,), float(replica % 4 >= 2))  # tanh, then ReLU, of two seeds each
        for batch in batches:
            x, y = data["x_train"][batch[replica % 2]], data["y_train"][batch[replica % 2]]
            sgd.zero_grad()
            functional.cross_entropy(alone(run.net, net, x, structure), y).backward()
            sgd.step()
        for param, own in zip(run.params, net, strict=True):
            assert_allclose(param[replica].detach().numpy(), own.detach().numpy(), rtol=0, atol=2e-6)
