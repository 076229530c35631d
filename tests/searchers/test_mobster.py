"""GP search over configurations and budgets, with every scheduler, in simulated time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from operator import le, lt
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, ask, best_value
from xstar.journal.trial import New
from xstar.look.audit import audit
from xstar.models.gp import Posterior
from xstar.schedulers import ASHA, FIFO, Hyperband, Median, Scheduler, StoppingASHA
from xstar.searchers import GP, MOBSTERPaper, Searcher
from xstar.searchers.bo.observations import Observations
from xstar.searchers.bo.surrogate import Data
from xstar.searchers.bo.trace import DecisionTrace
from xstar.searchers.gp.fit import GaussianProcess
from xstar.searchers.gp.searcher import BUDGET_KERNELS, FEWEST_COMPLETE
from xstar.testing import problems
from xstar.testing.problems import Curve
from xstar.testing.simulate import simulate

CURVES = problems.get("curves-mlp", max_budget=9)


def small(searcher: GP, scheduler: Scheduler | None = None, trials: int = 18, **options: Any) -> xs.Study:
    return simulate(
        CURVES, searcher=searcher, scheduler=scheduler or ASHA(9), workers=4, trials=trials, seed=1, **options
    )


def of_the_model(study: xs.Study) -> list[str]:
    return [trial.origin for trial in study.history.trials if trial.origin.startswith("gp: log EI")]


# ---------------------------------------------------------------- the methods


@pytest.mark.parametrize("method", ["mobster", "mobster-stop", "mobster-hyperband"])
def test_methods(method: str) -> None:
    study = simulate(CURVES, method, workers=4, trials=18, seed=2)
    assert audit(study).findings == []
    assert len(of_the_model(study)) >= 8
    assert any(" at budget " in origin for origin in of_the_model(study))
    assert study.best.budget == 9


def test_full_budget_trials_are_suggested_by_a_model_of_the_complete_ones() -> None:
    study = small(GP(), ASHA(9, full_share=True), trials=60)
    assert audit(study).findings == []
    trials, top, least = study.history.trials, 2, max(FEWEST_COMPLETE, len(CURVES.space) + 1)
    alone = [trial for trial in trials if trial.origin.endswith(" at the full budget")]
    assert len(alone) >= 3
    assert {trial.bracket for trial in alone} == {top}
    ends = [report.at for trial in trials for report in trial.reports if report.budget == 9]
    for trial in trials:
        if trial.bracket == top and trial.origin.startswith("gp: log EI"):
            before, by_then = (sum(compare(at, trial.runs.asked_at) for at in ends) for compare in (lt, le))
            if trial in alone:
                assert max(before, least) <= observations(trial.origin) <= by_then
            else:
                assert before < least


def observations(origin: str) -> int:
    """n, as the origin has it."""
    found = re.search(r"n=(\d+)", origin)
    assert found is not None
    return int(found[1])


@pytest.mark.parametrize("scheduler", [FIFO(9), Median(9), Hyperband(9), Hyperband(9, brackets=1)], ids=repr)
def test_other_schedulers(scheduler: Scheduler) -> None:
    study = small(GP(initial=4), scheduler, trials=14)
    assert audit(study).findings == []
    assert len(of_the_model(study)) >= 6
    assert all((" at budget " in origin) == (len(scheduler.rungs) > 1) for origin in of_the_model(study))


@pytest.mark.parametrize("kernel", BUDGET_KERNELS)
def test_budget_kernels(kernel: str) -> None:
    study = small(GP(initial=4, budget_kernel=kernel), trials=12)
    assert audit(study).findings == []
    assert len(of_the_model(study)) >= 6


def test_with_failures_stragglers_and_everything_else() -> None:
    searcher = GP(initial=4, fantasies=0, transform=False)
    study = small(searcher, trials=12, failures=0.2, stragglers=0.5)
    assert study.history.count(xs.State.FAILED) > 0
    assert audit(study).findings == []


def test_mobster_finds_more_than_asha() -> None:
    """On curves whose optimum is known, with the same simulated time: the mean of some seeds."""
    regret = {
        method: np.mean(
            [best_value(simulate(CURVES, method, workers=4, trials=25, seed=s)) - CURVES.optimum for s in (1, 2)]
        )
        for method in ("asha", "mobster")
    }
    assert regret["mobster"] < regret["asha"]


# ---------------------------------------------------------------- r_acq


@pytest.mark.parametrize(
    ("searcher", "expected"), [(MOBSTERPaper(), [9, 9, 9, 27, 27]), (GP(initial=1), [27, 27, 27, 27, 27, 27, 27])]
)
def test_the_budget_of_the_acquisition(searcher: Searcher, expected: list[int]) -> None:
    """By the paper, the highest rung with as many observations as parameters (two)."""
    study = xs.Study(SQUARE, searcher=searcher, scheduler=ASHA(27), seed=1)
    rng = np.random.default_rng(0)

    def add(budget: int) -> None:
        x, y = rng.random(2).tolist()
        study.add({"x": x, "y": y}, x + y + 1.0 / budget, budget)

    def at() -> int:
        trial = ask(study)
        return int(trial.origin.split(" at budget ")[1].split(",")[0])

    found = []
    for budget in (3, 9, 9, 27, 3, 1, 27, 1):
        add(budget)
        if len(study.history.trials) >= 9 - len(expected):
            found.append(at())
    assert found == expected


@pytest.mark.parametrize("seed", range(8))
def test_r_acq_is_the_largest_rung_with_as_many_values_as_parameters(seed: int) -> None:
    """Section 3, beside a plain form; while there is none, configurations are random."""
    rng = np.random.default_rng(seed)
    space = xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1), kind=xs.Choice(["a", "b", "c"]))
    study = xs.Study(space, method="mobster-paper", max_budget=27, seed=seed)
    values: dict[int, int] = {}  # at each rung
    for _ in range(14):
        r = int(rng.choice([1, 2, 3, 9, 27], p=[0.4, 0.15, 0.2, 0.15, 0.1]))  # 2 is no rung
        x, y = rng.random(2).tolist()
        study.add({"x": x, "y": y, "kind": "abc"[rng.integers(3)]}, x + y + 1.0 / r, r)
        values[r] = values.get(r, 0) + 1
        expected = None
        for rung in (1, 3, 9, 27):
            if values.get(rung, 0) >= 3:
                expected = rung
        trial = ask(study)
        if expected is None:
            assert trial.origin == "random: mobster-paper: no rung has 3 observations"
        else:
            assert f" at budget {expected}," in trial.origin
            assert trial.origin.startswith("mobster-paper: log EI")
        study.fail(trial, "not wanted")


@pytest.mark.parametrize(("searcher", "others"), [(MOBSTERPaper(), 0), (GP(initial=1), 5)])
def test_the_paper_fantasises_what_is_pending_and_nothing_else(searcher: Searcher, others: int) -> None:
    """Ours fantasises the five tried configurations at the budget of the acquisition, too."""
    study = xs.Study(SQUARE, searcher=searcher, scheduler=ASHA(9), seed=1)
    for number in range(3):
        study.report(ask(study), float(number), 1)
    promoted, fresh = ask(study), ask(study)
    assert (promoted.target, fresh.target) == (3, 1)
    history = study.history
    trace = history.memo.put(DecisionTrace())
    searcher.suggest(history, New(1, 0), np.random.default_rng(0))
    assert trace.known is not None
    model: Any = trace.known.models[0]
    assert len(model.X) == 3 + 2 + others  # observed, pending
    assert len(trace.known.incumbents or ()) == 1


def test_a_budget_between_rungs_is_an_observation_only_at_the_end() -> None:
    study = xs.Study(SQUARE, scheduler=StoppingASHA(9), seed=1)
    trial = ask(study)
    study.report(trial, 0.5, 1)
    study.report(trial, 0.4, 2)
    assert study.history.observed == [(0, 1, 0.5)]
    data = Observations.of(study.history)
    assert data.count == 1
    assert data.budget.tolist() == [1]
    study.add({"x": 0.5, "y": 0.5}, 1.0, 2)  # that is all there will be of it
    study.complete(trial)
    assert study.history.observed == [(0, 1, 0.5), (1, 2, 1.0), (0, 2, 0.4)]
    assert Observations.of(study.history).budget.tolist() == [1, 2, 2]


# ---------------------------------------------------------------- pending


def share_of_budget(trial: xs.Trial) -> float:
    assert trial.target is not None
    return trial.target / 9


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """What is pending in each decision."""
    found: list[np.ndarray] = []

    fantasised = Posterior.fantasised

    def noted(model: Posterior, pending: Any, *rest: Any) -> Posterior:
        found.append(pending.copy())
        return fantasised(model, pending, *rest)

    monkeypatch.setattr(Posterior, "fantasised", noted)
    return found


def test_what_runs_is_pending_at_the_budget_it_runs_to(seen: list[np.ndarray]) -> None:
    study = xs.Study(SQUARE, searcher=GP(initial=1), scheduler=ASHA(9), seed=1)
    trials = [ask(study) for _ in range(4)]
    for place, trial in enumerate(trials[:3]):
        study.report(trial, float(place), 1)
    promoted = ask(study)  # the best of three goes on to 3
    assert promoted is trials[0]
    ask(study)
    expected = {(t["x"], t["y"], share_of_budget(t)) for t in (trials[3], promoted)}
    assert {tuple(row) for row in seen[0].tolist()} == expected
    assert {row[2] for row in expected} == {1 / 9, 3 / 9}


def test_with_stopping_a_trial_runs_on_to_the_next_rung(seen: list[np.ndarray]) -> None:
    study = xs.Study(SQUARE, searcher=GP(initial=1), scheduler=StoppingASHA(9), seed=1)
    one, two = ask(study), ask(study)
    study.report(one, 1.0, 1)
    study.report(two, 2.0, 1)
    ask(study)
    assert seen[0][:, 2].tolist() == [share_of_budget(one), share_of_budget(two)] == [3 / 9, 3 / 9]


class AtChance:
    """A problem whose first epochs are at chance."""

    def __init__(self) -> None:
        self.name, self.space, self.budgets = CURVES.name, CURVES.space, CURVES.budgets
        self.optimum, self.best, self.unit, self.loss = CURVES.optimum, CURVES.best, CURVES.unit, CURVES.loss

    def curve(self, config: Mapping[str, Any], seed: int) -> Curve:
        plain = CURVES.curve(config, seed)
        return Curve([0.9 if epoch < 9 else loss for epoch, loss in enumerate(plain.losses, 1)], plain.seconds)


def test_rungs_that_tell_nothing_are_not_modelled() -> None:
    study = simulate(AtChance(), searcher=GP(initial=4), scheduler=ASHA(9), workers=4, trials=16, seed=1)
    assert audit(study).findings == []
    left = []
    for surrogate in (GaussianProcess(), GaussianProcess(every_rung=True)):
        data = Data(study.history, Observations.of(study.history), logarithmic=False)
        (model,) = surrogate.fit(data, data.losses()).models
        assert isinstance(model, Posterior)
        left.append(set(np.round(9.0 * model.X[:, -1]).tolist()))
    assert left == [{9.0}, {1.0, 3.0, 9.0}]
