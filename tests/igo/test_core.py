"""Algorithm 1: its degenerate twins, the figures of the paper, bad input, storing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from xstar.errors import InvalidArgument
from xstar.igo import IGO, Bernoulli, Categorical, Gaussian, Product
from xstar.igo.family import Family

MODES: list[dict[str, Any]] = [
    {"adapt": "samples"},
    {"adapt": "step"},
    {"adapt": "none", "step": 1 / 40},
    {"adapt": "none", "samples": 7, "step": 0.1},
]


def onemax(x: np.ndarray) -> np.ndarray:
    return x.shape[1] - x.sum(axis=1)


def leadingones(x: np.ndarray) -> np.ndarray:
    return x.shape[1] - np.cumprod(x, axis=1).sum(axis=1)


Losses = Callable[[np.ndarray], np.ndarray]


def steps(core: IGO, f: Losses, seed: int, generations: int) -> list[tuple[np.ndarray, np.ndarray, int, float]]:
    """(points, θ, λ, ε) of each generation."""
    rng, seen = np.random.default_rng(seed), []
    for _ in range(generations):
        points = core.sample(core.samples, rng)
        core.update(points, f(points))
        seen.append((points, core.theta, core.samples, core.step))
    return seen


def hitting_time(core: IGO, f: Losses, seed: int) -> int:
    rng, calls = np.random.default_rng(seed), 0
    while True:
        points = core.sample(core.samples, rng)
        losses = f(points)
        if not losses.all():
            return calls + int(losses.argmin()) + 1
        core.update(points, losses)
        calls += len(points)


# ---------------------------------------------------------------- twins


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("f", [onemax, leadingones])
def test_two_categories_are_bernoulli(mode: dict[str, Any], f: Losses) -> None:
    bits = steps(IGO(Bernoulli(40), **mode), f, 1, 400)
    categories = steps(IGO(Categorical(40, 2), **mode), f, 1, 400)
    for (x, p, size, step), (other, q, size_too, step_too) in zip(bits, categories, strict=True):
        assert_array_equal(x, other)
        assert_array_equal(p, q[:, 1])
        assert (size, step) == (size_too, step_too)


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_a_product_of_one_is_that_one(mode: dict[str, Any]) -> None:
    for family in (Bernoulli(20), Categorical(8, 4), Gaussian([0.3] * 5, 1.0)):
        alone, product = IGO(family, **mode), IGO(Product([family]), **mode)
        for (x, p, *sizes), (other, q, *sizes_too) in zip(
            steps(alone, lambda x: (x**2).sum(axis=1), 2, 200),
            steps(product, lambda x: (x**2).sum(axis=1), 2, 200),
            strict=True,
        ):
            assert_array_equal(x, other)
            assert_array_equal(p.ravel(), q)
            assert sizes == sizes_too


def test_an_adaptation_without_room_is_none() -> None:
    fixed = steps(IGO(Bernoulli(30), adapt="none"), onemax, 4, 100)
    for adapt in ("samples", "step"):
        bound = steps(IGO(Bernoulli(30), adapt=adapt, most=2), onemax, 4, 100)
        assert all(np.array_equal(one[1], other[1]) for one, other in zip(fixed, bound, strict=True))


# ---------------------------------------------------------------- the paper's figures


@pytest.mark.parametrize(
    ("n", "f", "mode", "low", "high"),
    [
        (30, onemax, {"adapt": "none", "step": 1 / 30}, 220, 360),
        (30, onemax, {"adapt": "samples"}, 110, 190),
        (30, onemax, {"adapt": "step"}, 140, 270),
        (100, onemax, {"adapt": "none", "step": 1 / 100}, 1900, 2600),
        (100, onemax, {"adapt": "samples"}, 560, 950),
        (100, onemax, {"adapt": "step"}, 950, 1700),
        (30, leadingones, {"adapt": "samples"}, 1500, 3500),
    ],
)
def test_hitting_times_are_those_known(n: int, f: Losses, mode: dict[str, Any], low: int, high: int) -> None:
    times = [hitting_time(IGO(Bernoulli(n), **mode), f, seed) for seed in range(11)]
    assert low <= np.median(times) <= high


def test_more_noise_means_more_points() -> None:
    def most(sd: float) -> float:
        core, rng, peak = IGO(Bernoulli(50)), np.random.default_rng(6), 2
        for _ in range(150):
            points = core.sample(core.samples, rng)
            core.update(points, onemax(points) + sd * rng.standard_normal(len(points)))
            peak = max(peak, core.samples)
        return peak

    assert most(30.0) > 2 * most(0.0)


def test_numbers_are_found_to_the_fineness_of_the_margin() -> None:
    for seed in range(5):
        core, rng = IGO(Gaussian([0.5] * 4, 0.29, low=0, high=1, least=1e-4, most=0.29)), np.random.default_rng(seed)
        for _ in range(400):
            points = core.sample(core.samples, rng)
            core.update(points, ((points - [0.7, 0.1, 0.95, 0.5]) ** 2).sum(axis=1))
        np.testing.assert_allclose(core.mode(), [0.7, 0.1, 0.95, 0.5], atol=0.01)


# ---------------------------------------------------------------- no-ops and bad input


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_equal_losses_teach_nothing(mode: dict[str, Any]) -> None:
    core, rng = IGO(Bernoulli(10), **mode), np.random.default_rng(7)
    steps(core, onemax, 7, 5)
    theta, trace = core.theta, core.trace
    for loss in (0.0, -3.5, float("inf")):
        core.update(core.sample(4, rng), [loss] * 4)
    assert core.theta is theta
    assert core.trace is trace
    assert core.generation == 8


@pytest.mark.parametrize(
    ("points", "losses", "words"),
    [
        (np.zeros((2, 3), dtype=int), [1.0, float("nan")], "NaN"),
        (np.zeros((2, 3), dtype=int), [1.0], "one for each"),
        (np.zeros((2, 3), dtype=int), [[1.0], [2.0]], "one for each"),
        (np.zeros((2, 3), dtype=int), ["a", "b"], "numbers"),
        (np.zeros((2, 4), dtype=int), [1.0, 2.0], r"\(λ, 3\)"),
        (np.zeros(3, dtype=int), [1.0], r"\(λ, 3\)"),
        ([["a"] * 3] * 2, [1.0, 2.0], "numbers"),
        (np.zeros((1, 3), dtype=int), [1.0], "two"),
        (np.full((2, 3), 2), [1.0, 2.0], "zeros and ones"),
        (np.full((2, 3), 0.5), [1.0, 2.0], "zeros and ones"),
        (np.full((2, 3), np.nan), [1.0, 2.0], "zeros and ones"),
    ],
)
def test_bad_updates_are_refused_and_change_nothing(points: Any, losses: Any, words: str) -> None:
    core = IGO(Bernoulli(3))
    theta = core.theta
    with pytest.raises(InvalidArgument, match=words):
        core.update(points, losses)
    assert core.theta is theta
    assert core.generation == 0


def test_foreign_values_are_refused_by_every_family() -> None:
    with pytest.raises(InvalidArgument, match="0 … 2"):
        IGO(Categorical(2, 3)).update([[0, 3], [1, 1]], [1, 2])
    with pytest.raises(InvalidArgument, match="finite"):
        IGO(Gaussian(0, 1)).update([[0.0], [np.inf]], [1, 2])
    with pytest.raises(InvalidArgument, match="zeros and ones"):
        IGO(Product([Categorical(1, 3), Bernoulli(1)])).update([[2, 2], [1, 1]], [1, 2])
    with pytest.raises(InvalidArgument, match="active"):
        IGO(Bernoulli(2)).update([[0, 1], [1, 1]], [1, 2], active=np.ones((2, 3), dtype=bool))


@pytest.mark.parametrize(
    "wrong",
    [
        {"adapt": "both"},
        {"step": 0.0},
        {"step": 1.5},
        {"step": float("nan")},
        {"samples": 1},
        {"samples": 2.5},
        {"most": 1},
        {"target": 0.5},
        {"target": float("inf")},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        IGO(Bernoulli(5), **wrong)


# ---------------------------------------------------------------- state


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_a_loaded_core_goes_on_as_the_old_one(mode: dict[str, Any]) -> None:
    parts: list[Family] = [
        Bernoulli(5, start=0.3),
        Categorical(3, 4, start=[1, 2, 3, 4]),
        Gaussian([0.5] * 2, 0.3, low=0, cells=0.1),
    ]
    for family in (*parts, Product(parts)):
        core = IGO(family, **mode)
        steps(core, lambda x: (x**2).sum(axis=1), 8, 30)
        twin = IGO(family, **mode)
        twin.load(json.loads(json.dumps(core.dump())))
        assert twin.generation == 30
        later, too = (steps(each, lambda x: (x**2).sum(axis=1), 9, 30) for each in (core, twin))
        for one, other in zip(later, too, strict=True):
            assert_array_equal(one[0], other[0])
            assert_array_equal(one[1], other[1])
            assert one[2:] == other[2:]


def test_a_copy_goes_its_own_way() -> None:
    core = IGO(Bernoulli(10))
    twin = core.copy()
    steps(twin, onemax, 1, 5)
    assert core.generation == 0
    assert_array_equal(core.theta, 0.5)
    assert (twin.theta != 0.5).any()


def test_what_was_not_dumped_is_refused() -> None:
    core = IGO(Bernoulli(3))
    good = core.dump()
    for wrong in (
        {**good, "theta": [0.5]},
        {**good, "theta": [0.5, 0.5, 0.99]},
        {**good, "theta": [0.5, 0.5, float("nan")]},
        {**good, "path": "x"},
        {key: value for key, value in good.items() if key != "gamma"},
    ):
        with pytest.raises(InvalidArgument):
            core.load(wrong)
    assert core.dump() == good


# ---------------------------------------------------------------- other preferences


def test_umda_is_the_average_of_the_better_half() -> None:
    core = IGO(Bernoulli(50), adapt="none", samples=10, step=1, weights="umda")
    rng = np.random.default_rng(0)
    for _ in range(5):
        points = core.sample(10, rng)
        losses = rng.random(10)
        core.update(points, losses)
        best = points[np.argsort(losses)[:5]]
        assert_allclose(core.theta, np.clip(best.mean(axis=0), 0.02, 0.98), atol=1e-12)


@pytest.mark.parametrize(
    "weights", ["truncation", "exponential", lambda f: 1.0 / (1.0 + f)], ids=["half", "exp", "own"]
)
def test_a_general_preference_is_lines_5_to_11(weights: Any) -> None:
    """θ + (ε/μ_W) Σ (W − μ_W)(x − θ)/λ, point by point."""
    core = IGO(Bernoulli(20), adapt="none", samples=6, step=0.3, weights=weights)
    rng = np.random.default_rng(1)
    points, f = core.sample(6, rng), rng.random(6)
    named = {"exponential": np.exp(-f), "truncation": np.where(f <= np.sort(f)[2], 2.0, 0.0)}
    W = named[weights] if isinstance(weights, str) else weights(f)
    theta = np.full(20, 0.5)
    mean = sum(W) / 6
    for preference, x in zip(W, points, strict=True):
        theta = theta + 0.3 / mean * (preference - mean) * (x - 0.5) / 6
    core.update(points, f)
    assert_allclose(core.theta, np.clip(theta, 0.05, 0.95))


def test_a_preference_times_a_factor_is_the_same() -> None:
    """Dividing by μ_W makes the unit of W irrelevant."""
    cores = [IGO(Bernoulli(8), weights="exponential"), IGO(Bernoulli(8), weights=lambda f: 50.0 * np.exp(-f))]
    for core in cores:
        steps(core, onemax, 3, 20)
    assert_allclose(cores[0].theta, cores[1].theta, rtol=1e-9)


def test_preferences_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="weights: must be one of quarters"):
        IGO(Bernoulli(5), weights="ranks")
    core = IGO(Bernoulli(2), weights=lambda f: -f)
    with pytest.raises(InvalidArgument, match="finite numbers that are not negative"):
        core.update(np.array([[0, 1], [1, 1]]), [1.0, 2.0])
