"""A GP that no longer improves begins anew; losses that are exceptions are left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, ask, bowl, run
from xstar.inspect.audit import audit
from xstar.journal import History
from xstar.schedulers import ASHA
from xstar.searchers import GP, NASBOT, Auto
from xstar.searchers.base import SEARCHERS
from xstar.searchers.gp.earlier import BEFORE_RESTARTS, BEFORE_SPREAD, BEFORE_STRAIGHT
from xstar.searchers.model_based.observations import Observations, feasible_places
from xstar.searchers.model_based.restarts import EVERY, STRETCH, Lowest, restart
from xstar.searchers.random import Random
from xstar.trial import Done, New, Suggestion

OPTIONS = xs.Space({f"c{place}": xs.Choice(["a", "b", "c", "d", "e"]) for place in range(5)})
PATIENCE = 12
STUCK = GP(patience=PATIENCE)


def deceiving(config: dict[str, Any]) -> float:
    """The more of the last option, the better; but all of the first is best of all, and near it nothing tells."""
    values = list(config.values())
    return -10.0 if values == ["a"] * len(values) else float(sum(value != "e" for value in values))


def first_is_best() -> Callable[[dict[str, Any]], float]:
    """The more of the last option, the better; but nothing is as good as the first that is tried."""
    known: list[dict[str, Any]] = []

    def loss(config: dict[str, Any]) -> float:
        known.append(config)
        return -10.0 if config == known[0] else float(sum(value != "e" for value in config.values()))

    return loss


@dataclass(frozen=True)
class AfterChance:
    """A searcher that takes over from random search once its patience, 200, is at an end; what came before costs no model."""

    searcher: GP | Auto
    first = 205

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        asked = Random() if len(history.trials) < self.first else self.searcher
        return asked.suggest(history, task, rng)


def numbers_of(study: xs.Study) -> list[int]:
    """The trials that belong to a restart."""
    return [trial.number for trial in study.history.trials if "anew" in str(trial.origin)]


def test_every_second_trial_after_the_patience_begins_anew() -> None:
    study = xs.Study(OPTIONS, searcher=STUCK, seed=2)
    trials = run(study, 110, deceiving)
    losses = [deceiving(trial.config) for trial in trials]
    best = int(np.argmin(losses))
    first, stretch = best + 1 + PATIENCE, STRETCH * PATIENCE
    assert losses[best] == 0.0
    assert [number for number in numbers_of(study) if number >= first] == list(range(first, 110, EVERY))
    own = [str(trials[number].origin) for number in range(first, first + 2 * stretch, EVERY)]
    for place, origin in enumerate(own):
        begun = first + place * EVERY // stretch * stretch
        count = place % (stretch // EVERY)
        assert origin.endswith(f", a search anew from trial {begun} on")
        assert origin.startswith(f"gp: initial {count + 1}, " if count < 10 else "gp: log EI")
    assert audit(study).findings == []


def test_a_restart_knows_its_own_trials_alone() -> None:
    study = xs.Study(SQUARE, searcher=GP(patience=20), seed=1)
    run(study, 31, lambda config: 1.0)
    data = Observations.of(study.history)
    made = restart(study.history, data, 20)
    assert made is not None
    assert (made.begun, made.own.tolist()) == (21, [21, 23, 25, 27, 29])
    assert data.among(made.owns).trial.tolist() == [21, 23, 25, 27, 29]
    assert data.count == 31, "all observations are still there"
    run(study, 1, lambda config: 1.0)
    assert restart(study.history, data, 20) is None, "it is the turn of the search as a whole"


def test_the_lowest_loss_is_followed_where_trials_fail_and_break_constraints() -> None:
    study = xs.Study(SQUARE, method="random", seed=3, metric="loss", constraints={"size": 0.7})
    kept = Lowest()
    for number in range(80):
        trial = study.ask()
        assert trial is not None
        if trial["x"] < 0.2:
            study.fail(trial, "diverged")
        else:
            study.tell(trial, {"loss": round(float(trial["x"] * trial["y"]), 1), "size": trial["y"]})
        data = Observations.of(study.history)
        known = feasible_places(study.history, data, np.arange(data.count))
        plain = int(known[np.argmin(data.loss[known])]) if len(known) else None
        assert kept.of(study.history, data) == plain, number
        if number % 7 == 0:
            assert Lowest().of(study.history, data) == plain, "whenever it begins"


def test_what_was_added_by_hand_is_no_sign_of_a_search_that_is_stuck() -> None:
    study = xs.Study(SQUARE, searcher=GP(patience=6), seed=1)
    study.add({"x": 0.3, "y": 0.8}, 0.0)
    for place in np.linspace(0, 1, 30):
        study.add({"x": float(place), "y": 0.1}, 1.0)
    run(study, 12, lambda config: 1.0)
    assert numbers_of(study) == [37, 39, 41]
    assert audit(study).findings == []


def test_once_it_improves_the_model_of_all_trials_goes_on() -> None:
    study = xs.Study(
        SQUARE, searcher=GP(patience=8, blind="spread"), seed=1
    )  # losses that are level do not interrupt it
    run(study, 20, lambda config: 1.0)
    assert numbers_of(study)
    before = len(numbers_of(study))
    run(study, 1, lambda config: 0.0)
    improved = len(study.history.trials) - 1
    run(study, 8, lambda config: 1.0)
    assert len(numbers_of(study)) == before + (improved in numbers_of(study))
    assert "n=28" in str(study.history.trials[-1].origin)


def test_a_search_that_improves_never_begins_anew() -> None:
    one, other = (xs.Study(SQUARE, searcher=GP(patience=p), seed=3) for p in (0, 25))
    assert [t.config for t in run(one, 30)] == [t.config for t in run(other, 30)]


def test_over_budgets_and_with_architectures_it_does_not_begin_anew() -> None:
    study = xs.Study(SQUARE, searcher=GP(patience=3), scheduler=ASHA(max_budget=9), seed=1)
    for _ in range(20):
        trial = ask(study)
        study.report(trial, {"loss": 1.0}, budget=1)
    assert not numbers_of(study)
    with_nets = xs.Study(xs.Space(cell=xs.nets.Cell()), searcher=NASBOT(patience=3), seed=1)
    run(with_nets, 16, lambda config: 1.0)
    assert not numbers_of(with_nets)


def test_failed_trials_are_no_improvement_and_still_known_to_a_restart() -> None:
    def half(config: dict[str, Any]) -> float:
        if config["x"] < 0.5:
            raise ArithmeticError
        return 1.0

    study = xs.Study(SQUARE, searcher=GP(patience=15, blind="spread"), seed=1)
    run(study, 60, half)
    anew = [study.history.trials[number] for number in numbers_of(study)]
    chosen = [trial for trial in anew if "initial" not in str(trial.origin)]
    assert len(chosen) > 10
    assert sum(trial["x"] < 0.5 for trial in chosen) <= 2
    assert audit(study).findings == []


def test_a_stored_restart_goes_on_alike(tmp_path: Path) -> None:
    place = str(tmp_path / "studies.db")
    with xs.Study(OPTIONS, searcher=STUCK, seed=2, name="kept", storage=place) as study:
        found = [trial.config for trial in run(study, 40, deceiving)]
    with xs.Study.open("kept", place) as study:
        found += [trial.config for trial in run(study, 10, deceiving)]
    assert found == [trial.config for trial in run(xs.Study(OPTIONS, searcher=STUCK, seed=2), 50, deceiving)]


@pytest.mark.parametrize(
    ("method", "before"),
    [("gp", GP(**BEFORE_RESTARTS, **BEFORE_SPREAD, **BEFORE_STRAIGHT)), ("auto", Auto(defaults=7))],
)
def test_a_study_of_before_goes_on_without(method: str, before: GP | Auto) -> None:
    """As it was stored then: without the setting. Whoever asks for the method of today gets no restart."""
    later = ("patience", "robust", *BEFORE_STRAIGHT, *BEFORE_SPREAD)
    stored = {name: value for name, value in SEARCHERS.dump(before).items() if name not in later}
    assert SEARCHERS.load(stored) == before
    assert SEARCHERS.dump(GP() if method == "gp" else Auto()) in SEARCHERS.read(stored)
    study, today = (
        xs.Study(OPTIONS, seed=2, searcher=AfterChance(each)) for each in (before, GP() if method == "gp" else Auto())
    )
    for each in (study, today):
        run(each, AfterChance.first + 3, first_is_best())
    assert not numbers_of(study)
    assert numbers_of(today)


def test_a_stored_study_of_auto_goes_on_without(tmp_path: Path) -> None:
    place, before = str(tmp_path / "studies.db"), Auto(defaults=7)
    with xs.Study(OPTIONS, searcher=before, seed=2, name="kept", storage=place) as study:
        run(study, 15, deceiving)
    with xs.Study(OPTIONS, method="auto", seed=2, name="kept", storage=place) as study:
        run(study, 5, deceiving)
        assert study.searcher == before, "which begins nothing anew, as the test above says"
        assert not numbers_of(study)


def test_noisy_losses_are_no_reason_to_begin_anew() -> None:
    noise = np.random.default_rng(3)
    study = xs.Study(SQUARE, searcher=GP(patience=15), seed=1)
    run(study, 60, lambda config: bowl(config) + float(noise.standard_normal()))
    assert not numbers_of(study)


# ---------------------------------------------------------------- exceptions


def test_losses_that_are_exceptions_are_left_out_of_the_model() -> None:
    def spoilt(config: dict[str, Any]) -> float:
        return 1e6 if len(study.history.trials) in (9, 19, 33) else bowl(config)

    reached = {}
    for robust in (False, True):
        study = xs.Study(SQUARE, searcher=GP(robust=robust), seed=1)
        trials = run(study, 45, spoilt)
        reached[robust] = min(bowl(trial.config) for trial in trials)
        assert ("fitted to" in str(trials[-1].origin)) == robust
        assert audit(study).findings == []
    assert reached[True] < 0.1 * reached[False]
