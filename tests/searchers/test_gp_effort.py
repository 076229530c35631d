"""What a suggestion may cost."""

from __future__ import annotations

import numpy as np
import pytest

import xstar as xs
from xstar.acquisition import maximise as maximisation
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.schedulers import ASHA
from xstar.searchers import GP
from xstar.searchers.base import SEARCHERS
from xstar.searchers.gp import structure
from xstar.searchers.model_based.schedule import last_lean_refit, last_refit
from xstar.trial import Trial

SPACE = xs.Space(x=xs.Float(-2, 2), y=xs.Float(-2, 2), z=xs.Float(-2, 2))


def valley(config: dict[str, float]) -> float:
    x, y, z = config.values()
    return (1 - x) ** 2 + 5 * (y - x * x) ** 2 + (z - 0.3) ** 2


def searched(searcher: GP, trials: int, space: xs.Space = SPACE) -> list[Trial]:
    study = xs.Study(space, searcher=searcher, seed=3)
    for _ in range(trials):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, valley(dict(trial.config)))
    assert audit(study).findings == []
    return list(study.history.trials)


def test_lean_suggestions_find_what_thorough_ones_do() -> None:
    best = {
        each: min(t.value for t in searched(GP(effort=each), 45) if t.value is not None)
        for each in ("lean", "thorough")
    }
    assert max(best.values()) < 0.05  # random search: 0.8


def test_lean_suggestions_cost_fewer_calls_of_the_acquisition_function(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {"lean": 0, "thorough": 0}
    climb = maximisation.climb
    for effort in calls:

        def counted(cube, with_gradient, rows, values, *, apart=False, effort=effort):  # type: ignore[no-untyped-def]
            def once(at):  # type: ignore[no-untyped-def]
                calls[effort] += 1
                return with_gradient(at)

            return climb(cube, once, rows, values, apart=apart)

        monkeypatch.setattr(maximisation, "climb", counted)
        searched(GP(effort=effort), 16)
    assert calls["lean"] < 0.8 * calls["thorough"]


def test_fits_and_comparisons_are_fewer() -> None:
    fits = [len({refit(count) for count in range(20, 200)}) for refit in (last_lean_refit, last_refit)]
    assert fits[0] < 0.6 * fits[1]
    assert [last_lean_refit(count) for count in range(2, 21)] == list(range(2, 21))
    growth = [structure.GROWTH[effort] for effort in ("lean", "thorough")]
    compared = [len({last_refit(count, each, structure.MOST) for count in range(8, 200)}) for each in growth]
    assert compared[0] < 0.7 * compared[1]


def test_with_more_parameters_than_have_matrices_of_curvature_candidates_climb_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(maximisation, "MOST_APART", 2)
    used: list[bool] = []
    climb = maximisation.climb

    def seen(*given, apart=False):  # type: ignore[no-untyped-def]
        used.append(apart)
        return climb(*given, apart=apart)

    monkeypatch.setattr(maximisation, "climb", seen)
    study = xs.Study(SPACE, searcher=GP(effort="lean"), seed=3)
    for _ in range(7):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, valley(dict(trial.config)))
    assert used
    assert not any(used)


def test_studies_from_before_are_thorough() -> None:
    stored = {key: value for key, value in SEARCHERS.dump(GP()).items() if key != "effort"}
    assert SEARCHERS.load(stored) == GP(effort="thorough")
    thorough, lean, today = (searched(each, 25) for each in (GP(effort="thorough"), GP(effort="lean"), GP()))
    assert [trial.config for trial in thorough] == [trial.config for trial in today]
    assert [trial.config for trial in thorough] != [trial.config for trial in lean]


def test_over_budgets_it_makes_no_difference() -> None:
    found = []
    for effort in ("lean", "thorough"):
        study = xs.Study(SPACE, searcher=GP(effort=effort), scheduler=ASHA(9), seed=1)
        for _ in range(12):
            trial = study.ask()
            assert trial is not None
            for budget in (1, 3, 9):
                if (
                    study.report(trial, valley(dict(trial.config)) + 1.0 / budget, budget=budget)
                    is not xs.Verdict.CONTINUE
                ):
                    break
        found.append([list(trial.config.values()) for trial in study.history.trials])
    np.testing.assert_array_equal(found[0], found[1])


def test_an_effort_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="effort"):
        GP(effort="none")
