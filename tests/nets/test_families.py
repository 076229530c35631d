"""Families of one's own, and chains."""

from __future__ import annotations

from typing import Any

import pytest

import xstar as xs
from xstar import nets
from xstar.errors import InvalidArgument, InvalidConfig, InvalidSpace
from xstar.look.audit import audit
from xstar.nets.labels import labels

GNN = nets.Family("test-gnn", ("message", "pooling"), images=False, sums=True)
nets.register_family(GNN)
nets.register_label(nets.Label("test-gcn", family="test-gnn", group="message"))
nets.register_label(nets.Label("test-gat", family="test-gnn", group="message"), {"test-gcn": 0.2})
nets.register_label(nets.Label("test-topk", family="test-gnn", group="pooling", units=False, computes=False))
OWN = ("test-gcn", "test-gat", "test-topk")

DOMAINS = [nets.Chain(OWN, max_length=5, min_length=2)]


def test_a_family_of_ones_own() -> None:
    nets.register_family(GNN)  # again: nothing happens
    assert labels("test-gnn") == OWN
    one, other = nets.ChainNetwork(("test-gcn",)), nets.ChainNetwork(("test-gat",))
    distance = nets.otmann(one.graph, other.graph, structure=0.5)
    assert distance == pytest.approx(0.2 * one.graph.masses[1])


@pytest.mark.parametrize(
    ("family", "words"),
    [
        (nets.Family("mlp", (), images=False), "must not be taken"),
        (nets.Family("", (), images=False), "with a name"),
        (nets.Family("test-twice", ("a", "a"), images=False), "different names"),
        (nets.Family("test-both", (), images=True, sums=True), "must not be set where layers are summed"),
        ("mlp", "must be a nets.Family"),
    ],
)
def test_wrong_families(family: Any, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        nets.register_family(family)


def test_a_label_of_no_known_family() -> None:
    with pytest.raises(InvalidArgument, match=r"nets\.register_family"):
        nets.register_label(nets.Label("test-lost", family="test-nowhere"))


@pytest.mark.parametrize("method", ["nasbot", "evolution", "tpe"])
@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.kind)
def test_searches(domain: Any, method: str) -> None:
    space = xs.Space(net=domain, lr=xs.Float(1e-3, 1.0, log=True))
    study = xs.minimize(
        lambda t: abs(len(t["net"].operations) - 3) + t["lr"], space, trials=13, method=method, seed=1
    ).study
    assert audit(study).findings == []


def test_the_number_of_chains() -> None:
    domain = nets.Chain(("test-gcn", "test-gat"), max_length=3)
    assert domain.size == 2 + 4 + 8
    study = xs.Study(xs.Space(net=domain), method="evolution", seed=1)
    found = []
    while (trial := study.ask()) is not None:
        found.append(trial["net"])
        study.tell(trial, 1.0)
    assert len(set(found)) == len(found) == 14


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nets.Chain(()), "different ones"),
        (lambda: nets.Chain(("test-gcn", "relu")), "one family"),
        (lambda: nets.Chain(("test-gcn",), max_length=2, min_length=3), "min_length"),
        (lambda: nets.Chain(("conv3",)), "without a stride"),
    ],
)
def test_wrong_domains(make: Any, words: str) -> None:
    with pytest.raises(InvalidSpace, match=words):
        make()


@pytest.mark.parametrize("data", [None, [], ["relu"], {"operations": 3}])
@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.kind)
def test_wrong_data(domain: Any, data: Any) -> None:
    with pytest.raises(InvalidConfig, match="data"):
        domain.parse(data)


@pytest.mark.parametrize("max_layers", [4, 5, 8, 12, 20, 26])
@pytest.mark.parametrize(
    "make", [lambda most: nets.MLP(8, max_layers=most), lambda most: nets.CNN(32, max_layers=most)]
)
def test_pools_fit_any_number_of_layers(make: Any, max_layers: int) -> None:
    domain = make(max_layers)
    assert all(len(graph) <= max_layers for graph in domain.pool)
    assert len(set(domain.pool)) == len(domain.pool)
    full = make(60)
    fitting = [graph for graph in full.pool if len(graph) <= max_layers]
    assert len(domain.pool) >= max(len(fitting), min(8, max_layers - 2)), "networks were dropped, not shortened"
    assert set(fitting) <= set(domain.pool)
