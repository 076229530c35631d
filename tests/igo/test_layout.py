"""Any space as one distribution: configurations to points and back, priors, conditions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import xstar as xs
from tests.space.cases import Words
from xstar.errors import InvalidArgument
from xstar.igo import IGO, Layout
from xstar.space import Normal
from xstar.testing.searchers import SPACES

SPACES_TOO = {
    **SPACES,
    "odd": xs.Space(
        a=xs.Choice(["only"]),
        b=xs.Choice([None, (1, 2)]),
        c=xs.Ordinal([8]),
        d=xs.Int(-3, 3, prior=Normal(2, 0.1)),
        e=xs.Int(1, 1000, log=True),
        f=xs.Choice(list("vwxyz"), prior=[1, 1, 1, 1, 6]),
        g=xs.Bool(prior=0.9),
        h=xs.Float(1e-5, 1, log=True, prior=Normal(1e-3, 0.05)),
        i=xs.Bits(5, when={"g": True}),
        j=xs.Choice([1, 2, 3], when={"i2": True}),
        i2=xs.Bool(),
        k=xs.Ordinal(["s", "m", "l"], prior=[1, 1, 8]),
    ),
}


@pytest.mark.parametrize("space", SPACES_TOO.values(), ids=SPACES_TOO)
def test_configurations_come_back_from_their_points(space: xs.Space) -> None:
    layout, rng = Layout(space), np.random.default_rng(1)
    core = IGO(layout.family)
    for _ in range(200):
        config = layout.config(core.sample(1, rng)[0], rng)
        assert space.parse(config) == config
        assert list(config) == [name for name in space if name in config]
        points, active = layout.points([config])
        back = layout.config(points[0], rng)
        assert {name: back[name] for name in config if not isinstance(space[name], xs.Float)} == {
            name: value for name, value in config.items() if not isinstance(space[name], xs.Float)
        }
        assert_allclose(
            [back[name] for name in config if isinstance(space[name], xs.Float)],
            [config[name] for name in config if isinstance(space[name], xs.Float)],
            rtol=1e-9,
            atol=1e-12,
        )
        assert (active is None) == (not space.structure.when)
        core.update(np.repeat(points, 2, axis=0), [1, 1])


def test_priors_are_where_it_begins() -> None:
    space = SPACES_TOO["odd"]
    layout, rng = Layout(space), np.random.default_rng(2)
    points = IGO(layout.family).sample(4000, rng)
    configs = [layout.config(point, rng) for point in points]
    assert_allclose(np.mean([config["f"] == "z" for config in configs]), 0.6, atol=0.03)
    assert_allclose(np.mean([config["g"] for config in configs]), 0.9, atol=0.03)
    assert_allclose(np.mean([config["d"] for config in configs]), 2, atol=0.15)
    assert_allclose(np.median([np.log10(config["h"]) for config in configs]), -3, atol=0.05)
    assert np.mean([config["k"] == "l" for config in configs]) > 0.5
    uniform = [np.log(config["e"]) for config in configs]
    assert_allclose(np.mean(uniform), (np.log(0.5) + np.log(1000.5)) / 2, atol=0.1)


def test_parameters_are_counted_as_degrees_of_freedom() -> None:
    layout = Layout(SPACES["mixed"])  # lr, units, size: Gaussians; kind: three options; flag and three bits
    assert layout.family.variables == 8
    assert layout.family.parameters == 3 * 2 + 2 + 4
    assert IGO(layout.family).settings.step == 12**-0.5


def test_inactive_parameters_stay_as_they_are() -> None:
    space = xs.Space(on=xs.Bool(), a=xs.Bits(3, when={"on": True}), b=xs.Float(0, 1, when={"on": False}))
    layout = Layout(space)
    core = IGO(layout.family)
    configs = [{"on": True, "a": (1, 0, 1)}, {"on": True, "a": (0, 0, 0)}]
    points, active = layout.points(configs)
    assert_array_equal(active, [[True] * 4 + [False]] * 2)
    before = core.theta
    core.update(points, [0.0, 1.0], active=active)
    assert (core.theta[[1, 3]] > before[[1, 3]]).all()
    assert_array_equal(core.theta[[0, 2, 4, 5]], before[[0, 2, 4, 5]])  # on was equal; b did not take part


def test_domains_are_drawn_and_not_learned() -> None:
    space = xs.Space(x=xs.Bits(3), word=Words("abc"))
    layout, rng = Layout(space), np.random.default_rng(3)
    drawn = {layout.config(point, rng)["word"] for point in IGO(layout.family).sample(200, rng)}
    assert len(drawn) == 6
    assert layout.family.variables == 3


@pytest.mark.parametrize(
    "space", [xs.Space(a=3), xs.Space(a=xs.Choice(["x"]), d=Words("ab"))], ids=["constant", "one option and a domain"]
)
def test_a_space_with_nothing_to_learn_is_refused(space: xs.Space) -> None:
    with pytest.raises(InvalidArgument, match="a parameter to learn about"):
        Layout(space)
