"""Algorithm 1 and equations (7) to (10) of Nishida et al. (2018) beside plain forms of their text, equal to rounding."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from xstar.igo import IGO, Bernoulli

Loss = Callable[[list[int]], float]


def onemax(x: list[int]) -> float:
    return float(len(x) - sum(x))


def leadingones(x: list[int]) -> float:
    return float(len(x) - sum(math.prod(x[:j]) for j in range(1, len(x) + 1)))


def weights(losses: list[float]) -> list[float]:
    """2λ/μ for the best μ = ⌈λ/4⌉, 0 for the worst μ, λ/μ in between; "averaged and distributed equally to the ties"."""
    count = len(losses)
    best = math.ceil(count / 4)
    by_rank = [2 * count / best] * best + [count / best] * (count - 2 * best) + [0.0] * best
    places = sorted(range(count), key=lambda i: losses[i])
    found = [0.0] * count
    for i in range(count):
        ties = [rank for rank, other in enumerate(places) if losses[other] == losses[i]]
        found[i] = sum(by_rank[rank] for rank in ties) / len(ties)
    return found


class Paper:
    """Algorithm 1 for Bernoulli distributions, line by line, one number at a time."""

    def __init__(self, n: int, adapt: str, step: float, metric: str) -> None:
        self.n, self.adapt, self.first, self.metric = n, adapt, step, metric
        self.theta, self.s, self.gamma, self.size = [0.5] * n, [0.0] * n, 0.0, 2.0

    def update(self, points: list[list[int]], losses: list[float], drawn: list[float] | None = None) -> None:
        drawn = self.theta if drawn is None else drawn
        n, count, W = self.n, len(points), weights(losses)
        mean = sum(W) / count  # line 5
        variance = sum((w - mean) ** 2 for w in W) / count  # line 6
        if variance == 0.0:  # line 7
            return
        step = self.first / (self.size / 2.0) if self.adapt == "step" else self.first
        gradient = [  # line 10
            sum((w - mean) * (x[k] - drawn[k]) for w, x in zip(W, points, strict=True)) / count for k in range(n)
        ]
        self.theta = [
            min(max(t + step * g, 1 / n), 1 - 1 / n) for t, g in zip(self.theta, gradient, strict=True)
        ]  # line 11
        if self.adapt == "none":
            return
        at = drawn if self.metric == "drawn" else self.theta
        scale = math.sqrt(step * (2 - step) * count / (n * variance))
        for k in range(n):  # line 12
            self.s[k] = (1 - step) * self.s[k] + scale * gradient[k] / math.sqrt(at[k] * (1 - at[k]))
        self.gamma = (1 - step) ** 2 * self.gamma + step * (2 - step)  # line 13
        size = self.size * math.exp(step * (self.gamma - sum(s * s for s in self.s) / 1.5))  # line 14
        self.size = min(max(size, 2.0), float(n))

    @property
    def samples(self) -> int:
        return round(self.size) if self.adapt == "samples" else 2


VARIANTS = {
    "cGA": {"adapt": "none", "step": 1 / 20},
    "PBIL-λ": {"adapt": "samples"},
    "PBIL-λ, listing": {"adapt": "samples", "metric": "moved"},
    "PBIL-ε": {"adapt": "step"},
    "PBIL-ε, listing": {"adapt": "step", "metric": "moved"},
}


@pytest.mark.parametrize("setting", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("f", [onemax, leadingones])
def test_algorithm_1(setting: dict[str, Any], f: Loss) -> None:
    n = 20
    core = IGO(Bernoulli(n), **setting)
    paper = Paper(n, setting["adapt"], setting.get("step", n**-0.5), setting.get("metric", "drawn"))
    rng, most = np.random.default_rng(3), 2
    for _ in range(150):
        assert core.samples == paper.samples
        points = core.sample(core.samples, rng).tolist()
        losses = [f(x) for x in points]
        core.update(points, losses)
        paper.update(points, losses)
        most = max(most, paper.samples)
        assert_allclose(core.theta, paper.theta, rtol=1e-9)
        assert_allclose(core.trace.path, paper.s, rtol=1e-7, atol=1e-9)
        assert_allclose([core.trace.gamma, core.trace.size], [paper.gamma, paper.size], rtol=1e-8)
    assert (most > 2) == (setting["adapt"] == "samples")  # the adaptation had something to do


def test_points_of_an_earlier_distribution_are_compared_at_it() -> None:
    core, paper, rng = IGO(Bernoulli(20)), Paper(20, "samples", 20**-0.5, "drawn"), np.random.default_rng(4)
    thetas = [core.theta]
    for _ in range(30):
        drawn = thetas[-3:][0]
        points = core.family.draw(drawn, core.samples, rng)
        losses = [onemax(x) for x in points.tolist()]
        core.update(points, losses, at=drawn)
        paper.update(points.tolist(), losses, drawn.tolist())
        thetas.append(core.theta)
        assert_allclose(core.theta, paper.theta, rtol=1e-9)
        assert_allclose(core.trace.path, paper.s, rtol=1e-7, atol=1e-9)


def test_the_two_readings_of_line_12_differ() -> None:
    points, losses = [[1, 0, 1, 1], [0, 0, 1, 0]], [1.0, 3.0]
    drawn, moved = (IGO(Bernoulli(4), metric=metric) for metric in ("drawn", "moved"))
    for core in (drawn, moved):
        core.update(points, losses)
    assert_allclose(moved.theta, drawn.theta)
    assert (np.abs(moved.trace.path) >= np.abs(drawn.trace.path)).all()
    assert np.linalg.norm(moved.trace.path) > 1.05 * np.linalg.norm(drawn.trace.path)


# ---------------------------------------------------------------- expectations, over all outcomes

THETA = np.array([0.3, 0.5, 0.8])
BITS = np.array(list(itertools.product((0, 1), repeat=3)))
CHANCE = np.prod(np.where(BITS == 1, THETA, 1 - THETA), axis=1)


def moments(W: Callable[[int, int], float]) -> tuple[np.ndarray, np.ndarray, float]:
    """E and Cov of ∇̃ for λ = 2 and preferences W − μ_W without a mean to subtract, and Var(W), by enumeration.

    ``W(i, coin)`` is the preference of point i when a fair coin falls so: with a coin it need not depend on the point.
    """
    family = Bernoulli(3)
    mean, square, one, two = np.zeros(3), np.zeros((3, 3)), 0.0, 0.0
    for (i, p), (j, q) in itertools.product(enumerate(CHANCE), repeat=2):
        for coins in itertools.product((0, 1), repeat=2):
            w = np.array([W(i, coins[0]), W(j, coins[1])])
            gradient = family.gradient(THETA, BITS[[i, j]].astype(np.int8), w, np.ones((2, 3), dtype=bool))
            mean += p * q / 4 * gradient
            square += p * q / 4 * np.outer(gradient, gradient)
    for i, p in enumerate(CHANCE):
        one += sum(p / 2 * W(i, coin) for coin in (0, 1))
        two += sum(p / 2 * W(i, coin) ** 2 for coin in (0, 1))
    return mean, square - np.outer(mean, mean), two - one**2


INVERSE = np.diag(THETA * (1 - THETA))
"""G⁻¹ = Cov(T)."""


def test_equation_7_and_11() -> None:
    """If W and T(x) are uncorrelated, Cov(∇̃) = Var(W) G⁻¹/λ, whose trace with G is what line 12 divides by."""
    mean, covariance, variance = moments(lambda i, coin: 2.0 if coin else -2.0)
    assert_allclose(mean, 0.0, atol=1e-14)
    assert_allclose(covariance, variance * INVERSE / 2, atol=1e-14)
    assert_allclose(np.trace(np.linalg.inv(INVERSE) @ covariance), 3 / 2 * variance)


def test_equations_8_and_9() -> None:
    """The squared norm that the path accumulates is E[∇̃ᵀG∇̃]; over the noise, it is one plus the signal over the noise."""
    mean, covariance, _ = moments(lambda i, coin: 2.0 * BITS[i].sum() - 3.0 + coin)
    G = np.linalg.inv(INVERSE)
    noise = np.trace(G @ covariance)
    signal = mean @ G @ mean / noise
    whitened = Bernoulli(3).whiten(THETA, mean)
    assert_allclose(whitened @ whitened, mean @ G @ mean)  # whiten is G^½
    assert_allclose(np.trace(G @ (covariance + np.outer(mean, mean))) / noise, 1 + signal)
    assert signal > 0.1


@pytest.mark.parametrize("beta", [0.1, 0.5, 1.0])
def test_equation_10_has_the_length_of_pure_noise(beta: float) -> None:
    """If losses say nothing, E‖s‖² = γ after every update: for λ = 2, over all outcomes of two updates at the same θ."""
    n, family = 2, Bernoulli(2)
    points = np.array(list(itertools.product((0, 1), repeat=n)), dtype=np.int8)
    theta = np.array([0.5, 0.5])
    outcomes = []  # (probability, whitened gradient) of two points of which a coin says which one is better
    for a, b in itertools.product(points, repeat=2):
        for sign in (1.0, -1.0):
            w = np.array([2.0, -2.0]) * sign
            outcomes.append((1 / 32, family.whiten(theta, family.gradient(theta, np.array([a, b]), w, None))))
    core = IGO(family, adapt="samples", step=beta)
    noise = n * 4.0 / 2
    expected = 0.0
    for (p, first), (q, second) in itertools.product(outcomes, repeat=2):
        trace = core.trace.after(first, noise, core.settings).after(second, noise, core.settings)
        expected += p * q * float(trace.path @ trace.path)
    assert_allclose(expected, trace.gamma)
    assert_allclose(trace.gamma, 1 - (1 - beta) ** 4)
