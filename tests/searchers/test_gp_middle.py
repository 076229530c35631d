"""The first trial of the GP is the middle of the space, where there is one."""

from __future__ import annotations

import pytest

import xstar as xs
from xstar.schedulers import ASHA
from xstar.searchers import DNGO, GP, Searcher

SPACE = xs.Space(
    depth=xs.Int(1, 5),
    rate=xs.Float(1e-4, 1.0, log=True, when={"depth": xs.at_least(2)}),
    late=xs.Float(0.0, 1.0, when={"depth": xs.at_least(4)}),
    width=xs.Ordinal([1, 2, 4]),
    prior=xs.Float(0.0, 10.0, prior=xs.Normal(8.0, 0.05)),
)


def first(searcher: Searcher, space: xs.Space = SPACE, **options: object) -> xs.Trial:
    trial = xs.Study(space, searcher=searcher, seed=3, **options).ask()  # type: ignore[arg-type]
    assert trial is not None
    return trial


def test_numbers_are_at_the_median_and_conditions_hold() -> None:
    trial = first(GP(prior_weight=0.0))
    assert trial.origin == "gp: initial 1, the middle of the space"
    assert trial.config == {"depth": 3, "rate": pytest.approx(1e-2), "width": 2, "prior": pytest.approx(8.0, rel=1e-4)}
    assert "middle" not in first(GP()).origin  # priors that may be doubted have a first trial of their own
    assert first(DNGO()).origin == "dngo: initial 1, sobol: point 0"


def test_there_is_none_of_options_over_budgets_and_of_networks() -> None:
    options = xs.Space(a=xs.Choice(["p", "q"]), b=xs.Float(0, 1))
    assert "middle" not in first(GP(), options).origin
    assert "middle" not in first(GP(), scheduler=ASHA(27)).origin
    networks = xs.Space(net=xs.nets.MLP(inputs=8, outputs=2), lr=xs.Float(0, 1))
    assert "middle" not in first(GP(), networks).origin
