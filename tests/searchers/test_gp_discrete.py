"""Search among switches: length scales with a factor in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, run
from xstar.models.gp_prior import length_prior
from xstar.models.priors import LENGTH, SHARED_LENGTH, SWITCH_LENGTH, Prior
from xstar.searchers.bo.observations import Observations
from xstar.searchers.bo.surrogate import Data
from xstar.searchers.gp import fit as gp_fit
from xstar.space.cube import cube_of

SWITCHES = xs.Space({f"s{place}": xs.Bool() for place in range(16)})
HIDDEN = np.random.default_rng(3).random(16) < 0.5


def wrong(config: dict[str, Any]) -> float:
    """How many switches are not as in a hidden string."""
    return float((np.fromiter(config.values(), bool) != HIDDEN).sum())


# ---------------------------------------------------------------- length scales


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        (SWITCHES, SWITCH_LENGTH),
        (xs.Space(mask=xs.Bits(40)), SWITCH_LENGTH),
        (xs.Space(mask=xs.Bits(4), x=xs.Float(0, 1)), LENGTH),
        (xs.Space(mask=xs.Bits(4), kind=xs.Choice(["a", "b", "c"])), LENGTH),
        (SQUARE, SHARED_LENGTH),
    ],
    ids=["switches", "many bits", "with a number", "with a choice", "numbers"],
)
def test_switches_alone_have_length_scales_with_a_factor_in_common(space: xs.Space, expected: Prior) -> None:
    study = xs.Study(space, method="random", seed=1)
    run(study, 3, lambda config: 1.0)
    assert length_prior(cube_of(study.space)) == expected


def test_what_one_switch_does_is_learned_from_strings_that_differ_in_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thirty strings at random each differs from the next in eight switches: with independent length scales a model of them
    predicts the mean, with a factor in common it knows the count of wrong ones."""
    study = xs.Study(SWITCHES, method="random", seed=1)
    run(study, 30, wrong)
    drawn = [SWITCHES.sample(np.random.default_rng(seed)) for seed in range(100, 160)]
    truth = np.array([wrong(config) for config in drawn])
    told = {}
    for name, prior in (("in common", SWITCH_LENGTH), ("independent", LENGTH)):
        monkeypatch.setattr(gp_fit, "length_prior", lambda cube, prior=prior: prior)
        study.history.memo.clear()
        data = Data(study.history, Observations.of(study.history))
        (model,) = gp_fit.GaussianProcess().fit(data, data.losses()).models
        mean = model.means(data.observed.encoded(drawn)).reshape(-1)
        told[name] = float(np.corrcoef(mean, truth)[0, 1])
    assert told["in common"] > 0.8 > told["independent"] + 0.05
