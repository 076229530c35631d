"""The initial design of steps, and length scales with a factor in common."""

from __future__ import annotations

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import ask
from xstar.look.audit import audit
from xstar.models.gp import as_arrays, log_prior
from xstar.models.priors import MEAN, SHARED_LENGTH
from xstar.schedulers import ASHA
from xstar.searchers import DNGO, GP, Searcher
from xstar.searchers.bo.design import MOST_STEPS, STEP
from xstar.searchers.gp import fit as gp_fit
from xstar.space import Config

SPACE = xs.Space({f"x{place}": xs.Float(0.0, 1.0) for place in range(4)})


def bowl(config: Config) -> float:
    return sum((value - 0.6) ** 2 for value in config.values())


def searched(trials: int, space: xs.Space = SPACE, searcher: GP | None = None, fails: int = 0) -> list[xs.Trial]:
    """Run trials, the first few of which fail."""
    study = xs.Study(space, searcher=searcher or GP(), seed=3)
    for number in range(trials):
        trial = ask(study)
        if number < fails:
            study.fail(trial, "it raises")
        else:
            study.tell(trial, bowl(trial.config))
    assert audit(study).findings == []
    return list(study.history.trials)


def test_each_trial_moves_one_parameter_of_the_best_so_far() -> None:
    trials = searched(6)
    for number in range(1, 5):
        best = min(trials[:number], key=lambda trial: trial.value if trial.value is not None else np.inf)
        moved = {name: value - best[name] for name, value in trials[number].config.items() if value != best[name]}
        assert list(moved) == [f"x{number - 1}"]
        assert abs(moved[f"x{number - 1}"]) == pytest.approx(STEP)
        assert trials[number].origin == f"gp: initial {number + 1}, a step of x{number - 1} from trial {best.number}"
    assert "n=5" in trials[5].origin


def test_a_step_stays_in_the_space_and_is_not_repeated() -> None:
    space = xs.Space(n=xs.Int(1, 2), x=xs.Float(0.0, 1.0), y=xs.Float(0, 1, when={"n": 2}))
    for trial in searched(12, space, GP(initial=10)):
        space.parse(trial.config)
    narrow = xs.Space(n=xs.Int(1, 2), m=xs.Int(1, 2))
    assert len({tuple(trial.config.values()) for trial in searched(4, narrow, GP(initial=4))}) == 4


def test_where_nothing_has_a_loss_yet_there_is_no_step() -> None:
    trials = searched(5, fails=2)
    assert ["sobol" in trial.origin for trial in trials] == [False, True, True, False, False]
    assert "from trial 2" in trials[3].origin


def test_steps_are_of_few_numbers_at_the_full_budget() -> None:
    def second(space: xs.Space, searcher: Searcher | None = None, scheduler: ASHA | None = None) -> str:
        study = xs.Study(space, searcher=searcher or GP(), scheduler=scheduler, seed=3)
        study.tell(ask(study), 1.0)
        trial = ask(study)
        return str(trial.origin)

    assert "a step" in second(SPACE)
    assert "sobol" in second(SPACE, DNGO())
    many = {f"x{place}": xs.Float(0.0, 1.0) for place in range(MOST_STEPS + 1)}
    assert "sobol" in second(xs.Space(many))
    assert "sobol" in second(xs.Space(a=xs.Choice(["p", "q"]), b=xs.Float(0, 1)))
    assert "a step" not in second(SPACE, scheduler=ASHA(27))


def test_what_is_safe_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wedge of the space fails, behind whose border the optimum lies."""

    def failures(safe: float) -> int:
        monkeypatch.setattr(gp_fit, "SAFE", safe)
        failed = 0
        for seed in (1, 2, 3):
            study = xs.Study(xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1)), method="gp", seed=seed)
            for _ in range(40):
                trial = ask(study)
                if trial["x"] > 0.4 + 0.2 * trial["y"]:
                    study.fail(trial, "it raises")
                    failed += 1
                else:
                    study.tell(trial, bowl(trial.config))
        return failed

    assert failures(gp_fit.SAFE) < failures(0.5) < failures(0.0)


def test_shared_deviations_are_those_of_the_joint_normal() -> None:
    priors = (MEAN, SHARED_LENGTH, SHARED_LENGTH, SHARED_LENGTH)
    theta = np.array([0.3, 0.5, -0.2, 1.1])
    covariance = np.diag([prior.spread**2 for prior in priors])
    covariance[1:, 1:] += SHARED_LENGTH.shared**2
    off = theta - [prior.centre for prior in priors]
    value, slope = log_prior(as_arrays(priors), theta)
    assert value == pytest.approx(-0.5 * off @ np.linalg.solve(covariance, off))
    np.testing.assert_allclose(slope, -np.linalg.solve(covariance, off))
