"""DNGO and auto: the shared suite, resuming, constraints, many workers, budgets, and awkward numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, ask, awkward, best_value, bowl, check_cache, of_the_model, run
from xstar.journal import History
from xstar.journal.trial import Done, New, Suggestion
from xstar.look.audit import audit
from xstar.models import features
from xstar.models.linear import Head
from xstar.schedulers import ASHA
from xstar.searchers.auto import Auto
from xstar.searchers.bo.design import Design, before_model
from xstar.searchers.bo.observations import Observations
from xstar.searchers.dngo.fit import DNGOOptions, Sizes, last_training
from xstar.searchers.dngo.searcher import ACTIVATIONS, DNGO
from xstar.searchers.dngo.surrogate import SPACING, LastLayers, Leaders, apart, suggest_by
from xstar.testing import problems
from xstar.testing.simulate import simulate

pytestmark = pytest.mark.usefixtures("short_training")


# ---------------------------------------------------------------- the shared suite


def test_origins_tell_what_was_done() -> None:
    study = xs.Study(SQUARE, searcher=DNGO(initial=4), seed=1)
    origins = [trial.origin for trial in run(study, 6)]
    assert origins[0] == "dngo: initial 1, sobol: point 0"
    assert re.fullmatch(r"dngo: log EI -?[\d.e+-]+, n=5, trained on 5", origins[5])


def test_conditions_and_categories() -> None:
    """The space of Table 7: "factors" exists only for the multiplicative model."""
    space = xs.Space(
        model=xs.Choice(["additive", "multiplicative"]),
        lr=xs.Float(1e-3, 10.0, log=True),
        embedding=xs.Ordinal([50, 100, 200]),
        factors=xs.Int(50, 200, when={"model": "multiplicative"}),
    )

    def loss(config: dict[str, Any]) -> float:
        own = abs(config["factors"] - 120) / 100 if "factors" in config else 0.5
        return math.log10(config["lr"] / 0.4) ** 2 + own + (config["embedding"] != 100)

    study = xs.Study(space, searcher=DNGO(networks=3), seed=1)
    trials = run(study, 30, loss)
    assert len(of_the_model(trials, "dngo")) == 30 - 8
    assert all(("factors" in trial.config) == (trial["model"] == "multiplicative") for trial in trials)
    assert best_value(study) < 0.4


# ---------------------------------------------------------------- resuming


@dataclass(frozen=True)
class Sized:
    """DNGO with other sizes: with small ones, a few trials fill several blocks."""

    options: DNGOOptions
    sizes: Sizes

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        observed = before_model(history, task, rng, Design("dngo"))
        if not isinstance(observed, Observations):
            return observed
        return suggest_by(LastLayers(self.options, self.sizes), history, observed, rng)


@pytest.mark.parametrize("loss", [bowl, awkward], ids=["all well", "failures"])
def test_what_is_cached_does_not_matter(loss: Callable[..., float]) -> None:
    """Blocks of three: full ones are kept in one study and summed anew in the other."""
    small = Sized(DNGOOptions(DNGO(networks=2)), Sizes(growth=2, block=3, fold=2, leaders=4))
    check_cache(small, loss)


def test_over_budgets_what_is_cached_does_not_matter() -> None:
    def curve(trial: xs.Trial) -> Any:
        for epoch in trial.epochs():
            if trial["x"] > 0.9 and epoch > 2:
                raise ArithmeticError("diverged")
            yield bowl(trial.config) + 1.0 / epoch

    result = xs.minimize(curve, SQUARE, searcher=DNGO(networks=2), scheduler=ASHA(9), trials=20, seed=1)
    assert audit(result.study).findings == []
    told = [trial.origin for trial in result.study.history.trials if " at budget 9, n=" in trial.origin]
    assert len(told) >= 12


# ---------------------------------------------------------------- what still runs


def test_things_that_run_are_avoided(monkeypatch: pytest.MonkeyPatch) -> None:
    def closest() -> float:
        study = xs.Study(SQUARE, searcher=DNGO(networks=3), seed=4)
        run(study, 8)
        places = np.array([list(ask(study).config.values()) for _ in range(4)])
        return float((np.linalg.norm(places[:, None] - places, axis=2) + np.eye(4)).min())

    assert closest() > 1e-3
    settings = LastLayers.settings
    monkeypatch.setattr(LastLayers, "settings", lambda *given: replace(settings(*given), pending=(), running=()))
    assert closest() < 1e-4


def test_a_hundred_at_once() -> None:
    """No two alike, and not all in one place."""

    def wavy(config: dict[str, Any]) -> float:
        return bowl(config) + 0.3 * math.sin(9.0 * config["x"]) * math.sin(7.0 * config["y"])

    study = xs.Study(SQUARE, searcher=DNGO(networks=2, fantasies=4), seed=1)
    run(study, 12, wavy)
    places = np.array([list(ask(study).config.values()) for _ in range(100)])
    assert len(np.unique(places, axis=0)) == 100
    distance = np.linalg.norm(places[:, None] - places, axis=2) + np.eye(100)
    assert np.median(distance.min(axis=1)) > 0.2 * SPACING * 100**-0.5


def test_fantasies_are_left_out_only_where_many_run() -> None:
    asked = {}
    for keeps in (True, False):
        options = DNGOOptions(DNGO(networks=2, fantasies=4), keeps_distance=keeps)
        study = xs.Study(SQUARE, searcher=Sized(options, Sizes(no_fantasies_from=5)), seed=1)
        run(study, 12)
        asked[keeps] = [ask(study).config for _ in range(7)]
    assert asked[True][:5] == asked[False][:5]
    assert asked[True][5] != asked[False][5]


@pytest.fixture
def fantasised(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many trials each decision of the test gives fantasies."""
    counts = []
    real = Head.fantasised

    def noted(self: Head, rows: np.ndarray, *rest: Any) -> Head:
        counts.append(len(rows))
        return real(self, rows, *rest)

    monkeypatch.setattr(Head, "fantasised", noted)
    return counts


