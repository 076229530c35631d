"""A trial's configuration in a user's hands: what is done to it changes neither the history nor the search."""

from __future__ import annotations

from typing import Any

import pytest

import xstar as xs
from tests.trials import ask
from xstar.look.audit import audit

SPACE = xs.Space(x=xs.Float(0, 1), n=xs.Int(1, 9), sizes=xs.Choice([[8, 8], [16]]))


def careless(trial: Any) -> float:
    """What people write: take the configuration apart, and put defaults into it."""
    keywords = trial.config
    n = keywords.pop("n")
    keywords["x"] = 99.0
    trial.config["sizes"] = None
    trial.config.clear()
    assert trial["n"] == n
    assert isinstance(trial["sizes"], tuple)
    return float(trial["x"] + n)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("method", ["gp", "evolution", "pbil"])
def test_an_objective_may_take_its_configuration_apart(method: str, workers: int) -> None:
    study = xs.minimize(careless, SPACE, trials=12, method=method, seed=1, workers=workers).study
    for trial in study.history.trials:
        assert trial.state is xs.State.COMPLETE, trial.reason
        assert trial.value == trial["x"] + trial["n"]
        assert study.space.parse(trial.config) == trial.config
    assert audit(study).findings == []


def test_whoever_owns_the_loop_cannot_change_the_history() -> None:
    study = xs.Study(SPACE, method="gp", seed=1)
    for _ in range(12):
        trial = ask(study)
        before = trial.config
        careless(trial)
        assert trial.config == before == study.history.trials[trial.number].config
        study.tell(trial, careless(trial))
    study.best.config.clear()
    assert set(study.best.config) == {"x", "n", "sizes"}
    assert audit(study).findings == []
