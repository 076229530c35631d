"""Pairs of networks: their distance against the difference of their values."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import spearmanr

import xstar as xs
from tests.plots.networks import parts, words
from xstar import nets
from xstar.plots import architectures as pictures
from xstar.plots import network_data as data
from xstar.plots.architectures import distance_against_value


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
