"""Over budgets, rungs at which all trials have had the same loss are left out of the model."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.searchers.training import EPOCHS, honest, searched, small
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.schedulers import ASHA, StoppingASHA
from xstar.searchers import GP, SEARCHERS
from xstar.searchers.gp.earlier import BEFORE_LEVEL
from xstar.searchers.model_based.observations import SILENT, Observations
from xstar.trial import Trial

CHANCE = 5.0


def flat(trial: Trial, epoch: int) -> float:
    return CHANCE if epoch <= 3 else honest(trial, epoch)


def until(number: int) -> Callable[[Trial, int], float]:
    """Of the trial of this number the first epochs differ."""
    return lambda trial, epoch: (honest if trial.number == number else flat)(trial, epoch)


def test_what_is_left_out() -> None:
    study = searched(small(GP()), 12, flat)
    history, data = study.history, Observations.of(study.history)
    assert history.levels == (1, 3, 9, EPOCHS)
    told, silent = data.telling(data.equal_at(history.levels))
    expected = tuple(
        level
        for level in history.levels[:-1]
        if data.per_level[level] >= SILENT and {loss for _, at, loss in history.observed if at == level} == {CHANCE}
    )
    assert silent == expected == (1, 3)
    kept = [each for each in history.observed if each[1] not in silent]
    assert [(int(t), int(b), float(y)) for t, b, y in zip(told.trial, told.budget, told.loss, strict=True)] == kept
    assert dict(told.per_level) == {level: data.per_level[level] for level in (9, EPOCHS)}
    assert data.equal_at((1, 3)) == (1,)  # never the full budget
    few = searched(small(GP()), SILENT - 1, flat)
    assert Observations.of(few.history).equal_at(history.levels) == ()


def test_if_all_were_left_out_none_is() -> None:
    study = searched(small(GP()), 5, lambda trial, epoch: CHANCE)
    data = Observations.of(study.history)
    again = data.telling(tuple(study.history.levels))
    assert again == (data, ())


@pytest.mark.parametrize("scheduler", [ASHA(EPOCHS), StoppingASHA(EPOCHS), ASHA(EPOCHS, brackets=None)])
@pytest.mark.parametrize("loss", [flat, until(18)])
def test_decisions_can_be_made_again(scheduler: ASHA | StoppingASHA, loss: Callable[[Trial, int], float]) -> None:
    """Also where a rung begins to tell something, so that what was left out comes back."""
    study = searched(small(GP(), scheduler=scheduler), 30, loss)
    assert audit(study).findings == []
    if loss is not flat and type(scheduler) is ASHA and scheduler.brackets == 1:
        assert Observations.of(study.history).equal_at(study.history.levels) == ()


def test_a_search_without_such_rungs_is_as_it_was() -> None:
    leaves, keeps = (searched(small(GP(silent=rule)), 16, honest) for rule in ("leave", "keep"))
    assert [t.config for t in leaves.history.trials] == [t.config for t in keeps.history.trials]


def test_suggestions_are_better_where_the_first_epochs_are_flat() -> None:
    def last(rule: str) -> list[float]:
        studies = [searched(small(GP(silent=rule, straight_running=0), seed), 30, flat) for seed in range(3)]
        return [honest(trial, EPOCHS) - 1.0 / EPOCHS for study in studies for trial in study.history.trials[15:]]

    leave, keep = (sorted(last(rule)) for rule in ("leave", "keep"))
    assert leave[len(leave) // 2] < keep[len(keep) // 2]


def test_a_study_from_before_keeps_them() -> None:
    stored = {name: value for name, value in SEARCHERS.dump(GP()).items() if name != "silent"}
    first, *others = (SEARCHERS.load(each) for each in SEARCHERS.read(stored))
    assert first == GP(silent="keep")
    assert GP() in others
    assert BEFORE_LEVEL["silent"] == "keep"
    with pytest.raises(InvalidArgument, match="silent"):
        GP(silent="drop")
