"""Search with a Gaussian process: the shared suite, its settings, and resuming."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, ask, awkward, best_value, bowl, run
from xstar.journal import Memo
from xstar.look.audit import audit
from xstar.models.gp import Posterior
from xstar.models.gp_prior import Inputs, over_budgets
from xstar.searchers import GP
from xstar.searchers.acquisition.thompson import thompson_scores
from xstar.searchers.bo import suggest as decision
from xstar.searchers.bo.constraints import constraints_of
from xstar.searchers.bo.observations import Observations, last_refit
from xstar.searchers.bo.surrogate import NAMES, Data
from xstar.searchers.gp import fit as gp_fit
from xstar.searchers.gp.searcher import ACQUISITIONS, BUDGET_KERNELS

# ---------------------------------------------------------------- the shared suite


def test_a_large_finite_space_has_no_duplicates() -> None:
    """Too large to be listed: candidates are drawn, and the incumbent's own place is the best of them."""
    space = xs.Space(a=xs.Int(0, 99), b=xs.Int(0, 99))
    study = xs.Study(space, searcher=GP(initial=4), seed=2)
    trials = run(study, 20, lambda config: (config["a"] - 50) ** 2 + (config["b"] - 50) ** 2)
    assert len({space.key(trial.config) for trial in trials}) == 20


