"""Losses to targets: Yeo and Johnson's transform against SciPy's, order, and awkward numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from xstar.models.targets import (
    POWERS,
    Targets,
    _all_powers,
    _quantile,
    below_penalty,
    choose,
    uninformative,
    yeo_johnson,
)


@pytest.mark.parametrize("power", [-2.0, -0.5, 0.0, 1e-13, 0.3, 1.0, 1.7, 2.0])
def test_the_transform_is_scipys(power: float) -> None:
    z = np.concatenate([np.linspace(-5, 5, 41), [1e-9, -1e-9, 300.0, -300.0]])
    assert_allclose(yeo_johnson(z, power), stats.yeojohnson(z, lmbda=power), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("power", [-2.0, -0.5, 0.0, 0.3, 1.0, 1.7, 2.0])
def test_the_inverse_turns_targets_back(power: float) -> None:
    y = np.concatenate([np.linspace(-40, 60, 41), [7.0, 7.0 + 1e-9, 900.0]])
    targets = Targets(centre=7.0, unit=3.0, power=power, mean=0.2, std=0.7)
    assert_allclose(targets.inverse(targets(y)), y, rtol=1e-6, atol=1e-9)


def test_beyond_what_losses_reach_there_is_infinity() -> None:
    """With λ = -2 no loss has a target above 1/2."""
    targets = Targets(centre=0.0, unit=1.0, power=-2.0, mean=0.0, std=1.0)
    assert targets(np.array([1e9]))[0] == pytest.approx(0.5)
    assert_array_equal(targets.inverse(np.array([0.5, 3.0])), [np.inf, np.inf])


def test_all_powers_at_once_are_one_after_the_other() -> None:
    """To the last bit: the most probable power decides what a stored study suggests."""
    z = np.random.default_rng(0).standard_cauchy(37)
    one_by_one = [yeo_johnson(z, float(power)) for power in POWERS]
    assert_array_equal(_all_powers(z), one_by_one)
    assert_array_equal(_all_powers(z).var(axis=1), [each.var() for each in one_by_one])


@pytest.mark.parametrize("transform", [False, True])
@pytest.mark.parametrize("kind", ["normal", "heavy", "light", "two"])
def test_targets_are_standardised_and_keep_the_order(transform: bool, kind: str) -> None:
    rng = np.random.default_rng(0)
    y = {
        "normal": rng.standard_normal(60),
        "heavy": np.exp(2.0 * rng.standard_normal(60)),
        "light": -np.exp(rng.standard_normal(60)),
        "two": np.array([3.0, 5.0]),
    }[kind]
    targets = Targets.of(y, transform=transform)
    t = targets(y)
    assert t.mean() == pytest.approx(0.0, abs=1e-9)
    assert t.std() == pytest.approx(1.0)
    line = np.linspace(y.min() - 2.0, y.max() + 2.0, 300)
    assert (np.diff(targets(line)) > 0.0).all()
    assert_array_equal(np.argsort(t), np.argsort(y))


def test_a_long_upper_tail_is_drawn_in_and_a_normal_one_stays() -> None:
    rng = np.random.default_rng(1)
    heavy = np.exp(2.0 * rng.standard_normal(200))
    t = Targets.of(heavy, transform=True)(heavy)
    assert Targets.of(heavy, transform=True).power < 0.5
    assert abs(float(stats.skew(t))) < 0.3 * abs(float(stats.skew(heavy)))
    assert Targets.of(rng.standard_normal(200), transform=True).power > 0.7
    assert Targets.of(heavy, transform=False).power == 1.0


def test_the_power_is_the_most_probable_one() -> None:
    """The plain form: a normal likelihood of t with its Jacobian (SciPy's), times the prior."""
    rng = np.random.default_rng(2)
    y = rng.gamma(2.0, size=50)
    targets = Targets.of(y, transform=True)
    z = (y - targets.centre) / targets.unit
    values = [stats.yeojohnson_llf(power, z) - 0.5 * (power - 1.0) ** 2 for power in POWERS]
    assert targets.power == pytest.approx(POWERS[int(np.argmax(values))])


@pytest.mark.parametrize("transform", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e12, -1e12, 1.0])
@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-12, 1.0, 1e12, 1e200])
def test_any_offset_and_scale(transform: bool, offset: float, scale: float) -> None:
    y = offset + scale * np.random.default_rng(3).standard_normal(30)
    targets = Targets.of(y, transform=transform)
    t = targets(y)
    assert np.isfinite(t).all()
    assert np.abs(t).max() < 10.0
    assert np.isfinite(targets(np.array([offset - scale, offset + 7.0 * scale, 0.0, 1.0]))).all()


@pytest.mark.parametrize("transform", [False, True])
@pytest.mark.parametrize("tail", [1e12, 1e100, 1e300, 1.7e308])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_one_absurd_loss(transform: bool, tail: float, sign: float) -> None:
    y = np.append(np.linspace(0.1, 0.9, 20), sign * tail)
    t = Targets.of(y, transform=transform)(y)
    assert np.isfinite(t).all()
    assert (np.diff(t) * np.append(np.ones(19), sign) >= 0.0).all()


def test_one_loss() -> None:
    for transform in (False, True):
        targets = Targets.of(np.array([3.0]), transform=transform)
        assert_allclose(targets(np.array([3.0])), 0.0)
        assert np.isfinite(targets(np.array([-1e30, 1e30]))).all()


def test_losses_without_a_spread_between_the_quartiles() -> None:
    y = np.array([1.0] * 20 + [2.0])
    t = Targets.of(y, transform=True)(y)
    assert t[-1] > t[0]
    assert np.isfinite(t).all()


