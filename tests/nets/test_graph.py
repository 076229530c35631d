"""Graphs: what is a network, when two are the same, and how they are stored."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.nets.cases import chain, random_cnn, random_graphs, random_mlp, renumbered
from xstar.errors import InvalidArgument
from xstar.nets import Graph, InvalidGraph, Label, Layer, register_label
from xstar.nets.labels import cost, labels

IP, OP, LINEAR, SOFTMAX = Layer("ip"), Layer("op"), Layer("linear"), Layer("softmax")
RELU = Layer("relu", 8)


# --- validation ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layers", "edges", "words"),
    [
        ([IP, RELU, RELU, LINEAR, OP], [(0, 1), (1, 2), (2, 1), (2, 3), (3, 4)], "in a circle"),
        ([IP, RELU, LINEAR, OP], [(0, 1), (1, 1), (1, 2), (2, 3)], "in a circle"),
        ([IP, RELU, LINEAR, OP, OP], [(0, 1), (1, 2), (2, 3), (2, 4)], "exactly one 'op'"),
        ([IP, RELU, LINEAR], [(0, 1), (1, 2)], "exactly one 'op'"),
        ([IP, IP, RELU, LINEAR, OP], [(0, 2), (1, 2), (2, 3), (3, 4)], "exactly one 'ip'"),
        ([RELU, LINEAR, OP], [(0, 1), (1, 2)], "exactly one 'ip'"),
        ([], [], "exactly one 'ip'"),
        ([IP, RELU, OP], [(0, 1), (1, 2)], "from decision layers only"),
        ([IP, RELU, LINEAR, RELU, LINEAR, OP], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], "to the output only"),
        ([IP, RELU, LINEAR, SOFTMAX, OP], [(0, 1), (1, 2), (2, 3), (2, 4), (3, 4)], "to the output only"),
        ([IP, LINEAR, OP], [(0, 1), (1, 2)], "between input and decision"),
        ([IP, RELU, RELU, LINEAR, OP], [(0, 1), (1, 3), (2, 3), (3, 4)], "path from the input"),
        ([IP, RELU, RELU, LINEAR, OP], [(0, 1), (0, 2), (1, 3), (3, 4)], "path to the output"),
        ([IP, RELU, LINEAR, OP], [(0, 1), (1, 2), (2, 4)], "layers 0 … 3"),
        ([IP, RELU, LINEAR, OP], [(0, 1), (0, 1), (1, 2), (2, 3)], "once each"),
        ([IP, RELU, LINEAR, OP], [(0, 1), (1, 2), (2, 3), "ab"], "by their numbers"),
        ([IP, RELU, LINEAR, OP], [(0, 1), (1, 2), (2, 3), 7], "pairs"),
        ([IP, RELU, Layer("conv3", 8), LINEAR, OP], [(0, 1), (1, 2), (2, 3), (3, 4)], "of one family"),
        ([IP, Layer("conv3", 8), LINEAR, OP], [(0, 1), (1, 2), (2, 3)], "of one family"),
    ],
)
def test_each_violation_is_named(layers: list[Layer], edges: list[Any], words: str) -> None:
    with pytest.raises(InvalidGraph, match=words):
        Graph(layers, edges)


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        (("conv4", 8), "op"),
        ((None,), "op"),
        (("relu",), "units of relu"),
        (("relu", 0), "units of relu"),
        (("relu", 2.5), "units of relu"),
        (("relu", True), "units of relu"),
        (("max-pool", 8), "units of max-pool"),
        (("conv3", 8, 3), "stride of conv3"),
        (("relu", 8, 2), "stride of relu"),
    ],
)
def test_layers_are_checked(arguments: tuple[Any, ...], argument: str) -> None:
    with pytest.raises(InvalidGraph, match=f"^{argument}: "):
        Layer(*arguments)


def test_layers_are_canonical() -> None:
    assert Layer("relu", np.int64(8)) == Layer("relu", 8.0) == RELU  # type: ignore[arg-type]
    assert type(Layer("relu", np.int64(8)).units) is int  # type: ignore[arg-type]
    assert Layer("max-pool") == Layer("max-pool", stride=2)
    assert repr(Layer("conv3", 64, stride=2)) == "Layer('conv3', 64, stride=2)"


def test_images_have_to_fit() -> None:
    conv, half, pool, dense = Layer("conv3", 8), Layer("conv3", 8, 2), Layer("max-pool"), Layer("fc", 8)
    with pytest.raises(InvalidGraph, match="images of one size"):  # a half and a whole image are joined
        Graph([IP, conv, pool, conv, SOFTMAX, OP], [(0, 1), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5)])
    with pytest.raises(InvalidGraph, match="images of one size"):  # a vector and an image are joined
        Graph([IP, conv, dense, SOFTMAX, OP], [(0, 1), (1, 2), (1, 3), (2, 3), (3, 4)])
    with pytest.raises(InvalidGraph, match="an image"):  # a convolution of a vector
        chain(IP, conv, dense, conv, SOFTMAX, OP)
    for shape in [(1, 4, 9), (1, 9, 4)]:
        assert chain(IP, half, pool, SOFTMAX, OP, inputs=shape, outputs=2).halvings == (0, 1, 2, None, None)
        with pytest.raises(InvalidGraph, match="at most 2 times"):
            chain(IP, half, pool, half, SOFTMAX, OP, inputs=shape, outputs=2)
    assert chain(IP, *[pool] * 40, SOFTMAX, OP).halvings[-3] == 40  # no image has been named yet


@pytest.mark.parametrize("shape", [8, (8, 8), (1, 8, 0), (1, 8, "8"), (1, 8, None)])
def test_shapes_of_images_are_checked(shape: Any) -> None:
    with pytest.raises(InvalidArgument):
        chain(IP, Layer("conv3", 8), SOFTMAX, OP, inputs=shape)


@pytest.mark.parametrize("options", [{"inputs": 0}, {"inputs": (1, 2, 3)}, {"outputs": 0}, {"outputs": "two"}])
def test_shapes_of_vectors_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        chain(IP, RELU, LINEAR, OP, **options)


# --- identity -----------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(4, 25), st.booleans())
def test_the_numbering_does_not_matter(seed: int, size: int, images: bool) -> None:
    rng = np.random.default_rng(seed)
    graph = random_cnn(rng, max(size, 6)) if images else random_mlp(rng, size)
    other = renumbered(graph, rng)
    assert graph == other
    assert hash(graph) == hash(other)
    assert graph.canonical == other.canonical
    assert sorted(graph.masses) == sorted(other.masses)
    assert graph.profile.key == other.profile.key


def isomorphic(a: Graph, b: Graph) -> bool:
    """By trying every numbering."""
    if len(a) != len(b) or len(a.edges) != len(b.edges):
        return False
    edges = set(b.edges)
    for order in permutations(range(len(a))):
        alike = all(a.layers[u] == b.layers[order[u]] for u in range(len(a)))
        if alike and {(order[u], order[v]) for u, v in a.edges} == edges:
            return True
    return False


def test_equality_is_isomorphism() -> None:
    # Few kinds of layers and few units, so that many pairs are nearly or fully the same.
    rng = np.random.default_rng(5)
    graphs = []
    inner = 3
    for _ in range(40):
        edges = [(u, v) for v in range(1, inner + 1) for u in range(v) if rng.random() < 0.5]
        edges += [(0, v) for v in range(1, inner + 1) if not any(end == v for _, end in edges)]
        edges += [(u, inner + 1) for u in range(1, inner + 1) if not any(start == u for start, _ in edges)]
        layers = [IP, *(Layer("relu", int(rng.choice([8, 8, 8, 16]))) for _ in range(inner)), LINEAR, OP]
        graphs.append(renumbered(Graph(layers, [*edges, (inner + 1, inner + 2)]), rng))
    same = 0
    for place, a in enumerate(graphs):
        for b in graphs[:place]:
            assert (a == b) == isomorphic(a, b)
            same += a == b
    assert same > 20  # the test would say little if there were none


def test_graphs_of_other_data_differ() -> None:
    layers = (IP, RELU, LINEAR, OP)
    plain, same = chain(*layers, inputs=4, outputs=2), chain(*layers, inputs=4, outputs=2)
    assert (plain == same, hash(plain) == hash(same)) == (True, True)
    assert plain != chain(*layers, inputs=5, outputs=2)
    assert plain != chain(*layers, inputs=4, outputs=3)
    assert plain != chain(*layers)


def test_graphs_that_refinement_cannot_tell_apart() -> None:
    # Three sources and three sinks joined by one cycle of six, or by two … of a doubled edge, which a simple graph has
    # not: so six and six, by one cycle of twelve or by two of six. Every layer sees the same.
    def ring(lengths: list[int]) -> Graph:
        edges, first = [], 0
        for length in lengths:
            edges += [(first + i, 6 + first + i) for i in range(length)]
            edges += [(first + i, 6 + first + (i + 1) % length) for i in range(length)]
            first += length
        layers = [IP, *[RELU] * 12, LINEAR, OP]
        inner = [(u + 1, v + 1) for u, v in edges]
        outer = [(0, u + 1) for u in range(6)] + [(v + 7, 13) for v in range(6)]
        return Graph(layers, [*inner, *outer, (13, 14)])

    one, two = ring([6]), ring([3, 3])
    assert hash(one) == hash(two)
    assert one != two
    rng = np.random.default_rng(0)
    for graph in (one, two):
        assert renumbered(graph, rng) == graph


def test_many_mirrored_branches_take_no_longer_than_they_should() -> None:
    # Twenty pairs of mirrored branches have a million symmetries; a search without pruning would not come back.
    layers, edges, last = [IP], [], 0
    for _ in range(20):
        base = len(layers)
        layers += [Layer("relu", 8), Layer("tanh", 8), Layer("relu", 8), Layer("tanh", 8), Layer("elu", 8)]
        edges += [(last, base), (base, base + 1), (last, base + 2), (base + 2, base + 3)]
        edges += [(base + 1, base + 4), (base + 3, base + 4)]
        last = base + 4
    size = len(layers)
    graph = Graph([*layers, LINEAR, OP], [*edges, (last, size), (size, size + 1)])
    assert renumbered(graph, np.random.default_rng(1)) == graph
    assert renumbered(graph, np.random.default_rng(1)).canonical == graph.canonical


def test_the_canonical_form_is_the_same_in_every_process() -> None:
    code = "from tests.nets.cases import random_graphs; print([g.canonical for g in random_graphs(3, 6, [9])])"
    here = [graph.canonical for graph in random_graphs(3, 6, [9])]
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == str(here)


# --- the object ---------------------------------------------------------------------------------------------------


def test_graphs_survive_json_and_pickle() -> None:
    for graph in random_graphs(1, 20, [8, 15]):
        for copy in (Graph.from_json(graph.to_json()), pickle.loads(pickle.dumps(graph))):
            assert (copy.layers, copy.edges) == (graph.layers, graph.edges)
            assert copy == graph
    shaped = chain(IP, Layer("conv3", 8, 2), SOFTMAX, OP, inputs=(3, 8, 8), outputs=2)
    assert shaped.to_json() == {
        "layers": [["ip"], ["conv3", 8, 2], ["softmax"], ["op"]],
        "edges": [[0, 1], [1, 2], [2, 3]],
        "inputs": [3, 8, 8],
        "outputs": 2,
    }
    assert Graph.from_json(shaped.to_json()).inputs == (3, 8, 8)


@pytest.mark.parametrize("data", [None, [], {}, {"layers": 3, "edges": []}, {"layers": [["ip"]], "edges": [1]}])
def test_json_that_is_no_graph(data: Any) -> None:
    with pytest.raises(InvalidArgument):
        Graph.from_json(data)


def test_graphs_cannot_be_changed() -> None:
    graph = chain(IP, RELU, LINEAR, OP)
    with pytest.raises(AttributeError):
        graph.layers = ()
    with pytest.raises(AttributeError):
        del graph.edges
    with pytest.raises(InvalidArgument):
        Graph([("relu", 8)], [])  # type: ignore[list-item]


# --- labels -------------------------------------------------------------------------------------------------------


def test_labels_of_your_own() -> None:
    one = Label("test-conv9", family="cnn", group="conv", strides=(1, 2))
    register_label(one, {"conv7": 0.2})
    register_label(one, {"conv7": 0.2})  # again is no harm
    assert cost("test-conv9", "conv5") == 0.4
    assert cost("test-conv9", "res7") == 0.3
    assert cost("test-conv9", "fc") == float("inf")
    assert "test-conv9" not in labels("cnn")  # domains use it where they name it
    assert chain(IP, Layer("test-conv9", 8, 2), SOFTMAX, OP).halvings[1] == 1
    with pytest.raises(InvalidArgument, match="taken"):
        register_label(one, {"conv7": 0.1})
    with pytest.raises(InvalidArgument, match="triangle"):
        register_label(Label("test-bad", family="cnn"), {"conv3": 0.01, "conv7": 0.01})
    with pytest.raises(InvalidArgument, match="triangle"):
        register_label(Label("test-bridge", family="cnn"), {"conv3": 0.5, "fc": 0.5})
    for bad in (
        Label("test-a", family="rnn"),
        Label("test-a", family="cnn", group="sigmoid"),
        Label("test-a", family="cnn", strides=(3,)),
        Label("test-a", family="cnn", mass=0.0),
        Label(""),
    ):
        with pytest.raises(InvalidArgument):
            register_label(bad)
    with pytest.raises(InvalidGraph, match="known labels"):
        register_label(Label("test-a", family="cnn"), {"conv4": 0.1})
    with pytest.raises(InvalidArgument):
        register_label(Label("test-a", family="cnn"), {"conv3": -0.1})
