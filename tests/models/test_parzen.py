"""Parzen estimators against their formulae, one kernel and one parameter at a time."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from numpy.testing import assert_allclose

import xstar as xs
from xstar.models.parzen import NARROWEST, Parzen, bandwidths
from xstar.space.axes import Axes, axes_of

MIXED = xs.Space(
    lr=xs.Float(1e-3, 1.0, log=True, prior=xs.Normal(0.1, 0.2)),
    units=xs.Int(1, 500, log=True),
    few=xs.Int(1, 4, log=True),
    size=xs.Ordinal([1, 2, 4]),
    kind=xs.Choice(["a", "b", "c"], prior=[1, 2, 5]),
    flag=xs.Bool(prior=0.8, when={"kind": "a"}),
    momentum=xs.Float(0, 1, when={"kind": ["a", "b"]}),
    mask=xs.Bits(2),
)


def estimator(space: xs.Space, count: int, seed: int = 0) -> tuple[Parzen, list[dict[str, object]], np.ndarray]:
    rng = np.random.default_rng(seed)
    configs = [space.sample(rng) for _ in range(count)]
    axes = axes_of(space)
    weights = rng.random(count) + 0.5
    return Parzen.of(axes, axes.split(*axes.cube.encoder.encode(configs)), weights), configs, weights


def normal(x: float, mean: float, width: float) -> float:
    own = NormalDist(mean, width)
    return own.pdf(x) / (own.cdf(1.0) - own.cdf(0.0))


def plain_density(made: Parzen, row: np.ndarray, active: np.ndarray) -> float:
    """Σᵢ wᵢ Πⱼ kᵢⱼ, with a loop for each sign."""
    axes: Axes = made.axes
    point = axes.split(row[None], active[None])
    total = 0.0
    for i, weight in enumerate(np.exp(made.log_weights)):
        product = weight
        for j in range(len(axes.mean)):
            if point.on[0, j]:
                product *= normal(point.numbers[0, j], made.mean[i, j], made.width[i, j])
        for first, size in zip(axes.starts, axes.sizes, strict=True):
            for k in range(first, first + size):
                if point.hot[0, k]:
                    product *= math.exp(made.options[i, k])
        total += product
    return total


def test_the_density_is_the_sum_of_products() -> None:
    made, _, _ = estimator(MIXED, 12)
    rng = np.random.default_rng(1)
    rows, active = made.axes.cube.encoder.encode([MIXED.sample(rng) for _ in range(40)])
    found = made.log_density(made.axes.split(rows, active))
    assert_allclose(np.exp(found), [plain_density(made, *pair) for pair in zip(rows, active, strict=True)], rtol=1e-9)


def test_kernels_of_options() -> None:
    """(1 − λ) [a = b] + λ prior(a), with λ = s/(n + 1 + s)."""
    made, configs, _ = estimator(xs.Space(kind=xs.Choice(["a", "b", "c"], prior=[1, 2, 5])), 7)
    prior, share = np.array([1, 2, 5]) / 8, 3 / 11
    for i, config in enumerate(configs):
        wanted = [(1 - share) * (config["kind"] == name) + share * p for name, p in zip("abc", prior, strict=True)]
        assert_allclose(np.exp(made.options[i]), wanted)
    assert_allclose(np.exp(made.options[-1]), prior)


def test_kernels_of_grids_are_the_mass_of_a_normal_on_each_cell() -> None:
    made, configs, _ = estimator(xs.Space(few=xs.Int(1, 4, log=True)), 5)
    borders = (np.log([0.5, 1.5, 2.5, 3.5, 4.5]) - math.log(0.5)) / math.log(9)
    for i, config in enumerate(configs):
        place = (math.log(config["few"]) - math.log(0.5)) / math.log(9)  # type: ignore[arg-type]
        own = NormalDist(place, max(1 / 7, 1 / 16))
        mass = np.diff([own.cdf(border) for border in borders])
        assert_allclose(np.exp(made.options[i]), mass / mass.sum(), rtol=1e-9)


@pytest.mark.parametrize("space", [xs.Space(x=xs.Float(0, 1)), xs.Space(x=xs.Float(0, 1, prior=xs.Normal(0.2, 0.1)))])
def test_a_density_has_the_mass_one(space: xs.Space) -> None:
    made, _, _ = estimator(space, 6)
    x = (np.arange(20_000) + 0.5) / 20_000
    points = made.axes.split(x[:, None], np.ones((20_000, 1), dtype=bool))
    assert_allclose(np.exp(made.log_density(points)).mean(), 1.0, rtol=1e-6)


def test_with_conditions_the_branches_add_up_to_one() -> None:
    space = xs.Space(kind=xs.Choice(["a", "b"]), x=xs.Float(0, 1, when={"kind": "a"}))
    made, _, _ = estimator(space, 9)
    x = (np.arange(5_000) + 0.5) / 5_000
    with_x = made.axes.cube.encoder.encode([{"kind": "a", "x": float(value)} for value in x])
    without = made.axes.cube.encoder.encode([{"kind": "b"}])
    mass = np.exp(made.log_density(made.axes.split(*with_x))).mean()
    mass += np.exp(made.log_density(made.axes.split(*without)))[0]
    assert_allclose(mass, 1.0, rtol=1e-6)


def test_where_an_observation_has_no_value_the_kernel_is_the_prior() -> None:
    space = xs.Space(kind=xs.Choice(["a", "b"]), x=xs.Float(0, 1, prior=xs.Normal(0.7, 0.1), when={"kind": "a"}))
    axes = axes_of(space)
    made = Parzen.of(axes, axes.split(*axes.cube.encoder.encode([{"kind": "b"}])), np.ones(1))
    assert_allclose(made.mean, [[0.7], [0.7]])
    assert_allclose(made.width, [[0.1], [0.1]])


def test_draws_follow_the_density() -> None:
    made, _, _ = estimator(xs.Space(x=xs.Float(0, 1), kind=xs.Choice(["a", "b", "c"])), 8)
    count = 40_000
    which, numbers, hot = made.draw(count, np.random.default_rng(2))
    assert_allclose(hot.sum(axis=1), 1.0)
    assert_allclose(np.bincount(which, minlength=9) / count, np.exp(made.log_weights), atol=0.01)
    assert_allclose(hot.mean(axis=0), np.exp(made.log_weights) @ np.exp(made.options), atol=0.01)
    grid = (np.arange(1_000) + 0.5) / 1_000
    for option in range(3):
        block = np.tile(np.eye(3)[option], (1_000, 1))
        rows = made.axes.join(grid[:, None], block)
        density = np.exp(made.log_density(made.axes.split(rows, np.ones(rows.shape, dtype=bool))))
        wanted = density[:500].mean() / 2
        assert_allclose(((numbers[:, 0] < 0.5) & (hot[:, option] > 0)).mean(), wanted, atol=0.01)


def test_bandwidths_are_gaps_to_the_neighbours() -> None:
    x = np.array([[0.1], [0.9], [0.2], [0.5], [0.0]])
    on = np.array([[True], [True], [True], [True], [False]])
    assert_allclose(bandwidths(x, on)[:4, 0], [1 / 7, 0.4, 0.3, 0.4])  # sorted: 0.1 0.2 0.5 0.9; at least 1/(2 + n)
    assert bandwidths(np.random.default_rng(0).random((5_000, 2)), np.ones((5_000, 2), dtype=bool)).min() == NARROWEST


def test_rows_and_parts_are_two_views_of_one_thing() -> None:
    axes = axes_of(MIXED)
    rng = np.random.default_rng(3)
    for config in (MIXED.sample(rng) for _ in range(50)):
        row, active = axes.cube.encoder.encode_one(config)
        parts = axes.split(row[None], active[None])
        assert axes.cube.decode(axes.join(parts.numbers, parts.hot)[0]) == config
        assert parts.hot.sum() == 5 + (config["kind"] == "a")
    for first, size in zip(axes.starts, axes.sizes, strict=True):
        assert_allclose(axes.probabilities[first : first + size].sum(), 1.0)
