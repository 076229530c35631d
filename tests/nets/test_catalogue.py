"""The catalogue: numbers for networks, each distance once, provisional ones settled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from xstar import nets
from xstar.nets import catalogue as catalogue_module
from xstar.nets.catalogue import EXACT_NEIGHBOURS, FIRST_CANDIDATE, Catalogue
from xstar.nets.describe import PLAIN, describe, described_by
from xstar.nets.measures import hops, path_lengths

MLP = nets.MLP(inputs=4)


def sampled(count: int, domain: nets.MLP | nets.CNN | nets.Cell = MLP, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    found: dict[Any, None] = {}
    while len(found) < count:
        found[domain.sample(rng)] = None
    return list(found)


@pytest.mark.parametrize(
    "domain", [MLP, nets.CNN(image=8, channels=1), nets.Cell()], ids=lambda domain: type(domain).__name__
)
def test_distances_are_those_of_otmann(domain: nets.MLP) -> None:
    networks = sampled(6, domain)
    catalogue = Catalogue(domain)
    few = catalogue.enter(networks[:2])
    numbers = np.array([*few, *catalogue.enter(networks)])  # two of them again
    assert numbers[:2].tolist() == numbers[2:4].tolist()
    assert catalogue.computed == 0  # nobody has asked
    d, normalised = catalogue.between(numbers[2:], numbers[2:])
    assert catalogue.computed == 15  # all pairs of six, each once
    assert_array_equal(d, nets.distances(networks) / catalogue.unit)
    assert_allclose(normalised, nets.distances(networks, normalised=True), rtol=1e-12)


def test_no_network_has_the_number_zero() -> None:
    catalogue = Catalogue(MLP)
    numbers = np.array(catalogue.enter([None, MLP.pool[0], None]))
    assert numbers.tolist() == [0, 1, 0]
    d, normalised = catalogue.between(numbers, numbers)
    assert_array_equal(d[:, :, 0], [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert_array_equal(normalised[:, :, 2], [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert_array_equal(catalogue.described(numbers)[0], np.full(len(catalogue.names), 0.5))


def test_candidates_are_provisional_until_they_are_settled() -> None:
    rng = np.random.default_rng(1)
    networks = sampled(30)
    catalogue = Catalogue(MLP)
    known = np.array(catalogue.enter(networks))
    children = [MLP.mutate(networks[place], rng) for place in range(4)]
    catalogue.between(known, known)
    before = catalogue.computed
    catalogue.begin_decision(known.tolist())
    numbers = np.array(catalogue.propose(children, known[:4].tolist()))
    assert (numbers >= FIRST_CANDIDATE).all()
    exact = nets.distances(children, networks) / catalogue.unit
    d, _ = catalogue.between(numbers, known)
    assert catalogue.computed - before == 4 * EXACT_NEIGHBOURS
    to_parent = np.array([exact[place, place] for place in range(4)])
    assert not np.array_equal(d, exact)
    assert (np.abs(d - exact) <= to_parent[:, None] + 1e-9).all()  # the triangle inequality
    assert ((d == exact).all(axis=2).sum(axis=1) >= EXACT_NEIGHBOURS).all()
    catalogue.make_exact(numbers.tolist())
    assert_array_equal(catalogue.between(numbers, known)[0], exact)
    assert_allclose(
        catalogue.between(numbers, known)[1], nets.distances(children, networks, normalised=True), rtol=1e-12
    )


def test_nothing_exact_is_computed_again() -> None:
    rng = np.random.default_rng(2)
    networks = sampled(20)
    catalogue = Catalogue(MLP)
    known = np.array(catalogue.enter(networks))
    catalogue.between(known, known)
    child = MLP.mutate(networks[0], rng)
    exact = nets.distances([child], networks) / catalogue.unit
    catalogue.begin_decision(known.tolist())
    catalogue.make_exact(catalogue.propose([child], [1]))
    catalogue.end_decision()
    before = catalogue.computed
    catalogue.begin_decision(known.tolist())
    again = np.array(catalogue.propose([child], [2]))
    catalogue.make_exact(again.tolist())
    assert_array_equal(catalogue.between(again, known)[0], exact)
    catalogue.end_decision()
    entered = np.array(catalogue.enter([child]))
    assert entered.tolist() == [21]
    assert_array_equal(catalogue.between(entered, known)[0], exact)
    assert catalogue.computed == before
    more = np.array(catalogue.enter(sampled(25)[20:]))
    d, _ = catalogue.between(more, entered)
    assert_array_equal(d[:, 0], nets.distances(sampled(25)[20:], [child])[:, 0] / catalogue.unit)
    assert catalogue.computed == before + 5 * 21 + 10
    catalogue.between(more, known)
    assert catalogue.computed == before + 5 * 21 + 10


@pytest.mark.parametrize("domain", [MLP, nets.Cell()], ids=lambda domain: type(domain).__name__)
def test_what_is_remembered_changes_no_answer(domain: nets.MLP) -> None:
    """Provisional rows depend on the references and their order alone: not on numbers, other slots, or earlier decisions."""
    networks = sampled(24, domain)
    rng = np.random.default_rng(5)
    child = domain.mutate(networks[0], rng)
    grandchild = domain.mutate(child, rng)

    def rows(catalogue: Catalogue) -> np.ndarray:
        known = catalogue.enter(networks[:12])
        catalogue.begin_decision(known)
        (one,) = catalogue.propose([child], known[:1])
        (two,) = catalogue.propose([grandchild], [one])
        return catalogue.between(np.array([one, two]), np.array(known))[0]

    fresh = rows(Catalogue(domain))
    for used in (networks, networks[::-1], [grandchild, *networks]):
        catalogue = Catalogue(domain)
        numbers = np.array(catalogue.enter(used))
        if used[0] is not grandchild:
            catalogue.begin_decision(numbers.tolist())
            catalogue.make_exact(catalogue.propose([child], [int(numbers[3])]))
        catalogue.between(numbers, numbers)
        catalogue.end_decision()
        found = rows(catalogue)
        if used[0] is grandchild:  # it is known there, and its row is exact
            found, expected = found[:1], fresh[:1]
        else:
            expected = fresh
        assert_array_equal(found, expected)


def test_children_of_candidates_inherit_in_turn() -> None:
    rng = np.random.default_rng(3)
    networks = sampled(12)
    catalogue = Catalogue(MLP)
    known = np.array(catalogue.enter(networks))
    child = MLP.mutate(networks[0], rng)
    grandchild = MLP.mutate(child, rng)
    catalogue.begin_decision(known.tolist())
    (one,) = catalogue.propose([child], [1])
    (two,) = catalogue.propose([grandchild], [one])
    d, _ = catalogue.between(np.array([two]), known)  # the row of its parent was not asked for before
    exact = nets.distances([grandchild], networks)[0] / catalogue.unit
    far = sum(nets.distances([a], [b])[0, 0] for a, b in [(child, networks[0]), (grandchild, child)]) / catalogue.unit
    assert (np.abs(d[0] - exact) <= far + 1e-9).all()


def test_what_nobody_asks_for_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue_module, "MOST_TABULATED", 10)
    cell = nets.Cell()
    networks = sampled(40, cell)
    catalogue = Catalogue(cell)
    numbers = np.array(catalogue.enter(networks))
    for start in range(0, 33, 3):
        few = slice(start, start + 8)
        catalogue.begin_decision(numbers[few].tolist())
        d, _ = catalogue.between(numbers[few], numbers[few])
        assert_array_equal(d, nets.distances(networks[few]) / catalogue.unit)
        (new,) = catalogue.propose([cell.mutate(networks[start], np.random.default_rng(start))], [int(numbers[start])])
        assert catalogue.between(np.array([new]), numbers[few])[0].shape == (1, 8, 4)
        catalogue.end_decision()
    assert catalogue.computed < 40 * 39 // 2


def test_it_grows() -> None:
    networks = sampled(70, nets.Cell())
    catalogue = Catalogue(nets.Cell())
    numbers = []
    for start in range(0, 70, 7):
        numbers += catalogue.enter(networks[start : start + 7])
    d, _ = catalogue.between(np.array(numbers), np.array(numbers))
    assert_array_equal(d, nets.distances(networks) / catalogue.unit)


def test_descriptions() -> None:
    names = described_by(MLP)
    rows = [describe(graph, names) for graph in MLP.pool]
    assert all(row.shape == (len(names),) and (row >= 0).all() and (row <= 1).all() for row in rows)
    first = dict(zip(names, rows[0], strict=True))
    assert first["layers"] == pytest.approx(np.log2(len(MLP.pool[0].layers)) / 6)
    assert sum(value for name, value in first.items() if name.startswith("share")) == pytest.approx(1.0)
    cell = nets.Cell()
    names = described_by(cell)
    value = cell.sample(np.random.default_rng(0))
    row = describe(value, names)
    edges = row[len(PLAIN) + 5 :].reshape(6, 5)
    assert [cell.operations[place] for place in edges.argmax(axis=1)] == list(value.operations)
    assert_array_equal(edges.sum(axis=1), np.ones(6))
    assert names[-5:] == ("edge 5",) * 5


def test_hops_are_path_lengths() -> None:
    for graph in sampled(20):
        lengths = path_lengths(graph)[-1]
        assert hops(graph) == (lengths[0], lengths[1])
