"""Maps of networks: places that keep distances, colours that follow values, files that stay small."""

from __future__ import annotations

import builtins
import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import xstar as xs
from tests.plots.networks import a_study, parts, words
from xstar import nets
from xstar.errors import InvalidArgument, MissingExtra
from xstar.journal import History
from xstar.nets.invalid import MixedFamilies
from xstar.plots import architectures as pictures
from xstar.plots import network_data as data
from xstar.plots.architectures import distance_against_value, network_map


def told(study: xs.Study, config: dict[str, Any], value: float) -> None:
    study.add(config, value)


# ---------------------------------------------------------------- which networks


def test_a_network_is_one_point_with_its_best_value() -> None:
    study = xs.Study(xs.Space(net=nets.MLP(inputs=8), lr=xs.Float(0, 1)), seed=1)
    pool = nets.MLP(inputs=8).pool
    for lr, (place, value) in enumerate([(0, 3.0), (1, 2.0), (0, 1.0), (2, 5.0), (2, 6.0)]):
        told(study, {"net": pool[place], "lr": lr / 10}, value)
    found = data.collect(study.history)
    assert found.graphs == pool[:3]
    assert found.trials == (2, 1, 3)
    assert found.values.tolist() == [1.0, 2.0, 5.0]
    assert found.best == 0
    assert found.parameter == "net"


def test_the_direction_is_that_of_the_user(study: xs.Study, networks: data.Networks) -> None:
    best = study.best
    assert networks.trials[networks.best] == best.number
    assert networks.values[networks.best] == best.value == networks.values.max()
    assert f"{best.value:.4g}, trial {best.number}" in words(network_map(study))


def test_only_complete_trials_count() -> None:
    study = xs.Study(xs.Space(net=nets.MLP(inputs=8)), seed=1, max_budget=2)
    for number in range(6):
        trial = study.ask()
        assert trial is not None
        if number == 0:
            study.fail(trial, "no memory")
            continue
        study.report(trial, 1.0 + number)
        if number != 1:  # trial 1 goes on running
            study.report(trial, 2.0 + number)
    assert data.collect(study).trials == (2, 3, 4, 5)


def test_cells_that_compute_the_same_are_one_network() -> None:
    study = xs.Study(xs.Space(cell=nets.Cell()), seed=1)
    cut = ("none", "none", "nor_conv_3x3", "skip_connect", "none", "none")  # op2 starts at a node that nothing feeds
    same = ("none", "none", "nor_conv_1x1", "skip_connect", "none", "none")
    other = ("nor_conv_3x3",) * 6
    for value, cell in enumerate([cut, same, other, ("avg_pool_3x3",) * 6]):
        told(study, {"cell": nets.CellNetwork(cell)}, float(value))
    found = data.collect(study)
    assert found.trials == (0, 2, 3)
    assert found.parameter == "cell"
    assert network_map(study).startswith("<svg")


def test_several_parameters_have_to_be_told_apart() -> None:
    study = a_study(4, other=nets.MLP(inputs=3))
    with pytest.raises(InvalidArgument, match="net, other"):
        network_map(study)
    assert data.collect(study, "other").graphs[0].inputs == 3
    assert "other: networks" in words(network_map(study, "other"))
    with pytest.raises(InvalidArgument, match=r"parameter: .*net, other.*'lr'"):
        network_map(study, "lr")


def test_a_parameter_that_is_not_always_there() -> None:
    space = xs.Space(kind=xs.Choice(["a", "b"]), net=nets.MLP(inputs=8, when={"kind": "a"}))
    study = xs.Study(space, seed=1)
    pool = nets.MLP(inputs=8).pool
    for place in range(3):
        told(study, {"kind": "b"}, -1.0 - place)
        told(study, {"kind": "a", "net": pool[place]}, float(place))
    assert data.collect(study).trials == (1, 3, 5)


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (xs.Study(xs.Space(lr=xs.Float(0, 1))), "a parameter that holds networks"),
        (xs.Study(xs.Space(net=nets.MLP(inputs=8))), "3 different networks"),
        (History(), "a parameter that holds networks"),
        ([1, 2], "must be a study or its history"),
    ],
    ids=["no net", "no trials", "no events", "no history"],
)
@pytest.mark.parametrize("picture", [network_map, distance_against_value], ids=["map", "distance"])
def test_nothing_to_draw_is_refused(picture: Any, given: Any, rule: str) -> None:
    with pytest.raises(InvalidArgument, match=rule):
        picture(given)


