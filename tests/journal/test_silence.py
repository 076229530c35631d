"""Rungs whose losses are all the same, or differ by little more than noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.schedulers.curves import EPOCHS, falling, trained
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.inspect.why import why
from xstar.journal.silence import FEWEST, Silence
from xstar.schedulers import ASHA, SCHEDULERS, StoppingASHA
from xstar.trial import State

COMPARING: dict[str, Any] = {"min_budget": 1, "last_rung": "best", "silent": "compare"}


def silent(study: xs.Study) -> frozenset[int]:
    return study.history.memo.fold(Silence, study.history).rungs


def begins(noise: float, upto: int, seed: int) -> list[float]:
    """At chance, give or take some noise, for so many epochs."""
    rng = np.random.default_rng(seed)
    first = [2.0 + noise * float(rng.standard_normal()) for _ in range(upto)]
    return first + falling(float(rng.random()))[upto:]


def honest(end: float) -> list[float]:
    return falling(end, 1.0 + end)


def curves(noise: float, upto: int) -> list[list[float]]:
    return [begins(noise, upto, seed) for seed in range(60)]


def test_noise_below_and_differences_above() -> None:
    study = trained(ASHA(EPOCHS, **COMPARING), curves(0.01, 1), 60)
    assert study.history.levels == (1, 3, 9)
    assert silent(study) == {1}


def test_equal_losses_tell_at_once() -> None:
    study = trained(ASHA(EPOCHS, **COMPARING, ties="earliest"), curves(0.0, 1), FEWEST + 4)
    assert silent(study) == {1}
    few = trained(ASHA(EPOCHS, **COMPARING, ties="earliest"), curves(0.0, 1), FEWEST - 4)
    assert silent(few) == frozenset()


def test_honest_rungs_are_not_silent() -> None:
    curves = [honest(end) for end in np.linspace(0.1, 0.9, 30).tolist()]
    assert silent(trained(ASHA(EPOCHS, **COMPARING), curves, 60)) == frozenset()


def test_a_few_that_are_ahead_say_something() -> None:
    curves = [[2.0, *falling(end)[1:]] for end in np.linspace(0.1, 0.9, 30).tolist()]
    for ahead in curves[::10]:
        ahead[0] = 1.5
    assert silent(trained(ASHA(EPOCHS, **COMPARING), curves, 60)) == frozenset()


def test_what_has_diverged_does_not_make_the_rungs_below_silent() -> None:
    """A loss of a million at the top is far above what trials differ by below, and says nothing about that."""
    curves = [honest(end)[:3] + [1e6] * 6 for end in np.linspace(0.1, 0.9, 30).tolist()]
    assert silent(trained(ASHA(EPOCHS, **COMPARING), curves, 60)) == frozenset()


def test_trials_pass_a_silent_rung() -> None:
    study = trained(ASHA(EPOCHS, min_budget=1), curves(0.01, 1), 70)
    history = study.history
    late = [trial for trial in history.trials if trial.number > 40]
    assert late
    assert all(trial.budget >= 3 for trial in late if trial.state is not State.RUNNING)
    assert all(trial.attempt == 0 for trial in late if trial.budget == 3)  # none has paused below
    compared = trained(ASHA(EPOCHS, **COMPARING), curves(0.01, 1), 70).history
    assert sum(trial.budget == 1 for trial in compared.trials) > 1.5 * sum(
        trial.budget == 1 for trial in history.trials
    )
    assert audit(study).findings == []
    passed = next(trial for trial in late if trial.budget == 3)
    turns = why(study.journal, passed.number).turns
    assert any("differ by little more than noise" in turn.why for turn in turns if turn.what.startswith("went on"))


def test_a_fold_that_was_dropped_comes_to_the_same() -> None:
    study = trained(ASHA(EPOCHS, min_budget=1), curves(0.01, 1), 50)
    before = silent(study)
    study.history.memo.clear()
    assert silent(study) == before


def test_by_stopping_none_is_stopped_there() -> None:
    def stopped(rule: str) -> list[int]:
        study = trained(StoppingASHA(EPOCHS, min_budget=1, silent=rule), curves(0.01, 1), 60)
        assert audit(study).findings == []
        return [trial.number for trial in study.history.trials if trial.budget == 1]

    assert max(stopped("pass")) < 40 < max(stopped("compare"))


@pytest.mark.parametrize("made", [ASHA, StoppingASHA])
def test_studies_from_before_compare_at_every_rung(made: type[ASHA | StoppingASHA]) -> None:
    stored = {name: value for name, value in SCHEDULERS.dump(made(27)).items() if name not in ("silent", "diverged")}
    first, *others = (SCHEDULERS.load(each) for each in SCHEDULERS.read(stored))
    assert first == made(27, silent="compare", diverged="keep")
    assert made(27) in others
    with pytest.raises(InvalidArgument, match="silent"):
        made(27, silent="skip")
