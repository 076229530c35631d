"""While nothing is known but failures, the GP looks inside the space, not at its corners alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import xstar as xs
from tests.searchers.cases import check_earlier_default, run
from xstar.inspect.audit import audit
from xstar.schedulers import ASHA
from xstar.searchers import GP, SEARCHERS, Auto
from xstar.searchers.gp.earlier import BEFORE_LEVEL, BEFORE_LONGER, BEFORE_SPREAD, BEFORE_STRAIGHT

CUBE = xs.Space({f"x{place}": xs.Float(0.0, 1.0) for place in range(3)})


def never(config: dict[str, Any]) -> float:
    raise ArithmeticError("never")


def inside(config: dict[str, Any]) -> float:
    """A value in a twelfth of the cube."""
    if any(abs(value - 0.26) > 0.22 for value in config.values()):
        raise ArithmeticError("outside")
    return float(sum((value - 0.35) ** 2 for value in config.values()))


def at_border(trial: xs.Trial) -> bool:
    return min(min(value, 1.0 - value) for value in trial.config.values()) < 1e-6


def test_every_second_trial_spreads_while_all_fail() -> None:
    study = xs.Study(CUBE, searcher=GP(), seed=1)
    trials = run(study, 40, never)
    spread = [trial for trial in trials if str(trial.origin).endswith("no trial has a value")]
    assert [trial.number for trial in spread] == list(range(5, 40, 2))
    assert not any(at_border(trial) for trial in spread)
    halves = np.array([list(trial.config.values()) for trial in spread]) > 0.5
    assert (np.abs(halves.mean(axis=0) - 0.5) < 0.2).all(), "in every parameter both halves"
    others = [trial for trial in trials[4:] if trial not in spread]
    assert all("log p" in str(trial.origin) for trial in others)
    assert at_border(others[0])
    assert audit(study).findings == []


def test_what_a_classifier_of_failures_would_not_find_is_found() -> None:
    found = {}
    for blind in ("classifier", "spread"):
        trials = [run(xs.Study(CUBE, searcher=GP(blind=blind), seed=seed), 60, inside) for seed in range(3)]
        found[blind] = sum(any(trial.state is xs.State.COMPLETE for trial in own) for own in trials)
    assert found == {"classifier": 0, "spread": 3}


def test_around_the_only_trial_with_a_value_steps_become_shorter() -> None:
    study = xs.Study(CUBE, searcher=GP(), seed=1)
    only = {"x0": 0.52, "x1": 0.31, "x2": 0.77}
    study.add(only, 1.0)
    trials = run(study, 40, never)
    steps = [trial for trial in trials if str(trial.origin).endswith("from trial 0, one trial has a value")]
    lengths = [max(abs(trial.config[name] - only[name]) for name in only) for trial in steps]
    assert len(steps) >= 10
    assert (np.diff(lengths) < 1e-9).all()
    assert lengths[0] > 10 * lengths[-1]
    changed = {next(name for name in only if trial.config[name] != only[name]) for trial in steps}
    assert changed == set(only)
    assert audit(study).findings == []


def test_two_values_are_enough_for_a_model() -> None:
    study = xs.Study(CUBE, searcher=GP(), seed=1)
    study.add({"x0": 0.5, "x1": 0.3, "x2": 0.7}, 1.0)
    study.add({"x0": 0.5, "x1": 0.3, "x2": 0.6}, 2.0)
    assert all("n=2" in str(trial.origin) for trial in run(study, 8, never)[4:])


def test_a_metric_that_is_measured_guides_where_nothing_is_feasible() -> None:
    study = xs.Study(CUBE, searcher=GP(initial=3), metric="loss", constraints={"size": -1.0}, seed=3)
    for _ in range(8):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, {"loss": 1.0, "size": trial["x0"]})
    assert str(study.history.trials[-1].origin).startswith("gp: log p ")


def test_over_budgets_it_is_the_same() -> None:
    study = xs.Study(CUBE, searcher=GP(), scheduler=ASHA(max_budget=9), seed=1)
    for _ in range(14):
        trial = study.ask()
        assert trial is not None
        study.fail(trial, "never")
    told = [str(trial.origin) for trial in study.history.trials]
    assert sum(each.endswith("no trial has a value") for each in told) >= 4
    assert audit(study).findings == []


def test_every_second_trial_spreads_while_all_losses_are_the_same() -> None:
    study = xs.Study(CUBE, searcher=GP(), seed=1)
    trials = run(study, 20, lambda config: 0.9)
    spread = [trial for trial in trials if str(trial.origin).endswith("all losses are the same")]
    assert [trial.number for trial in spread] == list(range(5, 20, 2))
    assert not any(at_border(trial) for trial in spread)
    others = [trial for trial in trials[4:] if trial not in spread]
    assert at_border(others[0])
    assert all("log EI" in str(trial.origin) for trial in others)
    study.add({"x0": 0.2, "x1": 0.2, "x2": 0.2}, 0.8)
    assert all("log EI" in str(trial.origin) for trial in run(study, 3, lambda config: 0.9)), (
        "one that differs is enough"
    )
    assert audit(study).findings == []


def test_every_second_trial_spreads_while_losses_differ_by_noise_alone() -> None:
    rng = np.random.default_rng(4)
    study = xs.Study(CUBE, searcher=GP(), seed=1)
    trials = run(study, 40, lambda config: 0.9 + 0.02 * float(rng.standard_normal()))
    spread = [trial for trial in trials if str(trial.origin).endswith("losses differ by noise alone")]
    assert len(spread) >= 5
    assert all(trial.number % 2 for trial in spread)
    assert not any(at_border(trial) for trial in spread)
    assert audit(study).findings == []
    before = run(
        xs.Study(CUBE, searcher=GP(blind="spread"), seed=1), 40, lambda config: 0.9 + 0.02 * float(rng.normal())
    )
    assert not any("noise alone" in str(trial.origin) for trial in before)


def test_noise_beside_an_effect_leaves_the_choice_to_the_model() -> None:
    rng = np.random.default_rng(4)

    def noisy(config: dict[str, Any]) -> float:
        return float(sum((value - 0.4) ** 2 for value in config.values()) + 0.1 * rng.standard_normal())

    trials = run(xs.Study(CUBE, searcher=GP(), seed=1), 40, noisy)
    assert sum("noise alone" in str(trial.origin) for trial in trials) <= 2


def test_a_penalty_is_no_obstacle() -> None:
    def returned(config: dict[str, Any]) -> float:
        try:
            return inside(config)
        except ArithmeticError:
            return 1e9

    ended = {}
    for name, searcher in (("before", GP(**BEFORE_LEVEL)), ("today", GP())):
        studies = [xs.Study(CUBE, searcher=searcher, seed=seed) for seed in range(3)]
        ended[name] = [min(trial.value or 0.0 for trial in run(study, 50, returned)) for study in studies]
    assert min(ended["before"]) == 1e9
    assert max(ended["today"]) < 0.1


def test_a_study_of_auto_from_before_goes_on_as_it_did(tmp_path: Path) -> None:
    check_earlier_default("auto", Auto(defaults=10), CUBE, never, tmp_path, (9, 8))


def test_defaults_of_before_are_read_as_they_were_stored() -> None:
    today = SEARCHERS.dump(GP())
    for before in (BEFORE_SPREAD, BEFORE_LEVEL, BEFORE_LONGER, {**BEFORE_SPREAD, **BEFORE_LONGER}):
        stored = {**today, **before}
        assert SEARCHERS.load(stored) == GP(**before)
    assert today in SEARCHERS.read({**today, **BEFORE_LONGER})
    missing = {name: value for name, value in today.items() if name != "blind"}
    assert SEARCHERS.load(missing) == GP(**BEFORE_SPREAD)
    assert today in SEARCHERS.read({**missing, **BEFORE_LONGER})
    lately = {name: value for name, value in today.items() if name not in BEFORE_LEVEL} | {"blind": "spread"}
    assert SEARCHERS.load(lately) == GP(**BEFORE_LEVEL)
    assert today in [SEARCHERS.dump(SEARCHERS.load(each)) for each in SEARCHERS.read(lately)]
    assert Auto(defaults=10)._gp == GP(**{**BEFORE_LEVEL, **BEFORE_SPREAD, **BEFORE_LONGER, **BEFORE_STRAIGHT})
    assert Auto(defaults=12)._gp == GP(**BEFORE_LEVEL)
