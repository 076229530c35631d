"""Ranks, gradients, metrics and margins, each against its plain form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from xstar.errors import InvalidArgument
from xstar.igo import IGO, Bernoulli, Categorical, Family, Gaussian, Product
from xstar.igo.adaptation import preferences

FAMILIES: dict[str, Family] = {
    "bernoulli": Bernoulli(4),
    "one bit": Bernoulli(1),
    "binary": Categorical(4, 2),
    "categorical": Categorical(3, 5),
    "one category": Categorical(1, 3),
    "gaussian": Gaussian([0.5, 0.2, 0.9], 0.3, low=0, high=1, most=0.3, cells=[0, 0.25, 0.01]),
    "log integers": Gaussian([0.5] * 2, 0.3, low=0, high=1, most=0.3, cells=0.1, origin=np.log(0.5), span=[7.6, 0]),
    "product": Product([Bernoulli(2), Categorical(2, 3), Gaussian([0.5] * 2, 0.3, low=0, high=1, least=0.01)]),
}
every = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


# ---------------------------------------------------------------- ranks


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, float("inf")]), min_size=2, max_size=15))
def test_preferences_are_those_of_the_paper(losses: list[float]) -> None:
    count = len(losses)
    chosen = -(-count // 4)
    weights = [2 * count / chosen] * chosen + [count / chosen] * (count - 2 * chosen) + [0.0] * chosen
    ranked = sorted(losses)
    expected = []
    for loss in losses:
        ranks = [rank for rank, other in enumerate(ranked) if other == loss]
        expected.append(sum(weights[rank] for rank in ranks) / len(ranks))
    found = preferences(np.array(losses))
    assert_allclose(found, np.array(expected) - np.mean(expected), atol=1e-12)
    assert found.any() == (len(set(losses)) > 1)  # exactly 0 where there is nothing to learn


# ---------------------------------------------------------------- gradient and metric


def statistic(family: Family, x: np.ndarray) -> np.ndarray:
    """T(x) with the dependent coordinates left out, one point."""
    if isinstance(family, Bernoulli):
        return x.astype(float)
    if isinstance(family, Categorical):
        return np.array([[x[d] == k for k in range(1, family.values)] for d in range(len(x))], dtype=float).ravel()
    return np.stack([x, x**2], axis=1).ravel()


def expectation(family: Family, theta: np.ndarray) -> np.ndarray:
    if isinstance(family, Categorical):
        return theta[:, 1:].ravel()
    if isinstance(family, Gaussian):
        return np.stack([theta[:, 0], theta[:, 0] ** 2 + theta[:, 1]], axis=1).ravel()
    return theta


def covariance(family: Family, theta: np.ndarray) -> np.ndarray:
    """The inverse of the Fisher matrix: Cov T(x) (paper, "Exponential family with expectation parameters")."""
    if isinstance(family, Bernoulli):
        return np.diag(theta * (1 - theta))
    blocks = []
    for row in theta:
        if isinstance(family, Categorical):
            blocks.append(np.diag(row[1:]) - np.outer(row[1:], row[1:]))
        else:
            m, v = row
            blocks.append(np.array([[v, 2 * m * v], [2 * m * v, 4 * m**2 * v + 2 * v**2]]))
    size = len(blocks[0])
    full = np.zeros((size * len(blocks),) * 2)
    for place, block in enumerate(blocks):
        full[place * size : (place + 1) * size, place * size : (place + 1) * size] = block
    return full


SIMPLE = [Bernoulli(5), Categorical(3, 4), Categorical(3, 2), Gaussian([0.2, 1.5, -1.0], [0.5, 1.0, 2.0])]


@pytest.mark.parametrize("family", SIMPLE, ids=lambda family: f"{type(family).__name__}-{family.parameters}")
def test_the_metric_is_the_inverse_covariance(family: Family) -> None:
    """‖whiten(∇̃)‖² = ∇̃ᵀ Cov(T)⁻¹ ∇̃, with the gradient in expectation parameters from a plain loop."""
    rng = np.random.default_rng(1)
    theta = family.start()
    for _ in range(20):
        points = family.draw(theta, 6, rng)
        w = preferences(rng.random(6))
        plain = sum(w[i] * (statistic(family, points[i]) - expectation(family, theta)) for i in range(6)) / 6
        gradient = family.gradient(theta, points, w, None)
        white = family.whiten(theta, gradient)
        assert_allclose(white @ white, plain @ np.linalg.solve(covariance(family, theta), plain), rtol=1e-9)
        if isinstance(family, Categorical):
            assert_allclose(gradient[:, 1:].ravel(), plain, atol=1e-14)
            assert_allclose(gradient.sum(axis=1), 0, atol=1e-14)
        theta = family.move(theta, gradient, 0.1, theta)


@pytest.mark.parametrize("family", SIMPLE, ids=lambda family: f"{type(family).__name__}-{family.parameters}")
def test_noise_alone_has_the_length_that_the_adaptation_divides_by(family: Family) -> None:
    """Equation (11): E‖G^½ ∇̃‖² = n σ_W² / λ where losses have nothing to do with points. Conditions count in."""
    rng, count = np.random.default_rng(2), 6
    theta = family.start()
    lengths, noises = [], []
    for _ in range(4000):
        active = rng.random((count, family.variables)) < 0.7
        w = preferences(rng.random(count))
        white = family.whiten(theta, family.gradient(theta, family.draw(theta, count, rng), w, active))
        lengths.append(white @ white)
        noises.append((w**2 * (active @ family.freedom)).sum() / count**2)
    assert_allclose(np.mean(lengths), np.mean(noises), rtol=0.06)


def test_an_inactive_variable_takes_no_gradient() -> None:
    rng = np.random.default_rng(3)
    for family in FAMILIES.values():
        theta = family.start()
        points = family.draw(theta, 6, rng)
        active = np.ones(points.shape, dtype=bool)
        active[:, 0] = False
        active[:3, -1] = False
        w = preferences(np.arange(6.0))
        gradient = family.gradient(theta, points, w, active)
        if family.variables > 1:
            changed = points.copy()
            changed[:, 0] = points[::-1, 0]  # values nobody used
            changed[:3, -1] = points[2::-1, -1]
            assert_array_equal(family.gradient(theta, changed, w, active), gradient)
        if not isinstance(family, Product):
            assert not np.asarray(gradient)[0].any()
        assert_array_equal(family.gradient(theta, points, w, np.ones_like(active)).shape, gradient.shape)
        assert_allclose(
            family.gradient(theta, points, w, np.ones_like(active)), family.gradient(theta, points, w, None), atol=1e-12
        )


def test_carrying_to_the_centre_is_bernoullis_metric_for_two_values() -> None:
    rng = np.random.default_rng(4)
    p = rng.uniform(0.05, 0.95, 50)
    g = rng.normal(size=50)
    two = Categorical(50, 2)
    carried = two._carried(np.stack([1 - p, p], axis=1), np.stack([-g, g], axis=1))
    plain = (g / np.sqrt(p * (1 - p)))[:, None] * np.array([-1, 1]) / np.sqrt(2)
    assert_allclose(carried, plain, atol=1e-12)


def test_no_category_is_privileged() -> None:
    rng = np.random.default_rng(5)
    theta = rng.dirichlet(np.ones(4), 6) * 0.8 + 0.05
    gradient = rng.normal(size=(6, 4)) * theta
    gradient -= theta * gradient.sum(axis=1, keepdims=True)
    family, order = Categorical(6, 4), [2, 0, 3, 1]
    white = family.whiten(theta, gradient).reshape(6, 4)
    assert_allclose(white.sum(axis=1), 0, atol=1e-12)
    assert_allclose(family.whiten(theta[:, order], gradient[:, order]).reshape(6, 4), white[:, order], atol=1e-12)


# ---------------------------------------------------------------- margins


@every
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), step=st.floats(1e-3, 1.0), tied=st.booleans())
def test_theta_never_leaves_its_margins(family: Family, seed: int, step: float, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    core = IGO(family, adapt="none", step=step, samples=int(rng.integers(2, 9)))
    assert family.inside(core.theta)
    before = core.theta
    for _ in range(30):
        points = core.sample(core.samples, rng)
        losses = points.sum(axis=1) * rng.choice([-1, 1]) if tied else rng.random(len(points))
        active = rng.random(points.shape) < 0.7 if tied else None
        late = before if rng.random() < 0.3 else None
        before = core.theta
        core.update(points, losses, active=active, at=late)
        assert family.inside(core.theta)
        family.check(core.sample(3, rng))


def test_at_the_margins_one_variable_in_all_differs() -> None:
    for values in (2, 3, 5, 10):
        family = Categorical(100, values)
        theta = family.start()
        for _ in range(2000):
            push = np.full(theta.shape, -1.0)
            push[:, 0] = values - 1.0
            theta = family.move(theta, push, 0.01, theta)
        assert_allclose((1 - theta[:, 0]).sum(), 1.0)
        assert_allclose(theta[:, 1:], 1 / (100 * (values - 1)))


def test_margins_of_cells_let_one_variable_in_all_leave_its_own() -> None:
    rng = np.random.default_rng(7)
    for variables in (2, 10, 50):
        family = Gaussian(np.full(variables, 0.5), 1e-9, cells=0.2, least=1e-9)
        drawn = family.draw(family.start(), 20_000, rng)
        assert_allclose((np.abs(drawn - 0.5) > 0.1).mean() * variables, min(1.0, variables / 2), rtol=0.05)


def test_cells_of_log_integers_become_narrower() -> None:
    family = Gaussian(
        0.5, 0.3, low=0, high=1, most=0.3, cells=0.5, origin=np.log(0.5), span=np.log(1000.5) - np.log(0.5)
    )
    at = (np.log([1.0, 10.0, 1000.0]) - np.log(0.5)) / (np.log(1000.5) - np.log(0.5))
    least = [np.sqrt(family.variances(np.array([m]))[0][0]) for m in at]
    widths = np.log((np.array([1, 10, 1000]) + 0.5) / (np.array([1, 10, 1000]) - 0.5)) / (np.log(1000.5) - np.log(0.5))
    assert_allclose(least, family.share * widths, rtol=1e-6)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bernoulli(0),
        lambda: Bernoulli(True),
        lambda: Bernoulli(3, start=[0.5, 0.5]),
        lambda: Bernoulli(3, start=1.0),
        lambda: Categorical(3, 1),
        lambda: Categorical(2, 3, start=[1, 1]),
        lambda: Categorical(2, 3, start=[1, 0, 1]),
        lambda: Gaussian(0, 0),
        lambda: Gaussian([0, 0, 0], [1, 1]),
        lambda: Gaussian(float("nan"), 1),
        lambda: Gaussian(0, 1, low=1, high=0),
        lambda: Gaussian(0, 1, least=2, most=1),
        lambda: Product([]),
        lambda: Product([Product([Bernoulli(2)])]),
    ],
)
def test_families_that_make_no_sense_are_refused(make: object) -> None:
    with pytest.raises(InvalidArgument):
        make()  # type: ignore[operator]
