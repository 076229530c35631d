"""From graph to module: shapes, gradients, and the paper's rules for joining, residuals and several decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xstar.errors import InvalidArgument
from xstar.nets import CNN, MLP, Cell, Chain, Graph, InvalidGraph, Label, Layer, register_label

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch import nn  # noqa: E402

torch.set_num_threads(1)

OWN = ("nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
SMALL: dict[str, Any] = {"units": (8, 32), "max_mass": 2e5}
DOMAINS: list[tuple[Any, tuple[int, ...]]] = [
    (MLP(7, **SMALL), (7,)),
    (MLP(5, 3, **SMALL), (5,)),
    (CNN(8, 1, 4, max_layers=30, **SMALL), (1, 8, 8)),
    (CNN((9, 6), 3, 2, max_layers=30, **SMALL), (3, 9, 6)),
]


def check(graph: Graph, shape: tuple[int, ...], outputs: int, classifies: bool) -> None:
    module = graph.to_torch()
    x = torch.randn(3, *shape)
    found = module(x)
    assert found.shape == (3, outputs)
    if classifies:
        torch.testing.assert_close(found.exp().sum(dim=1), torch.ones(3))
        loss = torch.nn.functional.cross_entropy(found, torch.tensor([0, 1, 0]))
    else:
        loss = found.square().mean()
    assert torch.isfinite(loss)
    loss.backward()
    for name, weights in module.named_parameters():
        assert weights.grad is not None, name
        assert torch.isfinite(weights.grad).all(), name


@pytest.mark.parametrize(("domain", "shape"), DOMAINS, ids=repr)
@pytest.mark.parametrize("thorough", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_random_graphs_compute_and_learn(domain: Any, shape: tuple[int, ...], thorough: bool) -> None:
    count = (1200 if domain.kind == "mlp" else 200) if thorough else 15
    torch.manual_seed(0)
    rng = np.random.default_rng(1)
    graph = domain.sample(rng)
    for number in range(count):
        # Long walks leave the pool behind: skips, doubled decisions, vectors that meet.
        graph = domain.sample(rng) if number % 20 == 0 else domain.mutate(graph, rng)
        check(graph, shape, domain.outputs_of, domain.decision == "softmax")


def test_cells_compute() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        cell = Cell().sample(rng)
        module = cell.graph.to_torch(inputs=(3, 8, 8), outputs=5)
        assert module(torch.randn(2, 3, 8, 8)).shape == (2, 5)


@pytest.mark.parametrize("domain", [Cell(), Chain(("nor_conv_3x3", "skip_connect")), Chain(OWN)])
def test_a_value_of_a_cell_or_a_chain_makes_its_module(domain: Any) -> None:
    value = domain.sample(np.random.default_rng(0))
    assert value.to_torch((3, 8, 8), 10)(torch.zeros(2, 3, 8, 8)).shape == (2, 10)
    assert value.to_torch(inputs=(3, 8, 8), outputs=10).graph == value.graph


def test_parents_are_concatenated_in_order() -> None:
    layers = [Layer("ip"), Layer("relu", 3), Layer("tanh", 2), Layer("elu", 4), Layer("linear"), Layer("op")]
    graph = Graph(layers, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5)], inputs=6, outputs=1)
    module = graph.to_torch()
    x = torch.randn(5, 6)
    taken = torch.cat([module.layers["1"](x), module.layers["2"](x)], dim=1)
    torch.testing.assert_close(module(x), module.layers["4"](module.layers["3"](taken)))


def test_several_decisions_are_averaged() -> None:
    layers = [Layer("ip"), Layer("relu", 3), Layer("softmax"), Layer("softmax"), Layer("op")]
    edges = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)]
    module = Graph(layers, edges, inputs=4, outputs=3).to_torch()
    x = torch.randn(5, 4)
    hidden = module.layers["1"](x)
    both = [module.layers[number](hidden).softmax(dim=1) for number in "23"]
    torch.testing.assert_close(module(x).exp(), (both[0] + both[1]) / 2)
    layers[2:4] = [Layer("linear")] * 2
    module = Graph(layers, edges, inputs=4, outputs=2).to_torch()
    hidden = module.layers["1"](x)
    torch.testing.assert_close(module(x), (module.layers["2"](hidden) + module.layers["3"](hidden)) / 2)


def test_a_residual_layer_carries_its_input() -> None:
    layers = [Layer("ip"), Layer("res3", 2), Layer("softmax"), Layer("op")]
    graph = Graph(layers, [(0, 1), (1, 2), (2, 3)], inputs=(2, 4, 4), outputs=2)
    residual = graph.to_torch().layers["1"]
    for weights in residual.body.parameters():
        torch.nn.init.zeros_(weights)
    x = torch.randn(1, 2, 4, 4)
    torch.testing.assert_close(residual(x), x.relu())
    assert sum(isinstance(part, torch.nn.Conv2d) for part in residual.modules()) == 2


def test_units_are_those_of_the_graph() -> None:
    # What each module hands on is what the masses were computed from.
    rng = np.random.default_rng(3)
    for domain, shape in DOMAINS:
        graph = domain.sample(rng)
        module = graph.to_torch().eval()
        seen: dict[str, int] = {}
        for number, part in module.layers.items():
            part.register_forward_hook(
                lambda _, __, out, number=number, seen=seen: seen.__setitem__(number, out.shape[1])
            )
        module(torch.randn(2, *shape))
        for number, one in enumerate(graph.layers):
            if one.label.role == "processing":
                own = one.units if one.units is not None else sum(seen[str(u)] for u in graph.parents[number])
                assert seen[str(number)] == own


def test_odd_crelu() -> None:
    graph = Graph(
        [Layer("ip"), Layer("crelu", 5), Layer("linear"), Layer("op")], [(0, 1), (1, 2), (2, 3)], inputs=2, outputs=1
    )
    assert graph.to_torch().layers["1"](torch.randn(3, 2)).shape == (3, 5)


def test_what_is_missing_is_named() -> None:
    layers = [Layer("ip"), Layer("conv3", 8, 2), Layer("softmax"), Layer("op")]
    graph = Graph(layers, [(0, 1), (1, 2), (2, 3)])
    with pytest.raises(InvalidArgument, match="inputs"):
        graph.to_torch()
    with pytest.raises(InvalidGraph, match="at most 0 times"):
        graph.to_torch(inputs=(1, 1, 1), outputs=2)
    assert graph.to_torch(inputs=(1, 2, 2), outputs=2)(torch.randn(2, 1, 2, 2)).shape == (2, 2)


def test_labels_of_your_own_bring_their_module() -> None:
    class Sine(nn.Module):
        def __init__(self, incoming: int, units: int) -> None:
            super().__init__()
            self.dense = torch.nn.Linear(incoming, units)

        def forward(self, x: Any) -> Any:
            return torch.sin(self.dense(x))

    edges = [(0, 1), (1, 2), (2, 3)]
    register_label(Label("test-siren", family="mlp", builder=lambda incoming, units, stride: Sine(incoming, units)))
    layers = [Layer("ip"), Layer("test-siren", 4), Layer("linear"), Layer("op")]
    check(Graph(layers, edges, inputs=3, outputs=1), (3,), 1, classifies=False)
    register_label(Label("test-bare", family="mlp"))
    layers[1] = Layer("test-bare", 4)
    with pytest.raises(InvalidArgument, match="builder"):
        Graph(layers, edges, inputs=3, outputs=1).to_torch()
