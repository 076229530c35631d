"""The classic functions against their textbook values and a plain NumPy form."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from xstar.errors import InvalidArgument
from xstar.testing import problems
from xstar.testing.problems import synthetic

NAMES = ["branin", "hartmann6", "ackley10", "rosenbrock4", "levy6"]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_around_the_best_place_is_better(name: str) -> None:
    problem = problems.get(name)
    rng = np.random.default_rng(1)
    for length in (1e-6, 1e-3, 1e-1):
        for _ in range(300):
            near = {
                key: float(np.clip(value + length * rng.normal(), problem.space[key].low, problem.space[key].high))  # type: ignore[union-attr]
                for key, value in problem.best.items()
            }
            assert problem.loss(near) >= problem.optimum - 1e-14


@pytest.mark.parametrize("place", [(-pi, 12.275), (pi, 2.275), (3 * pi, 2.475)])
def test_branin_has_three_minima(place: tuple[float, float]) -> None:
    assert synthetic.branin(place) == pytest.approx(0.39788735772973816, abs=1e-14)


def test_values_known_from_the_literature() -> None:
    assert synthetic.branin((0.0, 0.0)) == pytest.approx(55.602112642270262, rel=1e-12)
    assert problems.get("hartmann6").optimum == pytest.approx(-3.32237, abs=1e-5)
    assert synthetic.rosenbrock4((0.0, 0.0, 0.0, 0.0)) == 3.0
    assert synthetic.ackley10(tuple(c + 1.0 for c in synthetic.ACKLEY_CENTRE)) == pytest.approx(3.6253849384403627)


def ackley_plain(x: NDArray[np.float64]) -> float:
    z = x - np.array(synthetic.ACKLEY_CENTRE)
    return float(-20 * np.exp(-0.2 * np.sqrt(np.mean(z**2))) - np.exp(np.mean(np.cos(2 * pi * z))) + 20 + np.e)


def hartmann_plain(x: NDArray[np.float64]) -> float:
    inner = (np.array(synthetic.HARTMANN_A) * (x - np.array(synthetic.HARTMANN_P)) ** 2).sum(axis=1)
    return float(-np.array(synthetic.HARTMANN_ALPHA) @ np.exp(-inner))


def levy_plain(x: NDArray[np.float64]) -> float:
    w = 1 + (x - 1) / 4
    middle = (w[:-1] - 1) ** 2 * (1 + 10 * np.sin(pi * w[:-1] + 1) ** 2)
    last = (w[-1] - 1) ** 2 * (1 + np.sin(2 * pi * w[-1]) ** 2)
    return float(np.sin(pi * w[0]) ** 2 + middle.sum() + last)


def test_the_fast_forms_equal_the_plain_ones() -> None:
    rng = np.random.default_rng(2)
    for fast, plain, low, high, d in (
        (synthetic.ackley10, ackley_plain, -32, 32, 10),
        (synthetic.hartmann6, hartmann_plain, 0, 1, 6),
        (synthetic.levy6, levy_plain, -10, 10, 6),
    ):
        for x in rng.uniform(low, high, size=(50, d)):
            assert_allclose(fast(x.tolist()), plain(x), rtol=1e-12, atol=1e-12)


def test_noise_is_there_on_demand_and_has_the_size_asked_for() -> None:
    quiet, noisy = problems.get("branin"), problems.get("branin", noise=0.5)
    config = {"x1": 1.0, "x2": 2.0}
    assert quiet.curve(config, 0) == quiet.curve(config, 1)
    draws = np.array([noisy.curve(config, seed).losses[0] for seed in range(4000)]) - quiet.loss(config)
    assert_allclose([draws.mean(), draws.std()], [0.0, 0.5], atol=0.03)
    # Another configuration, another noise: the order of two configurations can change.
    other = {"x1": 1.0, "x2": 2.0000001}
    assert abs(np.corrcoef(draws, [noisy.curve(other, seed).losses[0] for seed in range(4000)])[0, 1]) < 0.06
    with pytest.raises(InvalidArgument, match="noise"):
        problems.get("branin", noise=-1.0)
