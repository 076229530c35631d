"""Over budgets, trials that diverged count as failed; and rungs whose losses differ by noise are left out of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.searchers.training import EPOCHS, honest, searched, small
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.journal.divergence import Divergence
from xstar.journal.silence import Silence
from xstar.schedulers import ASHA, StoppingASHA
from xstar.searchers import GP, SEARCHERS, Auto
from xstar.searchers.gp.earlier import BEFORE_BESIDE, BEFORE_DIVERGED
from xstar.searchers.model_based.observations import Observations
from xstar.trial import State, Trial

BROAD = ASHA(EPOCHS, diverged="keep", silent="compare")


def exploding(trial: Trial, epoch: int) -> float:
    """Beyond the middle it is better at first, and a million from epoch 12 on."""
    if trial["x"] <= 0.5:
        return honest(trial, epoch)
    return 1e6 if epoch >= 12 else honest(trial, epoch) - 0.5


def collapsing(trial: Trial, epoch: int) -> float:
    return min(exploding(trial, epoch), 2.0)


def at_chance(trial: Trial, epoch: int) -> float:
    noise = float(np.random.default_rng((trial.number, epoch)).standard_normal())
    return 3.0 + 0.001 * noise if epoch <= 3 else honest(trial, epoch)


@pytest.mark.parametrize("loss", [exploding, collapsing])
def test_what_the_model_knows(loss: Callable[[Trial, int], float]) -> None:
    study = searched(small(GP()), 24, loss)
    history = study.history
    divergence = history.memo.fold(Divergence, history)
    assert divergence.order
    assert all(history.trials[number]["x"] > 0.5 for number in divergence.order)
    data = Observations.of(history).without_diverged(divergence)
    assert data.loss.max() < 2.0
    assert data.diverged == tuple(divergence.order)
    assert data.has_failed == set(divergence.order)
    assert data.lost == divergence.order
    kept = [each for each in history.observed if each[1] < divergence.at.get(each[0], EPOCHS + 1)]
    assert [(int(t), int(b), float(y)) for t, b, y in zip(data.trial, data.budget, data.loss, strict=True)] == kept
    counts = {level: sum(budget == level for _, budget, _ in kept) for level in history.levels}
    assert dict(data.per_level) == {level: count for level, count in counts.items() if count}


def test_suggestions_leave_where_trials_explode() -> None:
    def beyond(searcher: GP, scheduler: ASHA) -> int:
        studies = [searched(small(searcher, seed, scheduler), 40, exploding) for seed in range(3)]
        return sum(trial["x"] > 0.5 for study in studies for trial in study.history.trials[25:])

    assert beyond(GP(), ASHA(EPOCHS)) < beyond(GP(**BEFORE_DIVERGED), BROAD)


@pytest.mark.parametrize("scheduler", [ASHA(EPOCHS), StoppingASHA(EPOCHS), ASHA(EPOCHS, brackets=None)])
@pytest.mark.parametrize("loss", [exploding, collapsing, at_chance])
def test_decisions_can_be_made_again(scheduler: ASHA | StoppingASHA, loss: Callable[[Trial, int], float]) -> None:
    study = searched(small(GP(), scheduler=scheduler), 30, loss)
    assert audit(study).findings == []


def test_where_all_complete_trials_have_diverged() -> None:
    """With one worker trials would go straight, by a model of the complete trials, of which none is left."""
    always = searched(small(GP()), 25, lambda trial, epoch: 1e6 if epoch > 20 else honest(trial, epoch))
    assert always.history.count(State.COMPLETE) >= 3
    assert audit(always).findings == []


def test_rungs_of_noise_are_left_out() -> None:
    study = searched(small(GP()), 30, at_chance)
    assert study.history.memo.fold(Silence, study.history).rungs == {1, 3}

    def last(searcher: GP, scheduler: ASHA) -> float:
        studies = [searched(small(searcher, seed, scheduler), 30, at_chance) for seed in range(3)]
        return float(np.median([honest(t, EPOCHS) for study in studies for t in study.history.trials[15:]]))

    straight: dict[str, Any] = {"straight_running": 0}
    assert last(GP(**straight), ASHA(EPOCHS)) < last(GP(**straight, **BEFORE_DIVERGED), BROAD)


def test_honest_searches_are_as_they_were() -> None:
    today = searched(small(GP()), 25, honest)
    before = searched(small(GP(**BEFORE_DIVERGED), scheduler=BROAD), 25, honest)
    assert [t.config for t in today.history.trials] == [t.config for t in before.history.trials]


def test_every_trial_spreads_while_losses_are_equal_at_rungs() -> None:
    origins = [str(t.origin) for t in searched(small(GP()), 9, lambda trial, epoch: 1.0).history.trials]
    assert all("all losses are the same" in origin for origin in origins[4:])
    assert len(set(origins[4:])) == len(origins[4:])


def test_a_study_from_before_goes_on_as_it_did() -> None:
    stored = {name: value for name, value in SEARCHERS.dump(GP()).items() if name not in ("diverged", *BEFORE_BESIDE)}
    stored |= {"blind": "level", "silent": "leave"}
    first, *others = (SEARCHERS.load(each) for each in SEARCHERS.read(stored))
    assert first == GP(**BEFORE_DIVERGED)
    assert GP() in others
    assert Auto(defaults=13)._gp == GP(**BEFORE_DIVERGED)
    with pytest.raises(InvalidArgument, match="diverged"):
        GP(diverged="drop")