@pytest.mark.parametrize("q", [0.25, 0.5, 0.75])
def test_quantiles_are_numpys_to_the_last_bit(q: float) -> None:
    rng = np.random.default_rng(0)
    for n in (*range(1, 40), 200):
        for y in (rng.standard_normal(n) ** 5, np.round(rng.standard_normal(n), 1), 1e300 * rng.uniform(-1.0, 1.0, n)):
            expected = np.median(y) if q == 0.5 else np.quantile(y, q)
            assert _quantile(np.sort(y).tolist(), q) == expected


def test_a_penalty_that_most_have_leaves_the_others_apart() -> None:
    y = np.append(np.full(80, 1e9), np.linspace(1.0, 3.0, 20))
    kept, lowered = (Targets.of(y, transform=True, lower_penalty=lower)(y) for lower in (False, True))
    assert np.ptp(kept[80:]) < 1e-6
    assert np.ptp(lowered[80:]) > 1.0
    assert (np.diff(lowered[80:]) > 0.0).all()
    assert (lowered[:80] > lowered[80:].max()).all()
    assert_allclose(lowered.mean(), 0.0, atol=1e-9)


@pytest.mark.parametrize(
    "y",
    [
        [1.0, 2.0, 3.0, 1e9, 1e9],  # two may be what they are
        [1.0, 2.0, 3.0, 4.0, 4.0, 4.0],  # no farther than the others lie apart
        [1.0, 1e9, 1e9, 1e9],  # a single other one
        [1.0, 1.0, 1e9, 1e9, 1e9],  # others that do not differ
        [5.0, 5.0, 5.0],
    ],
)
def test_other_losses_are_taken_as_they_are(y: list[float]) -> None:
    given = np.array(y)
    assert below_penalty(given) == np.inf
    assert Targets.of(given, transform=True, lower_penalty=True) == Targets.of(given, transform=True)


def test_what_comes_after_is_lowered_as_well() -> None:
    targets = Targets.of(np.array([1e9, 3.0, 1e9, 1.0, 1e9, 2.0]), transform=True, lower_penalty=True)
    assert targets.ceiling == 5.0
    t = targets(np.array([4.9, 5.0, 7.0, 1e12]))
    assert t[0] < t[1] == t[2] == t[3]


# ---------------------------------------------------------------- which observations, where there are too many


def made(n: int = 400, seed: int = 0, levels: tuple[int, ...] = (1, 3, 9)) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    share = 0.5 ** np.arange(len(levels))
    budget = rng.choice(levels, n, p=share / share.sum()).astype(float)
    return rng.random((n, 4)), rng.standard_normal(n), budget


def test_few_are_all() -> None:
    X, loss, budget = made(50)
    assert_array_equal(choose(X, loss, budget, 50), np.arange(50))


@pytest.mark.parametrize("limit", [10, 57, 100, 399])
@pytest.mark.parametrize("levels", [(1,), (1, 3, 9)])
def test_limit_order_and_repetition(limit: int, levels: tuple[int, ...]) -> None:
    X, loss, budget = made(levels=levels)
    places = choose(X, loss, budget, limit)
    assert len(places) == limit
    assert (np.diff(places) > 0).all()  # ascending, none twice
    assert_array_equal(places, choose(X, loss, budget, limit))


@pytest.mark.parametrize("levels", [(1,), (1, 3, 9)])
def test_the_best_quarter_is_there(levels: tuple[int, ...]) -> None:
    X, loss, budget = made(levels=levels)
    assert set(np.argsort(loss)[:25]) <= set(choose(X, loss, budget, 100))


def test_the_highest_budgets_are_there() -> None:
    X, loss, budget = made()
    budget[:] = 1
    budget[[5, 17, 200]] = 9
    budget[40:60] = 3
    places = set(choose(X, loss, budget, 100))
    assert {5, 17, 200, *range(40, 60)} <= places


def test_of_too_many_at_the_highest_budget_the_best_half_of_the_room() -> None:
    X, loss, budget = made()
    budget[:200] = 9
    budget[200:] = 1
    own = np.argsort(loss[:200])
    places = set(choose(X, loss, budget, 60))
    assert set(own[:30]) <= places


def test_the_rest_is_spread() -> None:
    """A region with one lonely bad point is not forgotten; a crowd is thinned out."""
    rng = np.random.default_rng(1)
    X = 0.01 * rng.random((300, 2))
    X[7] = [1.0, 1.0]
    loss = rng.random(300)
    loss[7] = 10.0
    assert 7 in choose(X, loss, np.ones(300), 20)


def test_equal_rows_come_last() -> None:
    rng = np.random.default_rng(2)
    distinct = rng.random((40, 3))
    X = np.vstack([distinct, np.tile(distinct[:1], (200, 1))])
    loss = np.concatenate([rng.random(40), np.full(200, 5.0)])
    places = choose(X, loss, np.ones(240), 40)
    assert_array_equal(places, np.arange(40))
    assert len(choose(X, loss, np.ones(240), 100)) == 100  # there are not so many different ones: copies fill up


def test_a_rung_at_chance_is_uninformative() -> None:
    """Whatever little noise there is; and not a rung that better trials reach, which lie closer together."""
    rng = np.random.default_rng(0)
    budget = np.repeat([1.0, 3.0, 9.0, 27.0], [40, 30, 10, 4])
    curves = np.concatenate(
        [0.9 + 0.005 * rng.standard_normal(40), np.full(30, 0.9), rng.random(10), 0.1 * rng.random(4)]
    )
    assert uninformative(curves, budget).tolist() == [1.0, 3.0]
    assert uninformative(curves[70:], budget[70:]).tolist() == []
    assert uninformative(np.full(84, 0.9), budget).tolist() == []  # nothing is known: there is no better rung
