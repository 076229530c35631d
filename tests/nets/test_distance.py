"""OTMANN: the reference values, the paper's claims, and the quick way against plain ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import ot
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from tests.nets.cases import random_cnn, random_graphs, random_mlp, renumbered
from xstar.errors import InvalidArgument
from xstar.nets import (
    CNN,
    MLP,
    STRUCTURE,
    CellNetwork,
    Graph,
    InvalidGraph,
    Label,
    Layer,
    distances,
    normalise,
    otmann,
    register_label,
    transport as solver,
)
from xstar.nets.labels import cost, label
from xstar.nets.measures import path_lengths

REFERENCE = Path(__file__).parents[3] / "shared" / "papers" / "otmann_reference.json"


def costs_of(a: Graph, b: Graph, nu: float) -> NDArray[np.float64]:
    """C_lmm + ν C_str, entry by entry, with 1e3 for ∞."""
    groups = [None, *a.family.groups]
    lengths = [[[plain_lengths(one, group, u) for u in range(len(one))] for group in groups] for one in (a, b)]
    found = np.empty((len(a), len(b)))
    for i in range(len(a)):
        for j in range(len(b)):
            per_group = [np.mean(np.abs(np.subtract(lengths[0][g][i], lengths[1][g][j]))) for g in range(len(groups))]
            found[i, j] = min(cost(a.layers[i].op, b.layers[j].op), 1e3) + nu * np.mean(per_group)
    return found


def plain_lengths(graph: Graph, group: str | None, u: int) -> list[float]:
    """Shortest, longest and mean over random walks, by going through all paths."""
    counts = [group is None or label(one.op).group == group for one in graph.layers]

    def walks(place: int, near: Any) -> list[tuple[float, float]]:
        if not near[place]:
            return [(0.0, 1.0)]
        return [
            (counts[place] + length, chance / len(near[place]))
            for other in near[place]
            for length, chance in walks(other, near)
        ]

    found = []
    for near in (graph.parents, graph.children):
        paths = walks(u, near)
        lengths = [length for length, _ in paths]
        found += [min(lengths), max(lengths), sum(length * chance for length, chance in paths)]
    return found


def by_linprog(a: Graph, b: Graph, nu: float) -> float:
    """Program (3) of the paper as it stands."""
    table = costs_of(a, b, nu)
    n, m = table.shape
    # Each matched unit saves the two units of non-assignment it would have cost.
    bound = np.zeros((n + m, n * m))
    for i in range(n):
        bound[i, i * m : (i + 1) * m] = 1.0
    for j in range(m):
        bound[n + j, j::m] = 1.0
    answer = linprog((table - 2.0).ravel(), A_ub=bound, b_ub=[*a.masses, *b.masses], method="highs")
    assert answer.status == 0
    assert answer.fun is not None
    return float(answer.fun + sum(a.masses) + sum(b.masses))


def by_emd2(a: Graph, b: Graph, nu: float) -> float:
    table = np.ones((len(a) + 1, len(b) + 1))
    position = np.abs(path_lengths(a)[:, None] - path_lengths(b)[None]).mean(axis=2)
    mismatch = [[min(cost(x.op, y.op), 1e3) for y in b.layers] for x in a.layers]
    table[:-1, :-1] = np.array(mismatch) + nu * position
    table[-1, -1] = 0.0
    supply, demand = np.array([*a.masses, sum(b.masses)]), np.array([*b.masses, sum(a.masses)])
    whole = supply.sum()
    return float(ot.emd2(supply / whole, demand / whole, table) * whole)


# --- reference values ---------------------------------------------------------------------------------------------


def test_two_pairs_of_the_reference() -> None:
    """Checked also where the file of the next test, which is not ours to commit, is absent."""
    ends = [Layer("linear"), Layer("op")]
    a = Graph([Layer("ip"), Layer("relu", 64), Layer("tanh", 32), *ends], [(i, i + 1) for i in range(4)])
    b = Graph(
        [Layer("ip"), Layer("relu", 64), Layer("elu", 64), Layer("tanh", 32), *ends], [(i, i + 1) for i in range(5)]
    )
    np.testing.assert_allclose(a.masses, [211.2, 64.0, 2048.0, 211.2, 211.2], rtol=1e-12)
    ops = [
        *("conv7", "max-pool", "res3", "avg-pool", "res5", "res3", "conv7", "max-pool", "conv3", "res5"),
        *("max-pool", "fc"),
    ]
    units = [16, None, 32, None, 32, 32, 32, None, 128, 16, None, 256]
    layers = [Layer("ip"), *map(Layer, ops, units), Layer("softmax"), Layer("op")]
    edges = [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 4),
        (4, 5),
        (4, 6),
        (6, 7),
        (5, 8),
        (7, 8),
        *((i, i + 1) for i in range(8, 14)),
    ]
    cnn = Graph(layers, edges)
    for nu, mlps, share, cnns in ((0.1, 5416.32, 0.500769231, 23772.356), (0.8, 6056.96, 0.56, 25008.608)):
        np.testing.assert_allclose(otmann(a, b, nu), mlps, rtol=1e-6)
        np.testing.assert_allclose(otmann(a, b, nu, normalised=True), share, rtol=1e-6)
        np.testing.assert_allclose(otmann(figure_3()[0], cnn, nu), cnns, rtol=1e-6)


@pytest.mark.skipif(not REFERENCE.is_file(), reason=f"no {REFERENCE.name} beside the checkout")
def test_the_reference() -> None:
    data = json.loads(REFERENCE.read_text(encoding="utf-8"))
    graphs = {
        name: Graph([Layer(*entry) for entry in one["layers"]], [(u, v) for u, v in one["edges"]])
        for name, one in data["networks"].items()
    }
    for name, masses in data["masses"].items():
        np.testing.assert_allclose(graphs[name].masses, masses, rtol=1e-12)
    assert len(data["distances"]) > 200
    for first, second, nu, d, normalised in data["distances"]:
        for a, b in ((first, second), (second, first)):
            np.testing.assert_allclose(otmann(graphs[a], graphs[b], nu), d, rtol=1e-6, atol=0)
            np.testing.assert_allclose(otmann(graphs[a], graphs[b], nu, normalised=True), normalised, rtol=1e-6, atol=0)
    for family in ({"cnn", "vgg", "fig"}, {"mlp"}):
        names = [name for name in graphs if name[:3] in family]
        together = distances([graphs[name] for name in names])
        for first, second, nu, d, _ in data["distances"]:
            if first in names and nu in STRUCTURE:
                found = together[names.index(first), names.index(second), STRUCTURE.index(nu)]
                np.testing.assert_allclose(found, d, rtol=1e-6, atol=0)


def figure_3() -> tuple[Graph, Graph]:
    head = [Layer("fc", 16), Layer("softmax"), Layer("op")]
    left = Graph(
        [Layer("ip"), Layer("conv3", 16), Layer("conv3", 16), Layer("conv3", 32), *head],
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)],
    )
    right = Graph(
        [Layer("ip"), Layer("conv3", 16), Layer("conv3", 8), Layer("conv3", 8), Layer("conv3", 32), *head],
        [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (5, 6), (6, 7)],
    )
    return left, right


def test_figure_3_is_exactly_zero() -> None:
    left, right = figure_3()
    assert left != right
    assert (distances([left], [right]) == 0.0).all()
    assert otmann(left, right) == otmann(right, left, normalised=True) == 0.0


def test_masses_by_hand() -> None:
    left, right = figure_3()
    # 16·1, 16·16, 32·16, 0.1·16·32; a tenth of their sum for input, output and decision
    np.testing.assert_allclose(left.masses, [83.52, 16, 256, 512, 51.2, 83.52, 83.52], rtol=1e-15)
    np.testing.assert_allclose(right.masses, [83.52, 16, 128, 128, 512, 51.2, 83.52, 83.52], rtol=1e-15)
    residual = Graph(
        [Layer("ip"), Layer("res3", 16), Layer("max-pool"), Layer("softmax"), Layer("softmax"), Layer("op")],
        [(0, 1), (1, 2), (2, 3), (2, 4), (3, 5), (4, 5)],
    )
    np.testing.assert_allclose(residual.masses, [4.8, 32, 16, 2.4, 2.4, 4.8], rtol=1e-15)
    np.testing.assert_allclose(residual.mass, 62.4, rtol=1e-15)


def test_path_lengths_by_going_through_all_paths() -> None:
    for graph in random_graphs(11, 30, [6, 9, 12]):
        found = path_lengths(graph)
        for place, group in enumerate([None, *graph.family.groups]):
            for u in range(len(graph)):
                np.testing.assert_allclose(
                    found[u, 6 * place : 6 * place + 6], plain_lengths(graph, group, u), rtol=1e-12
                )


# --- against plain ways -------------------------------------------------------------------------------------------


def test_the_distance_is_the_linear_program() -> None:
    rng = np.random.default_rng(2)
    for make, sizes in ((random_mlp, [4, 5, 6, 8, 9]), (random_cnn, [6, 7, 9, 10])):
        graphs = [make(rng, int(rng.choice(sizes))) for _ in range(8)]
        for nu in (0.0, 0.1, 0.8, 3.0):
            found = distances(graphs, structure=(nu,))
            for i in range(len(graphs)):
                for j in range(i):
                    np.testing.assert_allclose(found[i, j, 0], by_linprog(graphs[i], graphs[j], nu), rtol=1e-8)


def test_large_networks_against_the_plain_way() -> None:
    rng = np.random.default_rng(3)
    for make in (random_mlp, random_cnn):
        graphs = [make(rng, size) for size in (15, 25, 40, 60)]
        found = distances(graphs, graphs[::-1])
        for i, a in enumerate(graphs):
            for j, b in enumerate(graphs[::-1]):
                plain = [by_emd2(a, b, nu) for nu in STRUCTURE]
                np.testing.assert_allclose(found[i, j], plain, rtol=1e-9, atol=1e-6)


def test_networks_of_a_search_against_the_plain_way() -> None:
    # Relatives share layers, places and masses, which is where the shortcuts are.
    rng = np.random.default_rng(4)
    for domain in (MLP(9), CNN(16, 1, 10)):
        graphs = [domain.pool[0], domain.pool[5]]
        for _ in range(18):
            graphs.append(domain.mutate(graphs[int(rng.integers(len(graphs)))], rng))
        found = distances(graphs)
        for i, a in enumerate(graphs):
            for j in range(i):
                plain = [by_emd2(a, graphs[j], nu) for nu in STRUCTURE]
                np.testing.assert_allclose(found[i, j], plain, rtol=1e-9, atol=1e-6 * a.mass)


def test_labels_that_cost_nothing_to_swap() -> None:
    register_label(Label("test-relu", family="mlp", group="rectifier"), {"relu": 0.0})
    rng = np.random.default_rng(6)
    graphs = []
    for _ in range(10):
        graph = random_mlp(rng, 8)
        names = {"elu": "test-relu", "softplus": "relu", "tanh": "test-relu", "logistic": "relu"}
        layers = [Layer(names.get(one.op, one.op), one.units) for one in graph.layers]
        graphs.append(Graph(layers, graph.edges))
    graphs += [
        Graph([Layer(swap.get(one.op, one.op), one.units) for one in graph.layers], graph.edges)
        for graph in graphs
        for swap in [{"relu": "test-relu", "test-relu": "relu"}]
    ]
    found = distances(graphs)
    assert (found[np.arange(10), np.arange(10) + 10] == 0.0).all()
    for i, a in enumerate(graphs):
        for j in range(i):
            np.testing.assert_allclose(found[i, j, 1], by_linprog(a, graphs[j], STRUCTURE[1]), rtol=1e-8, atol=1e-6)


# --- properties ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [random_mlp, random_cnn])
@pytest.mark.parametrize("batches", [4, pytest.param(100, marks=pytest.mark.slow)])
def test_properties_of_random_graphs(make: Any, batches: int) -> None:
    rng = np.random.default_rng(7)
    for _ in range(batches):
        graphs = [make(rng, int(rng.integers(6, 16))) for _ in range(25)]
        d = distances(graphs)
        moved = [renumbered(graph, rng) for graph in graphs]
        np.testing.assert_array_equal(distances(moved), d)  # to the last bit
        np.testing.assert_array_equal(distances(graphs, moved), d)
        np.testing.assert_array_equal(d, d.transpose(1, 0, 2))
        assert (d >= 0.0).all()
        assert (d[np.arange(25), np.arange(25)] == 0.0).all()
        detour = (d[:, :, None] + d[None]).min(axis=1)
        assert (d <= detour * (1 + 1e-12) + 1e-9).all()
        bar = normalise(d, graphs, graphs)
        assert (bar <= 1.0 + 1e-12).all()
        assert bar.max() > 0.5
        assert (np.diff(d, axis=2) >= -1e-9).all()  # a higher price of position never makes networks closer


def test_a_distance_has_the_same_bits_in_any_company() -> None:
    rng = np.random.default_rng(8)
    domain = CNN(32)
    graphs = [domain.sample(rng) for _ in range(140)]  # more than one chunk
    together = distances(graphs[:8], graphs)
    np.testing.assert_array_equal(together, distances(graphs, graphs[:8]).transpose(1, 0, 2))
    np.testing.assert_array_equal(together[:, 100:], distances(graphs[:8], graphs[100:]))
    np.testing.assert_array_equal(together, distances(graphs[:8], graphs, threads=3))
    np.testing.assert_array_equal(together[:, :20], distances(graphs[:20])[:8])
    for i, j in [(0, 139), (3, 3), (7, 100)]:
        np.testing.assert_array_equal(distances([graphs[j]], [graphs[i]])[0, 0], together[i, j])


def test_heavy_networks() -> None:
    # Masses of 1e8 and differences of one unit: the solver must neither give up nor round them away.
    def wide(units: int) -> Graph:
        layers = [Layer("ip"), *[Layer("relu", 1024)] * 90, Layer("elu", units), Layer("linear"), Layer("op")]
        return Graph(layers, [(number, number + 1) for number in range(len(layers) - 1)])

    a, b = wide(1024), wide(1023)
    assert a.mass > 1e8
    np.testing.assert_allclose(otmann(a, b), 1024 * 1.3, rtol=1e-9)


# --- the interface ------------------------------------------------------------------------------------------------


def test_order_and_repetition_of_structure() -> None:
    graphs = random_graphs(9, 6, [9])[::2]
    straight = distances(graphs, structure=(0.1, 0.2, 0.4, 0.8))
    np.testing.assert_array_equal(
        distances(graphs, structure=[0.8, 0.1, 0.1, 0.4, 0.2]), straight[:, :, [3, 0, 0, 2, 1]]
    )
    of_array = distances(graphs, structure=np.array([0.2]))  # type: ignore[arg-type]
    np.testing.assert_allclose(of_array, straight[:, :, [1]], rtol=1e-12)


def test_mistakes_are_named() -> None:
    mlp, cnn = random_graphs(9, 2, [9])
    with pytest.raises(InvalidGraph, match="of one family"):
        otmann(mlp, cnn)
    for structure in (-0.1, float("nan"), "x", True):
        with pytest.raises(InvalidArgument, match="structure"):
            otmann(mlp, mlp, structure)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="structure"):
        distances([mlp], structure=())
    with pytest.raises(InvalidArgument, match="left"):
        distances([mlp, "net"])
    with pytest.raises(InvalidArgument, match="threads"):
        distances([mlp], threads=0)


def test_a_solver_that_fails_is_not_papered_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "MOST_PIVOTS", 1)
    graphs = random_graphs(9, 6, [12])[::2]
    with pytest.raises(solver.TransportFailed):
        distances(graphs, threads=1)


def test_cells_are_compared_by_their_graphs() -> None:
    same = [
        CellNetwork(("none", "nor_conv_3x3", op, "none", "none", "nor_conv_3x3")) for op in ("none", "skip_connect")
    ]
    assert otmann(same[0], same[1]) == 0.0  # 1→2 is fed by nothing
    other = CellNetwork(("none", "nor_conv_1x1", "none", "none", "none", "nor_conv_3x3"))
    np.testing.assert_allclose(otmann(same[0], other), 0.2 * 256, rtol=1e-12)
