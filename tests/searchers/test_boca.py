"""BOCA, which chooses the budget of a trial; Thompson sampling and DNGO by the names of their papers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import xstar as xs
from xstar.journal.trial import New, Suggestion
from xstar.look.audit import audit
from xstar.schedulers import FIFO, SearcherBudget
from xstar.schedulers.searcher_budget import MOST_BUDGETS, budgets_between
from xstar.searchers import BOCA, Random
from xstar.searchers.boca import cheapest
from xstar.testing import check_scheduler, problems
from xstar.testing.simulate import simulate

SPACE = xs.Space(x=xs.Float(-1.0, 1.0), y=xs.Float(0.0, 1.0))


def train(trial: xs.Trial) -> Iterator[float]:
    for epoch in trial.epochs():
        yield (trial["x"] - 0.3) ** 2 + np.sin(5.0 * trial["y"]) * (1.0 - 0.5 / epoch) + 1.0 / epoch


def test_the_scheduler_conforms() -> None:
    check_scheduler(SearcherBudget(9))


def test_a_search() -> None:
    study = xs.minimize(train, SPACE, trials=22, method="boca", max_budget=9, seed=1).study
    budgets = [trial.budget for trial in study.trials]
    assert budgets[:4] == [1, 3, 9, 1]  # the initial trials go through the rungs
    assert set(budgets[4:]) - {9}, "no cheaper budget was ever chosen"
    assert budgets[-1] == 9
    assert all(trial.state is (xs.State.COMPLETE if trial.budget == 9 else xs.State.STOPPED) for trial in study.trials)
    assert f"to budget {budgets[-1]}" in str(study.trials[-1].origin)
    assert audit(study).findings == []


def test_several_workers_and_a_resumed_study() -> None:
    study = xs.Study(SPACE, method="boca", max_budget=9, seed=1)
    for _ in range(6):
        running = [study.ask() for _ in range(3)]
        for trial in running:
            assert trial is not None
            assert trial.target is not None
            for epoch, value in enumerate(train_by_hand(trial), 1):
                if study.report(trial, value, epoch) is not xs.Verdict.CONTINUE or trial.state is not xs.State.RUNNING:
                    break
    assert audit(study).findings == []


def train_by_hand(trial: xs.Trial) -> list[float]:
    return [(trial["x"] - 0.3) ** 2 + 1.0 / epoch for epoch in range(1, 10)]


def test_under_another_scheduler_it_is_a_gp_with_a_confidence_bound() -> None:
    study = xs.minimize(lambda t: t["x"] ** 2 + t["y"], SPACE, trials=9, searcher=BOCA(), seed=1).study
    assert study.trials[-1].origin.startswith("boca: -LCB ")
    assert audit(study).findings == []


def test_without_a_choice_every_trial_trains_to_the_end() -> None:
    study = xs.minimize(train, SPACE, trials=3, searcher=Random(), scheduler=SearcherBudget(4), seed=1).study
    assert [trial.budget for trial in study.trials] == [4, 4, 4]


def test_only_a_task_that_allows_it_leaves_the_budget_to_the_searcher() -> None:
    class Short:
        def suggest(self, history: object, task: New, rng: np.random.Generator) -> Suggestion:
            return Suggestion(SPACE.sample(rng), "short", 2)

    for scheduler, budget in ((SearcherBudget(9), 2), (FIFO(9), 9)):
        study = xs.Study(SPACE, searcher=Short(), scheduler=scheduler, seed=1)
        trial = study.ask()
        assert trial is not None
        assert trial.target == budget


def test_the_cheapest_budget_from_which_there_is_something_to_learn() -> None:
    share = np.array([0.1, 0.5, 1.0])
    one, gap = np.ones(3), np.array([0.8, 0.6, 0.0])
    assert cheapest(np.full(3, 0.9), one, gap, share, 2, 2.0) == 0
    threshold = gap * share ** (1 / 5)  # √κ₀ ξ λ^q with d = 2
    assert cheapest(np.array([threshold[0] - 1e-9, threshold[1] + 1e-9, 1.0]), one, gap, share, 2, 2.0) == 1
    assert (
        cheapest(np.array([threshold[0] - 1e-9, threshold[1] + 1e-9, 1.0]), one, gap, share, 2, 1.2) == 2
    )  # 0.6 < 0.8/1.2
    assert cheapest(np.zeros(3), one, gap, share, 2, 2.0) == 2
    assert (
        cheapest(one, one, np.zeros(3), share, 2, 2.0) == 2
    )  # all budgets say the same: then nothing is cheaper by this rule


def test_the_budgets_to_choose_from() -> None:
    assert budgets_between(1, 9) == tuple(range(1, 10))
    many = budgets_between(3, 10_000)
    assert (many[0], many[-1]) == (3, 10_000)
    assert len(many) <= MOST_BUDGETS
    assert list(many) == sorted(set(many))
    assert SearcherBudget(200, rung_levels=[12, 200]).choices == (12, 200)
    study = simulate(problems.get("curves-mlp", max_budget=9), "boca", workers=3, trials=12)
    assert {trial.budget for trial in study.trials} <= set(range(1, 10))


def test_wrong_budgets() -> None:
    with pytest.raises(xs.errors.InvalidArgument, match="min_budget"):
        SearcherBudget(3, min_budget=9)
    with pytest.raises(xs.errors.InvalidArgument, match="max_budget"):
        xs.Study(SPACE, method="boca")


@pytest.mark.parametrize(("method", "origin"), [("ts", "gp: -draw"), ("dngo-paper", "dngo-paper: log EI")])
def test_a_search_by_name(method: str, origin: str) -> None:
    study = xs.minimize(lambda t: t["x"] ** 2 + t["y"], SPACE, trials=8, method=method, seed=1).study
    assert audit(study).findings == []
    assert study.trials[-1].origin.startswith(origin)


def test_mobster_as_the_paper_has_it() -> None:
    study = simulate(problems.get("curves-mlp", max_budget=9), "mobster-paper", workers=3, trials=14, seed=1)
    assert audit(study).findings == []
    assert sum(trial.origin.startswith("mobster-paper: log EI") for trial in study.trials) >= 5
    assert not any("exploring" in trial.origin for trial in study.trials)
