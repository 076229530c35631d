"""Search among switches: length scales with a factor in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, check_earlier_default, run
from xstar.models.priors import LENGTH, SHARED_LENGTH, SWITCH_LENGTH, Prior
from xstar.searchers import GP, SEARCHERS, Auto
from xstar.searchers.gp.earlier import (
    BEFORE_ALIKE,
    BEFORE_LEVEL,
    BEFORE_LONGER,
    BEFORE_NOISY,
    BEFORE_SPREAD,
    BEFORE_STRAIGHT,
)
from xstar.searchers.gp.fit import GPLearner
from xstar.searchers.gp.kernels import length_prior
from xstar.searchers.model_based.observations import Observations

SWITCHES = xs.Space({f"s{place}": xs.Bool() for place in range(16)})
HIDDEN = np.random.default_rng(3).random(16) < 0.5


def wrong(config: dict[str, Any]) -> float:
    """How many switches are not as in a hidden string."""
    return float((np.fromiter(config.values(), bool) != HIDDEN).sum())


def learner_of(study: xs.Study, searcher: GP) -> GPLearner:
    return GPLearner(study.history, Observations.of(study.history, in_numbers=True), searcher)


# ---------------------------------------------------------------- length scales


@pytest.mark.parametrize(
    ("space", "alike", "shared"),
    [
        (SWITCHES, SWITCH_LENGTH, LENGTH),
        (xs.Space(mask=xs.Bits(40)), SWITCH_LENGTH, LENGTH),
        (xs.Space(mask=xs.Bits(4), x=xs.Float(0, 1)), LENGTH, LENGTH),
        (xs.Space(mask=xs.Bits(4), kind=xs.Choice(["a", "b", "c"])), LENGTH, LENGTH),
        (SQUARE, SHARED_LENGTH, SHARED_LENGTH),
    ],
    ids=["switches", "many bits", "with a number", "with a choice", "numbers"],
)
def test_switches_alone_have_length_scales_with_a_factor_in_common(
    space: xs.Space, alike: Prior, shared: Prior
) -> None:
    study = xs.Study(space, method="random", seed=1)
    run(study, 3, lambda config: 1.0)
    data = learner_of(study, GP()).data
    assert length_prior(data, "alike") == alike
    assert length_prior(data, "shared") == shared
    assert length_prior(data, "independent") == LENGTH


def test_what_one_switch_does_is_learned_from_strings_that_differ_in_others() -> None:
    """Of thirty strings at random each differs from the next in eight switches: with independent length scales a model of them
    predicts the mean, with a factor in common it knows the count of wrong ones."""
    study = xs.Study(SWITCHES, method="random", seed=1)
    run(study, 30, wrong)
    drawn = [SWITCHES.sample(np.random.default_rng(seed)) for seed in range(100, 160)]
    truth = np.array([wrong(config) for config in drawn])
    told = {}
    for lengths in ("shared", "alike"):
        learner = learner_of(study, GP(lengths=lengths, structure="product"))
        X = learner.inputs(learner.data.encoded(drawn), np.ones(len(drawn)))
        mean = learner.fitted.posteriors[0].predict(X).mean.reshape(-1)
        told[lengths] = float(np.corrcoef(mean, truth)[0, 1])
    assert told["alike"] > 0.8 > told["shared"] + 0.05


# ---------------------------------------------------------------- studies from before


@pytest.mark.parametrize(("method", "before"), [("gp", GP(**BEFORE_ALIKE)), ("auto", Auto(defaults=9))])
def test_a_study_from_before_goes_on_as_it_did(method: str, before: GP | Auto, tmp_path: Path) -> None:
    check_earlier_default(method, before, SWITCHES, wrong, tmp_path, (20, 16))


def test_defaults_of_before_are_read_as_they_were_stored() -> None:
    today = SEARCHERS.dump(GP())
    for before in (BEFORE_ALIKE, {**BEFORE_ALIKE, **BEFORE_NOISY}, BEFORE_NOISY):
        stored = {**today, **before}
        assert SEARCHERS.load(stored) == GP(**before)
        assert today in SEARCHERS.read(stored)
    assert today not in SEARCHERS.read({**today, "lengths": "independent"})
    earlier = {**BEFORE_LEVEL, **BEFORE_ALIKE, **BEFORE_LONGER, **BEFORE_SPREAD, **BEFORE_STRAIGHT}
    assert Auto(defaults=9)._gp == GP(**earlier)