def test_two_networks_are_too_few() -> None:
    with pytest.raises(InvalidArgument, match="but got 2"):
        network_map(a_study(2))
    assert network_map(a_study(3)).startswith("<svg")


@pytest.mark.parametrize("option", [{"distance": "euclid"}, {"method": "pca"}, {"structure": -1.0}], ids=str)
def test_unknown_options_are_refused(study: xs.Study, option: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=next(iter(option))):
        network_map(study, **option)


def test_families_cannot_be_mixed() -> None:
    mixed = data.Networks(
        "net", "m", (*nets.MLP(inputs=8).pool[:2], nets.CNN(image=8).pool[0]), (0, 1, 2), np.arange(3.0), 1.0, 3
    )
    with pytest.raises(MixedFamilies):
        data.pairs(mixed)


@pytest.mark.parametrize(("count", "most", "keep"), [(10, 10, 4), (10, 20, 0), (1000, 30, 511), (301, 300, 300)])
def test_thinned_places_are_even_and_keep_the_best(count: int, most: int, keep: int) -> None:
    places = data.thinned(count, most, keep)
    assert len(places) == min(count, most)
    assert keep in places
    assert (np.diff(places) > 0).all()
    assert np.diff(places).max() <= 1 + 1.5 * count / most


def test_many_networks_are_thinned_out(study: xs.Study) -> None:
    found = data.collect(study, most=7)
    assert len(found) == 7
    assert found.found == len(data.collect(study))
    assert found.trials[found.best] == study.best.number
    assert "7 networks of 2" in words(pictures.draw_map(found, data.place(found), "normalised", "mds"))


# ---------------------------------------------------------------- the map


@pytest.mark.parametrize("distance", data.DISTANCES)
def test_distances_are_those_of_nets(networks: data.Networks, distance: str) -> None:
    table = networks.distances(distance)
    for i, j in [(0, 1), (3, 7), (9, 9)]:
        expected = nets.otmann(networks.graphs[i], networks.graphs[j], normalised=distance == "normalised")
        assert_allclose(table[i, j], expected, rtol=1e-12)


def test_scaling_finds_points_of_a_plane_again() -> None:
    points = np.random.default_rng(1).normal(size=(12, 2)) * [3.0, 1.0]
    table = np.linalg.norm(points[:, None] - points[None], axis=2)
    found = data.classical_scaling(table)
    assert found.share is not None
    assert_allclose(found.share, 1.0, rtol=1e-9)
    assert_allclose(np.linalg.norm(found.positions[:, None] - found.positions[None], axis=2), table, atol=1e-9)
    assert_allclose(found.positions.mean(axis=0), 0.0, atol=1e-12)
    assert found.positions[:, 0].std() > found.positions[:, 1].std()


def test_scaling_is_the_double_centring_written_out(networks: data.Networks) -> None:
    table = networks.distances("normalised")
    count = len(table)
    centring = np.eye(count) - np.ones((count, count)) / count
    values, vectors = np.linalg.eigh(-0.5 * centring @ table**2 @ centring)
    plain = vectors[:, [-1, -2]] * np.sqrt(values[[-1, -2]])
    for axis in range(2):
        if plain[np.abs(plain[:, axis]).argmax(), axis] < 0:
            plain[:, axis] *= -1
    found = data.classical_scaling(table)
    assert_allclose(found.positions, plain, atol=1e-9)
    assert found.share is not None
    assert_allclose(found.share, values[-2:].sum() / values[values > 0].sum(), rtol=1e-9)


