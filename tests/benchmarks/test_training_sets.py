"""XGBoost over shares of its training set, for tasks that nothing was chosen on."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from benchmarks import curves, objectives
from benchmarks.harness.problems import named
from benchmarks.harness.trade_off_tables import XGBOOST, xgboost_answers
from benchmarks.harness.training_sets import SHARES, UNSEEN, TrainingSets, missing


@pytest.fixture
def problem() -> TrainingSets:
    if reason := missing():
        pytest.skip(reason)
    return TrainingSets(7)


def test_nothing_was_chosen_on_these_tasks() -> None:
    names = {name.removeprefix("rbv2-") for name in UNSEEN}
    assert len(names) == 8
    assert not names & {name for cases in objectives.CASES.values() for name in cases}
    assert len(set(curves.SETS["unseen"])) == 6
    assert set(curves.SETS["unseen"]) < set(UNSEEN)


def test_tasks_of_even_number_are_kept_aside() -> None:
    with pytest.raises(ValueError, match="must be odd, but is 8"):
        named("rbv2-xgboost-8")


def test_curves_are_those_of_the_surrogate(problem: TrainingSets) -> None:
    rng = np.random.default_rng(0)
    configs = [problem.space.sample(rng) for _ in range(20)]
    answers = xgboost_answers(7)(configs, SHARES)
    assert answers.shape == (20, 27, 9)
    for config, answer in zip(configs, answers, strict=True):
        curve = problem.curve(config, 0)
        np.testing.assert_allclose(curve.losses, 100.0 * (1.0 - answer[:, 2]), atol=0.01)  # single precision
        assert all(0.0 < a < b for a, b in pairwise(curve.seconds))
        assert problem.loss(config) == curve.losses[-1] >= problem.optimum
    assert problem.loss(problem.best) == problem.optimum


def test_the_surrogate_is_told_zero_of_what_takes_no_part(problem: TrainingSets) -> None:
    rng = np.random.default_rng(0)
    linear = next(config for config in iter(lambda: XGBOOST.sample(rng), None) if config["booster"] == "gblinear")
    zeros = dict.fromkeys(set(XGBOOST) - set(linear), 0.0)
    assert "eta" in zeros
    assert problem.curve({**linear, **zeros}, 0) == problem.curve(linear, 0)
