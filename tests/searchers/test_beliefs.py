"""πBO: the prior as a term of the acquisition function."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import xstar as xs
from tests.searchers.cases import SQUARE, run
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.searchers import GP
from xstar.searchers.model_based.beliefs import UNIFORM, believed, has_priors
from xstar.space.cube import cube_of

SPACE = xs.Space(
    kind=xs.Choice(["a", "b"], prior=[1, 3]),
    x=xs.Float(0, 1, prior=xs.Normal(0.3, 0.1)),
    y=xs.Float(0, 1, prior=xs.Normal(0.5, 0.2), when={"kind": "a"}),
    z=xs.Float(0, 1),
)


def plain(config: dict[str, object]) -> float:
    """Σ log((1 − ε) exp(−z²/2) + ε) of the numbers, and log of the option's prior in units of the uniform one."""
    shares = {"a": 0.25, "b": 0.75}
    value = math.log((1 - UNIFORM) * shares[str(config["kind"])] * 2 + UNIFORM) - math.log(
        (1 - UNIFORM) * 1.5 + UNIFORM
    )
    for name, mean, std in (("x", 0.3, 0.1), ("y", 0.5, 0.2)):
        if name in config:
            value += math.log((1 - UNIFORM) * math.exp(-0.5 * ((config[name] - mean) / std) ** 2) + UNIFORM)  # type: ignore[operator]
    return value


def test_the_term_is_the_logarithm_of_the_prior() -> None:
    rng = np.random.default_rng(0)
    configs = [SPACE.sample(rng) for _ in range(40)]
    rows = cube_of(SPACE).encoder.encode(configs)[0]
    assert_allclose(believed(SPACE, 2.5)(rows)[0], [2.5 * plain(config) for config in configs], atol=1e-12)


def test_its_gradient() -> None:
    rng = np.random.default_rng(1)
    configs = [SPACE.sample(rng) for _ in range(10)]
    rows = cube_of(SPACE).encoder.encode(configs)[0]
    term = believed(SPACE, 1.5)
    back = term(rows)[1]
    assert back is not None
    slope = back(np.ones(len(rows)))
    for column in (2, 4):  # x and z; y is inactive in some rows
        step = np.zeros(rows.shape[1])
        step[column] = 1e-6
        differences = (term(rows + step)[0] - term(rows - step)[0]) / 2e-6
        assert_allclose(slope[:, column], differences, atol=1e-4)


def test_a_prior_draws_the_first_suggestions_of_the_model() -> None:
    space = xs.Space(x=xs.Float(0, 1, prior=xs.Normal(0.8, 0.05)), y=xs.Float(0, 1))
    places = {}
    for weight in (0.0, 200.0):
        study = xs.Study(space, searcher=GP(initial=5, explore_every=0, prior_weight=weight), seed=0)
        trials = run(study, 14, lambda config: (config["x"] - 0.1) ** 2)
        places[weight] = np.mean([trial.config["x"] for trial in trials[5:]])
        assert audit(study).findings == []
    assert places[0.0] < 0.4 < 0.6 < places[200.0]


def test_without_priors_nothing_changes() -> None:
    assert not has_priors(SQUARE)
    found = []
    for weight in (0.0, 10.0):
        study = xs.Study(SQUARE, searcher=GP(prior_weight=weight), seed=0)
        found.append([trial.config for trial in run(study, 12)])
    assert found[0] == found[1]


def test_a_wrong_weight() -> None:
    with pytest.raises(InvalidArgument, match="prior_weight: must be a number of at least 0, but got -1"):
        GP(prior_weight=-1)