def test_places_do_not_depend_on_the_order_of_networks(networks: data.Networks) -> None:
    table = networks.distances("normalised")
    order = np.random.default_rng(2).permutation(len(table))
    found = data.classical_scaling(table).positions
    assert_allclose(data.classical_scaling(table[np.ix_(order, order)]).positions, found[order], atol=1e-8)


def test_networks_without_any_distance_lie_at_one_place() -> None:
    found = data.classical_scaling(np.zeros((4, 4)))
    assert_allclose(found.positions, 0.0, atol=1e-12)
    assert found.share == 1.0
    points, _ = pictures.fitted(found.positions)
    assert len(set(points)) == 1


def test_a_map_has_one_scale_and_stays_on_the_sheet() -> None:
    positions = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 2.0], [4.0, 1.0]])
    points, scale = pictures.fitted(positions)
    for (i, a), (j, b) in combinations(enumerate(points), 2):
        assert_allclose(math.dist(a, b), scale * math.dist(positions[i], positions[j]), rtol=1e-9)
    assert points[2][1] < points[0][1]  # up is up
    for x, y in points:
        assert pictures.LEFT <= x <= pictures.RIGHT
        assert pictures.TOP <= y <= pictures.HEIGHT - pictures.BELOW


def test_a_point_for_every_network_and_a_ring_for_the_best(study: xs.Study, networks: data.Networks) -> None:
    svg = network_map(study)
    circles = parts(svg, "circle")
    assert len(circles) == len(networks) + 6  # the ring, on the map and in the legend
    points, _ = pictures.fitted(data.place(networks).positions)
    x, y = points[networks.best]
    ring = circles[len(networks)]
    assert (ring.attrib["cx"], ring.attrib["cy"]) == (f"{x:.1f}", f"{y:.1f}")
    assert {"the best", "score", "net: networks by normalised OTMANN"} <= set(words(svg).splitlines())
    assert svg == network_map(study.history)


def test_colours_follow_values() -> None:
    share = pictures.shares(np.array([5.0, 1.0, 900.0, 5.0]))
    assert_allclose(share, [0.5, 0.0, 1.0, 0.5])
    assert pictures.shares(np.ones(3)).tolist() == [0.0, 0.0, 0.0]
    colours = [pictures.colour_of(step / 20) for step in range(21)]
    assert (colours[0], colours[5], colours[20]) == (pictures.RAMP[0], pictures.RAMP[1], pictures.RAMP[-1])
    bright = [np.dot([0.299, 0.587, 0.114], [int(colour[at : at + 2], 16) for at in (1, 3, 5)]) for colour in colours]
    assert (np.diff(bright) > 0).all()


def test_t_sne_keeps_neighbours_together() -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1, 2], 10)
    points = rng.normal(size=(30, 5)) + 20.0 * np.eye(5)[group]
    table = np.linalg.norm(points[:, None] - points[None], axis=2)
    found = data._neighbours(table)
    assert found.share is None
    apart = np.linalg.norm(found.positions[:, None] - found.positions[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    assert (group[apart.argmin(axis=1)] == group).all()
    assert_allclose(data._neighbours(table).positions, found.positions)


def test_t_sne_of_a_few_networks(study: xs.Study) -> None:
    pytest.importorskip("sklearn")
    svg = network_map(study, method="tsne", distance="plain")
    assert "t-SNE" in words(svg)
    assert "a distance of" not in words(svg)  # it has no scale
    assert network_map(a_study(3), method="tsne").startswith("<svg")
    assert_allclose(data._neighbours(np.zeros((5, 5))).positions, 0.0, atol=1e-12)


def test_without_scikit_learn_t_sne_says_so(study: xs.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingExtra, match="pip install scikit-learn"):
        network_map(study, method="tsne")
    assert network_map(study).startswith("<svg")
