"""Maps of networks: places that keep distances, colours that follow values, files that stay small."""

from __future__ import annotations

import builtins
import math
import xml.etree.ElementTree as ET
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import spearmanr

import xstar as xs
from xstar import nets
from xstar.errors import InvalidArgument, MissingExtra
from xstar.journal import History
from xstar.nets.invalid import MixedFamilies
from xstar.nets.synthetic import f3
from xstar.plots import architectures as pictures
from xstar.plots import network_data as data
from xstar.plots.architectures import distance_against_value, network_map

SVG = "{http://www.w3.org/2000/svg}"


def a_study(trials: int, **parameters: Any) -> xs.Study:
    space = xs.Space(net=nets.MLP(inputs=8), lr=xs.Float(0, 1), **parameters)
    study = xs.Study(space, metric="score", direction="maximize", seed=3)
    for _ in range(trials):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, f3(trial["net"]))
    return study


@pytest.fixture(scope="module")
def study() -> xs.Study:
    return a_study(25)


@pytest.fixture(scope="module")
def networks(study: xs.Study) -> data.Networks:
    return data.collect(study)


def parts(svg: str, name: str) -> list[ET.Element]:
    return ET.fromstring(svg).findall(f"{SVG}{name}")


def words(svg: str) -> str:
    return "\n".join(element.text or "" for element in parts(svg, "text"))


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


# ---------------------------------------------------------------- distance against value


def test_pairs_are_all_pairs(networks: data.Networks) -> None:
    found = data.pairs(networks)
    values = networks.values
    plain = [
        (nets.otmann(networks.graphs[i], networks.graphs[j]), abs(values[i] - values[j]))
        for i, j in combinations(range(len(networks)), 2)
    ]
    assert_allclose(np.stack([found.distance, found.difference], axis=1), plain, rtol=1e-9)
    assert_allclose(found.correlation, spearmanr(found.distance, found.difference).statistic, rtol=1e-9)


def test_correlation_with_ties_and_without_any_spread() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.integers(5, size=60).astype(float), rng.integers(4, size=60).astype(float)
    assert_allclose(data.Pairs(a, b).correlation, spearmanr(a, b).statistic, rtol=1e-9)
    assert math.isnan(data.Pairs(np.ones(5), np.arange(5.0)).correlation)


def test_every_pair_is_a_dot(study: xs.Study, networks: data.Networks) -> None:
    svg = distance_against_value(study)
    count = len(networks) * (len(networks) - 1) // 2
    assert len(parts(svg, "circle")) == count
    assert f"{count} pairs of {len(networks)} networks, rank correlation" in words(svg)
    assert len(parts(svg, "polyline")) == 2
    for circle in parts(svg, "circle"):
        assert pictures.LEFT <= float(circle.attrib["cx"]) <= pictures.RIGHT
        assert pictures.TOP <= float(circle.attrib["cy"]) <= pictures.HEIGHT - pictures.BELOW


def random_pairs(count: int) -> data.Pairs:
    rng = np.random.default_rng(5)
    distance = 10.0 ** rng.uniform(2, 7, count)
    return data.Pairs(distance, rng.random(count) * np.log10(distance))


def test_many_pairs_are_a_small_file(networks: data.Networks) -> None:
    few, many = (len(pictures.draw_pairs(random_pairs(count), networks, "plain")) for count in (5_000, 45_000))
    assert few < 100_000
    assert many < 100_000


def test_a_histogram_counts_every_point() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.uniform(-1, 3, 500), rng.uniform(5, 6, 500)
    x[0], y[0] = 3.0, 6.0  # the last edge belongs to the last cell
    cells, counts = pictures.histogram(x, y, (-1.0, 3.0), (5.0, 6.0))
    shape = [pictures.COLUMNS, pictures.ROWS]
    plain, _, _ = np.histogram2d(x, y, shape, [[-1.0, 3.0], [5.0, 6.0]])
    table = np.zeros(shape)
    table[cells[:, 0], cells[:, 1]] = counts
    assert_allclose(table, plain)


def test_bands_are_quantiles_of_their_groups() -> None:
    found = random_pairs(3000)
    groups = pictures.bands(found)
    assert len(groups) == pictures.BANDS
    edges = np.geomspace(found.distance.min(), found.distance.max(), pictures.BANDS + 1)
    for place, row in enumerate(groups[1:-1], 1):
        inside = [
            (x, y)
            for x, y in zip(found.distance, found.difference, strict=True)
            if edges[place] <= x < edges[place + 1]
        ]
        xs_, ys = np.array(inside).T
        assert_allclose(row, [np.median(xs_), np.median(ys), np.quantile(ys, 0.9)])


def test_bands_leave_out_groups_of_few_pairs() -> None:
    distance = np.concatenate([np.zeros(9), [1.0], np.full(30, 1000.0), [30.0]])
    groups = pictures.bands(data.Pairs(distance, np.arange(41.0)))
    assert_allclose(groups[:, 0], [0.0, 1000.0])
    assert pictures.bands(data.Pairs(np.zeros(20), np.arange(20.0))).shape == (0, 3)


@pytest.mark.parametrize(
    ("distance", "difference"),
    [([0.0, 0.0, 0.0], [1.0, 2.0, 3.0]), ([0.0, 5.0, 7.0], [0.0, 0.0, 0.0]), ([4.0] * 30, [1.0] * 30)],
    ids=["no distance", "no difference", "all alike"],
)
def test_degenerate_pairs_are_drawn(networks: data.Networks, distance: list[float], difference: list[float]) -> None:
    found = data.Pairs(np.array(distance), np.array(difference))
    svg = pictures.draw_pairs(found, networks, "plain")
    assert len(parts(svg, "circle")) == len(distance)
    if zeros := distance.count(0.0):
        assert f"{zeros} pairs at a distance of 0" in words(svg)


def test_one_network_that_learned_nothing_does_not_flatten_the_rest(networks: data.Networks) -> None:
    found = random_pairs(900)
    found.difference[7] = 1e6
    heights = [float(circle.attrib["cy"]) for circle in parts(pictures.draw_pairs(found, networks, "plain"), "circle")]
    assert min(heights) == pictures.TOP
    assert np.std(heights) > 50


def test_numbers_on_the_axis_do_not_touch(networks: data.Networks) -> None:
    svg = pictures.draw_pairs(random_pairs(2000), networks, "plain")
    bottom = pictures.HEIGHT - pictures.BELOW + 21
    ticks = [element for element in parts(svg, "text") if element.attrib["y"] == f"{bottom:.1f}"]
    assert len(ticks) >= 3
    ends = [(float(tick.attrib["x"]), len(tick.text or "") * 13 * 0.6 / 2) for tick in ticks]
    for (x, half), (other, its) in combinations(ends, 2):
        assert abs(x - other) > half + its
