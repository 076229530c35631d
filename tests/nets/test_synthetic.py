"""The synthetic functions of C.4, against values worked out by hand."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from tests.nets.cases import chain
from xstar.errors import InvalidArgument
from xstar.nets import CNN, MLP, Layer
from xstar.nets.synthetic import f0, f1, f2, f3


def test_a_perceptron_by_hand() -> None:
    graph = chain(Layer("ip"), Layer("relu", 100), Layer("tanh", 50), Layer("linear"), Layer("op"))
    mass = 1.3 * 5100 / 5  # 100·1 + 50·100, and three tenths of it
    common = exp(-0.001 * (mass - 1000)) + 2 * exp(-0.5 * 4.2) + exp(-0.1) + exp(-2.5) + exp(-4.8)
    np.testing.assert_allclose(f0(graph), common, rtol=1e-12)
    np.testing.assert_allclose(f2(graph), common + exp(-0.001 * (2000 - mass)) + exp(-4.6) + 0.2, rtol=1e-12)
    np.testing.assert_allclose(f3(graph), common + 0.2, rtol=1e-12)
    with pytest.raises(InvalidArgument):
        f1(graph)


def test_a_convolutional_network_by_hand() -> None:
    graph = chain(
        Layer("ip"), Layer("conv3", 8), Layer("conv5", 8, 2), Layer("max-pool"), Layer("softmax"), Layer("op")
    )
    mass = 1.3 * (8 + 64 + 8) / 6
    common = exp(-0.001 * (1000 - mass)) + 2 * exp(-0.5 * (5 - 5 / 6)) + 1 + exp(-2.4) + exp(-0.05 * 95)
    np.testing.assert_allclose(f0(graph), common, rtol=1e-12)
    strides = exp(-3 * (5 / 3 - 1.5))
    own = strides + exp(-0.3 * 44) + exp(-0.001 * (500 - mass)) + 1 / 6
    np.testing.assert_allclose(f1(graph), common + own, rtol=1e-12)
    for function in (f2, f3):
        with pytest.raises(InvalidArgument):
            function(graph)


def test_bounds() -> None:
    rng = np.random.default_rng(0)
    for domain, functions in ((MLP(4), {f0: 6, f2: 9, f3: 7}), (CNN(32), {f0: 6, f1: 10})):
        graphs = [domain.sample(rng) for _ in range(50)]
        for function, most in functions.items():
            values = [function(graph) for graph in graphs]
            assert 0 < min(values) < max(values) < most
