"""Domains, pools and modifiers: what a search over architectures moves in."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.nets.cases import chain
from xstar.errors import InvalidArgument, InvalidConfig, InvalidSpace
from xstar.nets import (
    CNN,
    MLP,
    Cell,
    CellNetwork,
    Chain,
    Graph,
    InvalidGraph,
    Label,
    Layer,
    modifiers,
    mutate,
    register_label,
)
from xstar.nets.describe import describe, described_by

DOMAINS: list[Any] = [
    MLP(64, 10),
    MLP(9, task="regression", units=(4, 64), max_layers=12),
    MLP(3, 2, labels=("relu", "tanh")),
    MLP(3, max_layers=4, max_edges=3),
    CNN(32),
    CNN((8, 11), channels=1, classes=4),
    CNN(1, 1, 2),
    CNN(16, labels=("conv5", "avg-pool"), max_degree=2),
    Cell(),
    Cell(3, ("none", "skip_connect")),
    Chain(("nor_conv_1x1", "nor_conv_3x3", "skip_connect"), max_length=5, min_length=2),
]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_domains_keep_their_promises(domain: Any) -> None:
    assert isinstance(domain, xs.Domain)
    rng = np.random.default_rng(0)
    names = described_by(domain)
    for _ in range(40):
        value = domain.sample(rng)
        assert domain.contains(value)
        near = domain.mutate(value, rng)
        assert domain.contains(near)
        for one in (value, near):
            assert np.isfinite(describe(one, names)).all()
            data = json.loads(json.dumps(domain.dump(one)))
            assert domain.parse(data) == one
            assert hash(domain.parse(data)) == hash(one)
    assert pickle.loads(pickle.dumps(domain)) == domain
    first, again = domain.sample(np.random.default_rng(1)), domain.sample(np.random.default_rng(1))
    assert first == again
    space = xs.Space(clean=xs.Bool(), net=domain)
    assert xs.Space.from_json(json.loads(json.dumps(space.to_json()))) == space
    config = space.sample(rng)
    assert space.parse(config)["net"] == config["net"]


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: MLP(0), "inputs"),
        (lambda: MLP(4, 0), "outputs"),
        (lambda: MLP(4, task="ranking"), "task"),
        (lambda: MLP(4, units=(8, 4)), "units"),
        (lambda: MLP(4, units=8), "units"),  # type: ignore[arg-type]
        (lambda: MLP(4, max_layers=0), "max_layers"),
        (lambda: MLP(4, max_mass=-1), "max_mass"),
        (lambda: MLP(4, labels=("relu", "relu")), "labels"),
        (lambda: MLP(4, labels=("conv3",)), "labels"),
        (lambda: MLP(4, labels=("linear",)), "labels"),
        (lambda: MLP(4, max_layers=3), "mlp"),
        (lambda: CNN(0), "image"),
        (lambda: CNN((8, 8, 8)), "image"),  # type: ignore[arg-type]
        (lambda: CNN(8, 0), "channels"),
        (lambda: CNN(8, 1, 1), "classes"),
        (lambda: CNN(8, labels=("max-pool", "fc")), "labels"),
        (lambda: Cell(1), "nodes"),
        (lambda: Cell(4, ("none",)), "operations"),
        (lambda: Cell(4, ("none", "relu")), "operations"),
        (lambda: MLP.from_json({"inputs": 3, "depth": 4}), "mlp"),
    ],
)
def test_domains_that_make_no_sense(make: Any, argument: str) -> None:
    with pytest.raises(InvalidSpace) as caught:
        make()
    assert caught.value.argument == argument


IP, OP, LINEAR, SOFTMAX, RELU = Layer("ip"), Layer("op"), Layer("linear"), Layer("softmax"), Layer("relu", 8)


@pytest.mark.parametrize(
    ("domain", "graph", "words"),
    [
        (MLP(4), chain(IP, RELU, LINEAR, OP), "^value: "),  # does not say what it is for
        (MLP(4), chain(IP, RELU, SOFTMAX, OP, inputs=4, outputs=1), "^op: "),
        (MLP(4), chain(IP, Layer("relu", 7), LINEAR, OP, inputs=4, outputs=1), "^units of relu: "),
        (MLP(4), chain(IP, Layer("relu", 1025), LINEAR, OP, inputs=4, outputs=1), "^units of relu: "),
        (MLP(4, labels=("tanh",)), chain(IP, RELU, LINEAR, OP, inputs=4, outputs=1), "^op: "),
        (MLP(4, max_layers=4), chain(IP, RELU, RELU, LINEAR, OP, inputs=4, outputs=1), "^layers: "),
        (MLP(4, max_mass=50), chain(IP, RELU, RELU, LINEAR, OP, inputs=4, outputs=1), "^mass: "),
        (MLP(4), chain(IP, Layer("conv3", 8), SOFTMAX, OP), "^value: "),
        (MLP(4), "relu", "^value: "),
        (
            MLP(4, max_degree=2),
            Graph(
                [IP, RELU, RELU, RELU, LINEAR, OP],
                [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (4, 5)],
                inputs=4,
                outputs=1,
            ),
            "^parents of a layer: ",
        ),
    ],
)
def test_what_a_domain_does_not_contain(domain: Any, graph: Any, words: str) -> None:
    assert not domain.contains(graph)
    with pytest.raises(InvalidGraph if words != "^value: " else InvalidConfig, match=words):
        domain.check(graph)
    with pytest.raises(InvalidConfig):
        xs.Space(net=domain).parse({"net": graph})


@pytest.mark.parametrize("data", [None, 3, {"layers": []}, {"layers": [["ip"]], "edges": []}])
def test_stored_values_that_are_none(data: Any) -> None:
    with pytest.raises(InvalidArgument):
        MLP(4).parse(data)
    with pytest.raises(InvalidArgument):
        Cell().parse(data)


# --- pools --------------------------------------------------------------------------------------------------------


def test_the_pool_of_cnns() -> None:
    pool = CNN(1024).pool
    assert [len(graph) for graph in pool] == [18, 21, 24, 27, 10, 13, 16, 19, 22, 23]
    masses = [302881.3, 750164.5, 1197447.7, 1644730.9, 76111.4, 187932.2, 299753.0, 411573.8, 523394.6, 1655779.8]
    np.testing.assert_allclose([graph.mass for graph in pool], masses, rtol=1e-6)
    assert len(CNN(32).pool) == len(CNN(8, 1).pool) == 10


def test_the_pool_of_mlps() -> None:
    pool = MLP(4).pool
    assert [len(graph) - 3 for graph in pool] == [6, 8, 10, 12, 12, 16, 18, 20, 24, 24]
    assert [one.units for one in pool[0].layers[1:-2]] == [64, 64, 128, 128, 256, 256]
    assert [one.units for one in pool[2].layers[1:-2]] == [64, 64, 128, 128, 256, 256, 512, 512, 512, 512]
    for graph in pool:  # rectifiers and sigmoids in turn
        groups = [one.label.group for one in graph.layers[1:-2]]
        assert set(groups) == {"rectifier", "sigmoid"}
    assert len(MLP(4).pool) == len(set(MLP(4).pool)) == 10
    assert [one.op for one in MLP(4, 3).pool[0].layers[-2:]] == ["softmax", "op"]


# --- modifiers ----------------------------------------------------------------------------------------------------


def test_a_skip_between_images_of_different_sizes_pools() -> None:
    conv, pool = Layer("conv3", 8), Layer("max-pool")
    graph = chain(IP, conv, pool, conv, pool, conv, SOFTMAX, OP)
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(200):
        found = modifiers.skip(graph, rng)
        assert found is not None
        seen.add(sum(one.op == "avg-pool" for one in found.layers))
    assert seen == {0, 1, 2}


def test_a_removed_halving_moves_to_a_neighbour() -> None:
    half, conv = Layer("conv3", 8, 2), Layer("conv3", 8)
    edges = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (5, 6)]
    graph = Graph([IP, conv, half, half, conv, SOFTMAX, OP], edges)
    rng = np.random.default_rng(1)
    kept = [found for _ in range(50) if (found := modifiers.remove_layer(graph, rng)) is not None]
    assert kept
    assert {max(size for size in found.halvings if size is not None) for found in kept} == {1}
    graph = chain(IP, conv, half, conv, SOFTMAX, OP)
    kept = [found for _ in range(50) if (found := modifiers.remove_layer(graph, rng)) is not None]
    assert [one.stride for one in graph.layers[1:4]] == [1, 2, 1]
    assert {tuple(one.stride for one in found.layers[1:3]) for found in kept} == {(1, 2), (2, 1)}


def test_mutation_takes_as_many_steps_as_the_paper_says(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, rng = MLP(9).pool[0], np.random.default_rng(4)
    taken: Counter[int] = Counter()
    for _ in range(2000):
        calls: list[int] = []

        def step(graph: Graph, rng: np.random.Generator, labels: Any = None, calls: list[int] = calls) -> Graph:
            calls.append(1)
            return graph

        mutate(graph, rng, modifiers=(step,))
        taken[len(calls)] += 1
    np.testing.assert_allclose([taken[k] / 2000 for k in range(1, 6)], modifiers.STEPS, atol=0.04)


def test_a_mutation_without_a_way_stays_where_it_is() -> None:
    graph = MLP(9).pool[0]
    assert mutate(graph, np.random.default_rng(0), lambda _: False) is graph


def test_mutations_stay_within_limits_for_long() -> None:
    rng = np.random.default_rng(5)
    for domain in (MLP(9, max_layers=20, max_edges=30), CNN(16, 3, 10, max_layers=25)):
        graph, sizes = domain.pool[0], set()
        for _ in range(300):
            graph = domain.mutate(graph, rng)
            domain.check(graph)
            sizes.add(len(graph))
        assert len(sizes) > 5


def test_domains_use_labels_of_your_own() -> None:
    register_label(Label("test-sine", family="mlp"), {"tanh": 0.2})
    domain = MLP(4, labels=("relu", "test-sine"))
    rng = np.random.default_rng(0)
    used = {one.op for _ in range(20) for one in domain.sample(rng).layers}
    assert used == {"ip", "relu", "test-sine", "linear", "op"}
    assert all("test-sine" not in {one.op for one in MLP(4).sample(rng).layers} for _ in range(20))


# --- cells --------------------------------------------------------------------------------------------------------


def test_all_cells_of_nas_bench_201() -> None:
    domain = Cell()
    assert domain.size == 15625
    rng = np.random.default_rng(0)
    cells = {domain.sample(rng) for _ in range(3000)}
    assert len(cells) > 2500
    for cell in list(cells)[:300]:
        assert list(cell.config) == [f"op{edge}" for edge in range(6)]
        near = domain.mutate(cell, rng)
        assert sum(a != b for a, b in zip(cell.operations, near.operations, strict=True)) == 1


def test_a_cell_as_a_graph() -> None:
    cell = CellNetwork(("nor_conv_3x3", "nor_conv_1x1", "skip_connect", "none", "avg_pool_3x3", "nor_conv_3x3"))
    ops = [layer.op for layer in cell.graph.layers]
    assert ops == [
        *("ip", "nor_conv_3x3", "nor_conv_1x1", "skip_connect", "avg_pool_3x3", "nor_conv_3x3"),
        *("softmax", "op"),
    ]
    assert cell.graph.edges == ((0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (3, 5), (4, 6), (5, 6), (6, 7))
    assert cell.graph.masses[1:6] == (256.0, 256.0, 16.0, 16.0, 256.0)
    cut = CellNetwork(("nor_conv_3x3", "none", "none", "none", "none", "nor_conv_3x3"))
    assert [layer.op for layer in cut.graph.layers] == ["ip", "none", "softmax", "op"]
