"""Evolution and its random twin: the shared suite, generations, and what they owe to networks."""

from __future__ import annotations

import re

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, ask, bowl, run
from xstar.look.audit import audit
from xstar.nets import synthetic
from xstar.searchers import Evolution, RegularisedEvolution
from xstar.searchers.evolution import PARENTS

NETS = xs.Space(net=xs.nets.MLP(inputs=4))


@pytest.mark.parametrize("method", ["evolution", "nasbot-random"])
def test_begins_with_the_pool_and_goes_on(method: str) -> None:
    study = xs.Study(NETS, method=method, seed=0)
    trials = run(study, 25, lambda config: -synthetic.f2(config["net"]))
    assert [trial.config["net"] for trial in trials[:10]] == list(xs.nets.MLP(inputs=4).pool)
    assert len({trial.config["net"] for trial in trials}) == 25
    assert audit(study).findings == []


def test_parents_come_from_before_the_generation() -> None:
    study = xs.Study(NETS, searcher=Evolution(initial=4, per_generation=3), seed=0)
    trials = run(study, 16, lambda config: -synthetic.f2(config["net"]))
    for trial in trials[4:]:
        found = re.fullmatch(r"evolution: generation (\d+), mutated from trial (\d+)", trial.origin)
        assert found is not None, trial.origin
        generation, parent = map(int, found.groups())
        assert generation == (trial.number - 4) // 3 + 1
        assert parent < 4 + 3 * (generation - 1)


def test_good_parents_are_preferred() -> None:
    study = xs.Study(SQUARE, searcher=Evolution(initial=40, per_generation=200), seed=0)
    run(study, 240)
    parents = [int(trial.origin.split()[-1]) for trial in study.history.trials[40:]]
    losses = [bowl(study.history.trials[parent].config) for parent in parents]
    assert np.mean(losses) < 0.7 * np.mean([bowl(trial.config) for trial in study.history.trials[:40]])


def test_one_diverged_training_does_not_blind_it() -> None:
    study = xs.Study(SQUARE, searcher=Evolution(initial=20, per_generation=100), seed=0)
    run(study, 120, lambda config: 1e9 if config["x"] > 0.95 else bowl(config))
    parents = {int(trial.origin.split()[-1]) for trial in study.history.trials[20:]}
    assert all(study.history.trials[parent].config["x"] <= 0.95 for parent in parents)


def test_parents_keep_the_constraints() -> None:
    study = xs.Study(SQUARE, searcher=Evolution(initial=10), constraints={"low": 0.0}, seed=0)
    for _ in range(40):
        trial = ask(study)
        study.tell(trial, {"value": trial.config["x"], "low": 0.5 - trial.config["x"]})
    parents = {int(trial.origin.split()[-1]) for trial in study.history.trials[10:]}
    assert all(study.history.trials[parent].config["x"] >= 0.5 for parent in parents)


def test_of_many_trials_the_best_are_parents() -> None:
    study = xs.Study(SQUARE, searcher=Evolution(initial=1, per_generation=1), seed=0)
    rng = np.random.default_rng(0)
    losses = rng.permutation(3 * PARENTS).astype(float)
    for loss in losses:
        study.add({"x": rng.random(), "y": rng.random()}, loss)
    parents = [int(ask(study).origin.split()[-1]) for _ in range(60)]
    assert max(losses[parent] for parent in parents) < PARENTS
    assert len(set(parents)) > 30


def test_while_nothing_has_ended_the_design_goes_on() -> None:
    study = xs.Study(SQUARE, searcher=Evolution(initial=2), seed=0)
    assert [ask(study).origin.split(",")[0] for _ in range(4)] == [f"evolution: initial {n}" for n in (1, 2, 3, 4)]


def test_under_a_scheduler() -> None:
    study = xs.Study(SQUARE, searcher=Evolution(initial=3), scheduler=xs.schedulers.ASHA(9), seed=0)
    for _ in range(12):
        trial = ask(study)
        study.report(trial, bowl(trial.config), budget=(trial.reports[-1].budget if trial.reports else 0) + 1)
    assert any("mutated" in trial.origin for trial in study.history.trials)


def test_parents_are_compared_at_one_budget() -> None:
    """Losses grow with the budget here: whoever compared them across budgets would choose parents that were hardly trained."""
    study = xs.Study(SQUARE, searcher=Evolution(initial=3, per_generation=2), scheduler=xs.schedulers.ASHA(9), seed=0)
    checked = 0

    def rung(trial: xs.Trial) -> int:
        return max(report.budget for report in trial.reports if report.budget in (1, 3, 9))

    for _ in range(60):
        known = len(study.history.trials)
        trial = ask(study)
        if trial.number == known and "mutated" in trial.origin:
            before = 3 + (trial.number - 3) // 2 * 2
            budgets = [rung(each) for each in study.history.trials[:before] if each.reports]
            reached = [budget for budget in budgets if budgets.count(budget) >= 2]
            parent = study.history.trials[int(trial.origin.split()[-1])]
            if reached:
                assert rung(parent) == max(reached)
                checked += max(reached) == 9
        for budget in range((trial.reports[-1].budget if trial.reports else 0) + 1, 10):
            if study.report(trial, budget + bowl(trial.config), budget=budget) is not xs.Verdict.CONTINUE:
                break
    assert checked >= 3


# ---------------------------------------------------------------- regularised evolution


def test_parents_are_the_best_of_some_of_the_newest() -> None:
    study = xs.Study(SQUARE, searcher=RegularisedEvolution(8, 3), seed=0)
    trials = run(study, 60)
    chosen = []
    for trial in trials[8:]:
        found = re.fullmatch(r"regularised-evolution: mutated from trial (\d+), the best of 3", trial.origin)
        assert found is not None, trial.origin
        parent = int(found[1])
        alive = sorted(range(trial.number - 8, trial.number), key=lambda number: bowl(trials[number].config))
        assert parent in alive[:6], "two of the three drawn are at least as bad"
        chosen.append(alive.index(parent))
    assert np.mean(chosen) < 2.5
    assert audit(study).findings == []


def test_with_a_tournament_of_all_the_parent_is_the_best_that_is_alive() -> None:
    study = xs.Study(SQUARE, searcher=RegularisedEvolution(5, 5), seed=0)
    trials = run(study, 30)
    for trial in trials[5:]:
        alive = trials[trial.number - 5 : trial.number]
        assert trial.origin.numbers["parent"] == min(alive, key=lambda each: bowl(each.config)).number


def test_old_ones_die_however_good_they_were() -> None:
    study = xs.Study(SQUARE, searcher=RegularisedEvolution(6, 6), seed=0)
    run(study, 40, lambda config: -100.0 if not study.history.observed else bowl(config))
    parents = [trial.origin.numbers["parent"] for trial in study.history.trials[6:]]
    assert parents[0] == 0
    assert 0 not in parents[1:]


def test_regularised_evolution_over_networks() -> None:
    study = xs.Study(NETS, searcher=RegularisedEvolution(12, 4), seed=0)
    trials = run(study, 20, lambda config: -synthetic.f2(config["net"]))
    assert len({trial.config["net"] for trial in trials}) == 20
