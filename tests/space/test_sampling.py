"""Samples lie where the bounds, the conditions and the priors put them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from tests.space.cases import Words
from xstar.errors import InvalidArgument
from xstar.space import Bits, Bool, Choice, Float, Int, Normal, Ordinal, Parameter, Space

N = 20_000
# The seed is fixed, so these tests cannot flicker; a wrong distribution has a p-value of 0 at this N.
SMALLEST_P = 1e-3


def drawn(parameter: Parameter, n: int = N) -> list[Any]:
    u = np.random.default_rng(7).random((n, parameter.draws)).tolist()
    read = parameter.drawer(0)
    return [read(row) for row in u]


def assert_shares(values: Sequence[Any], shares: dict[Any, float]) -> None:
    counts = Counter(values)
    assert set(counts) <= set(shares)
    total = sum(shares.values())
    expected = [share / total * len(values) for share in shares.values()]
    assert stats.chisquare([counts[value] for value in shares], expected).pvalue > SMALLEST_P


@pytest.mark.parametrize("parameter", [Float(-3, 5), Float(1e-5, 10, log=True)])
def test_float_without_prior_is_uniform_in_its_scale(parameter: Float) -> None:
    encoded = parameter.encode_column(drawn(parameter))[:, 0]
    assert stats.kstest(encoded, "uniform").pvalue > SMALLEST_P


@pytest.mark.parametrize(
    ("parameter", "mean"),
    [
        (Float(-3, 5, prior=Normal(1, 0.2)), 0.5),
        (Float(-3, 5, prior=Normal(-3, 0.5)), 0.0),
        (Float(1e-4, 1, log=True, prior=Normal(1e-3, 0.1)), 0.25),
        (Float(1e-4, 1, log=True, prior=Normal(1, 100)), 1.0),
    ],
)
def test_float_with_a_normal_prior(parameter: Float, mean: float) -> None:
    assert parameter.prior is not None
    std = parameter.prior.std
    encoded = parameter.encode_column(drawn(parameter))[:, 0]
    law = stats.truncnorm((0 - mean) / std, (1 - mean) / std, loc=mean, scale=std)
    assert stats.kstest(encoded, law.cdf).pvalue > SMALLEST_P


def test_the_quantile_of_a_truncated_normal_is_that_of_scipy() -> None:
    parameter = Float(0, 1, prior=Normal(0.3, 0.25))
    u = np.linspace(0, 1, 101)
    expected = stats.truncnorm(-0.3 / 0.25, 0.7 / 0.25, loc=0.3, scale=0.25).ppf(u)
    assert_allclose([parameter.quantile([number]) for number in u.tolist()], expected, atol=1e-12)


@pytest.mark.parametrize("std", [1e-300, 1e-9, 0.1, 100.0])
@pytest.mark.parametrize("mean", [0.0, 0.5, 1.0])
def test_priors_stay_in_the_range_at_their_extremes(mean: float, std: float) -> None:
    parameter = Float(0, 1, prior=Normal(mean, std))
    values = [parameter.quantile([u]) for u in (0.0, 1e-300, 0.5, 1 - 1e-16, 1.0)]
    assert all(0 <= value <= 1 for value in values)
    assert values == sorted(values)


def test_int_gives_each_integer_an_equal_share() -> None:
    assert_shares(drawn(Int(-2, 4)), dict.fromkeys(range(-2, 5), 1.0))


def test_log_int_gives_each_integer_its_log_share() -> None:
    shares = {k: math.log((k + 0.5) / (k - 0.5)) for k in range(1, 21)}
    assert_shares(drawn(Int(1, 20, log=True)), shares)


def test_int_with_a_normal_prior() -> None:
    mean, std = 0.35, 0.15  # of Int(0, 9): 3 is the middle of the fourth of ten cells
    cdf = [stats.norm.cdf(k / 10, mean, std) for k in range(11)]
    assert_shares(drawn(Int(0, 9, prior=Normal(3, 0.15))), {k: float(cdf[k + 1] - cdf[k]) for k in range(10)})


@pytest.mark.parametrize("kind", [Choice, Ordinal])
def test_options_follow_their_weights(kind: type[Choice] | type[Ordinal]) -> None:
    assert_shares(drawn(kind(["a", None, (1, 2)])), {"a": 1, None: 1, (1, 2): 1})
    assert_shares(drawn(kind(["a", None, (1, 2)], prior=[1, 5, 0.5])), {"a": 1, None: 5, (1, 2): 0.5})


def test_bool_follows_its_probability() -> None:
    assert_shares(drawn(Bool()), {False: 1, True: 1})
    assert_shares(drawn(Bool(prior=0.9)), {False: 0.1, True: 0.9})


def test_bits_are_fair_and_independent() -> None:
    assert_shares(drawn(Bits(3)), dict.fromkeys([Bits(3).value_at(i) for i in range(8)], 1.0))


@pytest.mark.parametrize(
    "parameter",
    [
        Float(0.1, 0.3),
        Float(1e-7, 0.3, log=True),
        Float(3.0, 7.0, prior=Normal(4, 0.3)),
        Int(3, 9),
        Int(3, 2**39, log=True),
        Int(-(2**49), 2**49 - 1),
        Int(2**60, 2**60 + 5),
        Int(1, 100, log=True, prior=Normal(3, 0.2)),
        Choice(["a", "b", "c"]),
        Choice(["a", "b", "c"], prior=[1, 1, 1e-9]),
        Ordinal([1, 2, 3]),
        Bool(),
        Bool(prior=0.3),
    ],
)
def test_quantiles_rise_from_the_first_value_to_the_last(parameter: Parameter) -> None:
    us = [0.0, 5e-324, 1e-12, *np.linspace(0.01, 0.99, 99).tolist(), 1 - 2**-53, 1.0]
    values = [parameter.quantile([u]) for u in us]
    assert values == sorted(values)
    assert all(parameter.contains(value) for value in values)
    if isinstance(parameter, (Float, Int)) and parameter.prior is None:
        assert (values[0], values[-1]) == (parameter.low, parameter.high)


def test_children_are_drawn_only_with_their_parents() -> None:
    space = Space(
        momentum=Float(0, 0.99, when={"optimizer": "sgd"}),  # declared before its parent on purpose
        optimizer=Choice(["sgd", "adam"]),
        nesterov=Bool(when={"optimizer": "sgd"}),
        word=Words("abc", when={"optimizer": "adam"}),
    )
    rng = np.random.default_rng(0)
    for _ in range(100):
        config = space.sample(rng)
        expected = ["momentum", "optimizer", "nesterov"] if config["optimizer"] == "sgd" else ["optimizer", "word"]
        assert list(config) == expected


def test_domains_draw_from_the_generator_only_when_active() -> None:
    space = Space(one=Words("abcdef"), on=Bool(), two=Words("abcdef", when={"on": True}), three=Words("abcdef"))
    rng, twin = np.random.default_rng(3), np.random.default_rng(3)
    words = Words("abcdef")
    assert space.from_uniforms([0.0], rng) == {"one": words.sample(twin), "on": False, "three": words.sample(twin)}
    expected = {"one": words.sample(twin), "on": True, "two": words.sample(twin), "three": words.sample(twin)}
    assert space.from_uniforms([1.0], rng) == expected
    assert list(expected) == list(space)


def test_draws_are_counted_and_demanded() -> None:
    space = Space(a=Float(0, 1), mask=Bits(5), fixed=3, b=Bool())
    assert space.draws == 7
    with pytest.raises(InvalidArgument, match="7 numbers"):
        space.from_uniforms([0.5], np.random.default_rng(0))