def test_paused_trials_have_no_fantasies(fantasised: list[int]) -> None:
    """With one worker nothing runs while it is asked: DNGO conditions on nothing that was not observed."""
    curves = problems.get("curves-mlp", max_budget=9)
    study = simulate(curves, searcher=DNGO(networks=1), scheduler=ASHA(9), workers=1, trials=14, seed=3)
    assert "at budget 9" in study.history.trials[-1].origin
    assert max(fantasised, default=0) == 0


def test_every_fourth_suggestion_explores_unless_many_run() -> None:
    for every in (0, 4):
        study = xs.Study(SQUARE, searcher=DNGO(networks=1, explore_every=every), seed=1)
        run(study, 8)
        asked = [ask(study) for _ in range(14)]
        told = [", exploring, n=8" in trial.origin for trial in asked]
        assert told == [
            every == 4 and trial.number % 4 == 0 and trial.number < 8 + Sizes().spacing_from for trial in asked
        ]


# ---------------------------------------------------------------- settings


def test_the_names_are_those_of_the_layers_below() -> None:
    assert set(ACTIVATIONS) == set(features.ACTIVATIONS)


# ---------------------------------------------------------------- the parts


def test_the_schedule_is_geometric() -> None:
    due = [2]
    while due[-1] < 5000:
        due.append(due[-1] + max(1, due[-1] // Sizes().growth))
    for count in range(2, 5000):
        assert last_training(count, Sizes()) == max(at for at in due if at <= count)
    assert len([at for at in due if 1000 <= at < 5000]) < 20


def test_leaders_are_the_lowest_of_each_level() -> None:
    """Plain form: sort everything. In however many steps they are found."""
    rng = np.random.default_rng(0)
    loss, level = rng.integers(0, 50, 1000).astype(float), rng.choice([1.0, 3.0, 9.0], 1000)
    fine = rng.random(1000) < 0.8
    kept = Leaders()
    for count in (1, 2, 300, 301, 1000):
        found = kept.catch_up(loss[:count], level[:count], 40, lambda places: fine[places])
    expected = []
    for each in (1.0, 3.0, 9.0):
        own = [place for place in range(1000) if fine[place] and level[place] == each]
        expected += sorted(own, key=lambda place: (loss[place], place))[:40]
    assert found.tolist() == sorted(expected)


def test_distance_from_what_runs() -> None:
    """Plain form: the nearest, one by one. Nothing far away, a lot close by; and its gradient."""
    rng = np.random.default_rng(0)
    running, rows, w = rng.random((12, 3)), rng.random((5, 3)), rng.standard_normal(5)
    value, back = apart(running)(rows)
    assert back is not None
    length = SPACING * 12 ** (-1 / 3) * math.sqrt(3)
    for row, found in zip(rows, value, strict=True):
        d = min(np.linalg.norm(row - each) for each in running) / length
        assert found == pytest.approx(math.log(1.0 - math.exp(-0.5 * d * d)))
    expected = np.zeros_like(rows)
    for place in np.ndindex(rows.shape):
        moved = np.zeros_like(rows)
        moved[place] = 1e-6
        expected[place] = (apart(running)(rows + moved)[0] - apart(running)(rows - moved)[0]) @ w / 2e-6
    np.testing.assert_allclose(back(w), expected, rtol=1e-4, atol=1e-8)
    assert apart(running)(running)[0].max() < -20.0
    assert np.isfinite(apart(running)(running)[0]).all()


def test_auto_changes_at_a_count_and_says_so() -> None:
    study = xs.Study(SQUARE, searcher=Auto(switch=8), seed=1)
    origins = [trial.origin for trial in run(study, 12)]
    assert origins[2].startswith("auto: gp: initial 3")
    assert re.match(r"auto: gp: log EI .*, n=7", origins[7])
    assert re.match(r"auto: dngo: log EI .*, n=8, trained on 8", origins[8])
