"""The sum over parameters is what ``Sum`` of ``Columns`` of ``Stationary`` is, and finds functions that are sums."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from xstar.models import additive as module
from xstar.models.additive import Additive
from xstar.models.composite import Columns, Sum
from xstar.models.gp import Posterior, fit
from xstar.models.kernels import Stationary
from xstar.models.likelihood import log_posterior
from xstar.models.surrogate import Inputs, Plain, at_full_budget, with_own_terms

GROUPS, LABELS = (0, 1, 2, 2, 2, 3), ("a", "b", "c", "d")
OWN = [[0], [1], [2, 3, 4], [5]]


@pytest.mark.parametrize(("other", "kept"), [(False, 1_000), (False, 0), (True, 1_000)])
def test_the_terms_are_those_of_one_kernel_after_the_other(
    monkeypatch: pytest.MonkeyPatch, other: bool, kept: int
) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", kept)
    rng = np.random.default_rng(0)
    additive = Additive(GROUPS, LABELS)
    plain = Sum(tuple(Columns(Stationary("matern52", (0,) * len(own), ("x",)), tuple(own)) for own in OWN))
    theta = 0.3 * rng.standard_normal(8)
    order = [place for g in range(4) for place in (g, 4 + g)]  # theirs: length and scale of each in turn
    A, B = rng.random((7, 6)), rng.random((5, 6)) if other else None
    ours, theirs = additive.at(theta, A, B), plain.at(theta[order], A, B)
    W = rng.standard_normal(ours.K.shape)
    assert_allclose(ours.K, theirs.K, atol=1e-13)
    assert_allclose(ours.to_theta(W)[order], theirs.to_theta(W), atol=1e-12)
    assert_allclose(ours.to_left(W), theirs.to_left(W), atol=1e-12)
    assert_allclose(additive.variance(theta, A).values, np.diagonal(additive.at(theta, A).K))
    assert len(additive.names) == len(theta)


@pytest.mark.parametrize(("m", "n"), [(6, 40), (1, 1), (1, 30), (9, 0)])
def test_terms_computed_at_once_are_the_same_to_the_last_bit(monkeypatch: pytest.MonkeyPatch, m: int, n: int) -> None:
    """Studies are audited to the last bit, so how the terms are computed must not show. ``n`` = 0: the matrix of a fit."""
    rng = np.random.default_rng(m)
    additive, theta = Additive((2, 0, 1, 4, 3), tuple("abcde")), rng.standard_normal(10)
    A, B = rng.random((m, 5)), rng.random((n, 5)) if n else None
    W = rng.standard_normal((m, n or m))
    found = []
    for most in (10_000, 0):
        monkeypatch.setattr(module, "AT_ONCE", most)
        made = additive.at(theta, A, B)
        found.append((made.K, made.to_theta(W), made.to_left(W)))
    for at_once, in_turn in zip(*found, strict=True):
        assert_array_equal(at_once, in_turn)


def test_what_is_kept_of_growing_inputs_is_what_would_be_computed() -> None:
    """To the last bit; also where others had been there, or other hyperparameters."""
    rng = np.random.default_rng(3)
    labels = tuple("abcde")
    kept = Additive((2, 0, 1, 4, 3), labels)
    X, other = rng.random((2, 70, 5))
    theta, later = rng.standard_normal((2, 10))
    fewest = module.FEWEST_KEPT
    for inputs, own in [
        (X[:fewest], theta),
        (X[: fewest + 1], theta),
        (X[: fewest + 9], theta),
        (X[: fewest + 9], theta),
        (X[: fewest + 10], later),
        (other, later),
        (X[: fewest + 3], later),
        (X, later),
        (X[:9], later),
    ]:
        made, expected = (each.beside(own, inputs)(inputs.copy()) for each in (kept, Additive(kept.groups, labels)))
        W = rng.standard_normal(expected.K.shape)
        assert_array_equal(made.K, expected.K)
        assert_array_equal(made.K, expected.K.T)
        assert_array_equal(made.to_left(W), expected.to_left(W))
        assert_array_equal(made.to_theta(W), expected.to_theta(W))
    assert kept == Additive(kept.groups, labels)
    several = Additive(
        (0, 0, 1, 2, 3), tuple("abcd")
    )  # inner products: how they are rounded depends on how many there are
    several.beside(theta[:8], X)(X)
    assert several._latest._kept is None
    assert kept._latest._kept is not None


def test_a_sum_of_ripples_is_told_from_a_function_of_all() -> None:
    rng = np.random.default_rng(1)
    X, A = rng.random((60, 4)), rng.random((200, 4))
    inputs = Inputs((0, 1, 2, 3), tuple("abcd"), ())
    product = at_full_budget(inputs)
    assert isinstance(product, Plain)
    both = with_own_terms(product, inputs)

    def ripples(X: np.ndarray) -> np.ndarray:
        return np.sin(9.0 * X).sum(axis=1)

    def together(X: np.ndarray) -> np.ndarray:
        return np.sin(3.0 * X.sum(axis=1)) * 2.0

    better = {}
    for function in (ripples, together):
        found = [(each, fit(each, X, function(X), rng)) for each in (product, both)]
        better[function] = log_posterior(*found[1], X, function(X)) - log_posterior(*found[0], X, function(X))
        if function is ripples:
            wrong = [
                float(np.square(Posterior.of(each, theta, X, function(X)).means(A)[:, 0] - function(A)).mean())
                for each, theta in found
            ]
            assert wrong[1] < 0.1 * wrong[0]
    assert better[ripples] > 5.0
    assert better[together] < 0.0