def test_thompson_draws_in_a_listed_space_too(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []

    def noted(posteriors: Any, rows: np.ndarray, *rest: Any) -> np.ndarray:
        drawn.append(len(rows))
        return thompson_scores(posteriors, rows, *rest)

    monkeypatch.setattr(decision, "thompson_scores", noted)
    study = xs.Study(xs.Space(a=xs.Int(0, 30)), searcher=GP(initial=3, acquisition="thompson"), seed=1)
    trials = run(study, 6, lambda config: float(config["a"]))
    assert drawn == [28, 27, 26]  # what is untried
    assert all(trial.origin.startswith("gp: -draw ") for trial in trials[3:])


# ---------------------------------------------------------------- does it search?


def test_maximize_is_the_mirror_image() -> None:
    low, high = xs.Study(SQUARE, method="gp", seed=3), xs.Study(SQUARE, method="gp", seed=3, direction="maximize")
    assert [t.config for t in run(low, 10)] == [t.config for t in run(high, 10, lambda config: -bowl(config))]


def test_every_so_many_suggestions_explore() -> None:
    """The minimum is between points that are close to each other: whoever explores goes where they are not, and says so."""
    found = {}
    rng = np.random.default_rng(0)
    noise = 0.3 * rng.standard_normal(21)
    for every in (0, 1, 4):
        study = xs.Study(xs.Space(x=xs.Float(0.0, 1.0)), searcher=GP(explore_every=every), seed=1)
        for place, x in enumerate((0.0, 0.1, 0.2, 0.3, 0.4, 0.7, 1.0) * 3):
            study.add({"x": x}, (x - 0.25) ** 2 + float(noise[place]))
        found[every] = [ask(study) for _ in range(5)]
    explored = {every: [", exploring" in trial.origin for trial in asked] for every, asked in found.items()}
    assert not any(explored[0])
    assert all(explored[1])
    assert explored[4] == [trial.number % 4 == 0 for trial in found[4]]


@pytest.mark.parametrize(("noise", "explores"), [(0.0, False), (1.0, True)])
def test_suggestions_explore_where_losses_are_unexplained(noise: float, explores: bool) -> None:
    """A model that explains all losses is believed; one that takes most of them for noise may be wrong anywhere."""
    study = xs.Study(SQUARE, searcher=GP(explore_every=1), seed=1)
    rng = np.random.default_rng(0)
    for place in rng.random((12, 2)):
        config = {"x": float(place[0]), "y": float(place[1])}
        for _ in range(3):
            study.add(config, bowl(config) + noise * rng.standard_normal())
    assert (", exploring" in ask(study).origin) is explores
    assert audit(study).findings == []


def test_things_that_run_are_avoided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for four at a time, it gives four different places; if what runs is ignored, nearly one and the same."""

    def closest(fantasies: int) -> float:
        study = xs.Study(SQUARE, searcher=GP(fantasies=fantasies), seed=3)
        run(study, 8)
        places = np.array([list(ask(study).config.values()) for _ in range(4)])
        return float((np.linalg.norm(places[:, None] - places, axis=2) + np.eye(4)).min())

    assert min(closest(20), closest(0)) > 1e-4
    monkeypatch.setattr(Posterior, "fantasised", lambda model, *rest: model)
    assert closest(20) < 1e-5


def test_origins_tell_what_was_done() -> None:
    study = xs.Study(SQUARE, searcher=GP(initial=4), seed=1)
    origins = [trial.origin for trial in run(study, 6)]
    assert origins[0] == "gp: initial 1, the middle of the space"
    assert re.fullmatch(r"gp: initial 2, a step of \w from trial 0", origins[1])
    assert origins[3].startswith("gp: initial 4")
    assert re.fullmatch(r"gp: log EI -?[\d.e+-]+, n=4", origins[4])
    assert re.fullmatch(r"gp: log EI -?[\d.e+-]+, n=5", origins[5])
    for acquisition, name in NAMES.items():
        study = xs.Study(SQUARE, searcher=GP(initial=2, acquisition=acquisition), seed=1)
        assert run(study, 3)[-1].origin.startswith(f"gp: {name} ")


def test_while_nothing_is_known_more_sobol_points() -> None:
    """Ten workers ask before anything is told."""
    study = xs.Study(SQUARE, searcher=GP(initial=2), seed=1)
    first = [ask(study) for _ in range(10)]
    assert all("sobol" in trial.origin for trial in first[1:])
    study.tell(first[0], 1.0)
    assert "a step of" in ask(study).origin
    study.tell(first[1], 2.0)
    assert "n=2" in ask(study).origin


# ---------------------------------------------------------------- resuming


def test_what_is_cached_of_the_classifier_does_not_matter() -> None:
    """Failures and values in any order: its length scale follows from the history alone."""
    rows = np.random.default_rng(0).random((30, 2))
    for seed in (1, 2, 3):
        study = xs.Study(SQUARE, method="random", seed=seed)
        kept = study.history.memo
        for _ in range(45):
            run(study, 1, awkward)
            found = []
            for memo in (kept, Memo()):
                study.history.memo = memo
                data = Data(study.history, Observations.of(study.history))
                made = constraints_of(data, gp_fit.GaussianProcess(), (), np.random.default_rng(0))
                found.append([constraint(rows)[0] for constraint in made])
            np.testing.assert_array_equal(found[0], found[1])


# ---------------------------------------------------------------- settings


def test_the_names_are_those_of_the_layers_below() -> None:
    assert set(ACQUISITIONS) == set(NAMES)
    made = {name: over_budgets(Inputs((0,), ("x",)), name) for name in BUDGET_KERNELS}
    assert len(set(made.values())) == len(BUDGET_KERNELS)
    defaults = {field.name: field.default for field in dataclasses.fields(GP)}
    assert defaults["budget_kernel"] == BUDGET_KERNELS[0]
    assert GP()._surrogate() == gp_fit.GaussianProcess()


# ---------------------------------------------------------------- the schedule


# ---------------------------------------------------------------- small spaces


def test_a_category_of_one_option_beside_a_number() -> None:
    study = xs.Study(xs.Space(a=xs.Choice(["x"]), b=xs.Float(0, 1), c=7), searcher=GP(initial=2), seed=1)
    run(study, 12, lambda config: (config["b"] - 0.6) ** 2)
    assert best_value(study) < 1e-3


def test_the_schedule_of_refits() -> None:
    """Every observation up to 20, then a tenth more, at most a hundred; found without walking there one by one."""
    due = [2]
    while due[-1] < 5000:
        due.append(due[-1] + max(1, min(due[-1] // 10, 100)))
    for count in range(2, 5000):
        assert last_refit(count) == max(at for at in due if at <= count)


@pytest.mark.parametrize(("most", "alike"), [(2, True), (256, False)])
def test_of_many_running_trials_the_last_ones_are_fantasised(
    most: int, alike: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gp_fit, "MOST_PENDING", most)
    made = []
    for first in (0.28, 0.9):  # a trial that runs since before the last two: near the optimum, or far from it
        study = xs.Study(xs.Space(x=xs.Float(0, 1)), method="gp", seed=3)
        for place in range(8):
            study.enqueue({"x": place / 7})
            trial = ask(study)
            study.tell(trial, (trial["x"] - 0.3) ** 2)
        for x in (first, 0.5, 0.6):
            study.enqueue({"x": x})
            study.ask()
        trial = ask(study)
        made.append(trial["x"])
    assert (made[0] == made[1]) is alike
