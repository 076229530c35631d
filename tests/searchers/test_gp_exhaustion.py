"""A GP leaves a place where the noise hides what there is to gain, and is cautious where it explores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import xstar as xs
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.searchers import GP, Auto
from xstar.searchers.base import SEARCHERS
from xstar.searchers.gp.earlier import BEFORE, BEFORE_EXHAUSTION, BEFORE_STEPS, BEFORE_UNEXPLAINED
from xstar.searchers.model_based.exhaustion import RESOLUTION, confirmed_noise, same_place

SPACE = xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1))
MOVED = "the best place being exhausted"


def searched(searcher: GP, loss: Callable[[xs.Trial], float | None], trials: int) -> xs.Study:
    study = xs.Study(SPACE, searcher=searcher, seed=2)
    for _ in range(trials):
        trial = study.ask()
        assert trial is not None
        found = loss(trial)
        if found is None:
            study.fail(trial, "it raises")
        else:
            study.tell(trial, found)
    return study


def repetitions(study: xs.Study, last: int) -> int:
    """How many of the last trials lie at the place of an earlier one."""
    places = np.array([list(trial.config.values()) for trial in study.history.trials])
    later = same_place(places)[1]
    return len(set(later[later >= len(places) - last].tolist()))


def bowl(trial: xs.Trial) -> float:
    return (trial["x"] - 0.3) ** 2 + (trial["y"] - 0.6) ** 2


def test_the_same_place_is_the_same_in_every_column() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (40, 3)) * 0.4 + 4e-4 * rng.random((40, 3))
    plain = [(i, j) for i in range(40) for j in range(i + 1, 40) if np.abs(X[i] - X[j]).max() < 1e-3]
    one, other = same_place(X)
    assert sorted(zip(one.tolist(), other.tolist(), strict=True)) == plain
    assert len(plain) > 5


def test_noise_counts_as_far_as_repetitions_confirm_it() -> None:
    X = np.array([[0.1], [0.1], [0.1], [0.5], [0.9]])
    t = np.array([0.0, 0.3, -0.3, 1.0, -1.0])
    assert confirmed_noise(0.2, X, t) == 0.2
    assert confirmed_noise(5.0, X, t) == pytest.approx(0.3)  # the standard deviation of the three
    assert confirmed_noise(5.0, X[1:], t[1:]) == RESOLUTION  # one pair says nothing
    assert confirmed_noise(5.0, X, 0.0 * t) == RESOLUTION  # ripples: what is tried again comes out the same


def test_a_search_of_an_exact_function_does_not_refine_for_ever() -> None:
    before, after = searched(GP(**BEFORE), bowl, 45), searched(GP(), bowl, 45)
    assert repetitions(before, 20) >= 12
    assert repetitions(after, 20) <= 4
    assert any(MOVED in trial.origin for trial in after.history.trials)
    assert not any(MOVED in trial.origin for trial in before.history.trials)
    best = after.best
    assert best is not None
    assert best.value is not None
    assert best.value < 1e-6
    assert not audit(after).findings


def test_a_noisy_search_leaves_an_exhausted_place() -> None:
    def noisy(trial: xs.Trial) -> float:
        return bowl(trial) + 0.05 * float(np.random.default_rng(trial.number).standard_normal())

    before, after = (
        searched(GP(exhausted=share, design="sobol", explore_when="always"), noisy, 60)
        for share in (0.0, GP().exhausted)
    )
    assert repetitions(after, 30) < repetitions(before, 30)
    assert any(MOVED in trial.origin for trial in after.history.trials)


def test_a_cautious_search_stays_where_trials_succeed() -> None:
    def failing(trial: xs.Trial) -> float | None:
        return None if trial["x"] > 0.4 else bowl(trial)

    def crossing(study: xs.Study) -> int:
        return sum(trial.state is xs.State.FAILED for trial in study.history.trials[10:])

    bold, cautious = (crossing(searched(GP(cautious=each), failing, 40)) for each in (False, True))
    assert cautious < bold


def test_studies_from_before_decide_as_they_did() -> None:
    stored = {key: value for key, value in SEARCHERS.dump(GP()).items() if key not in BEFORE_EXHAUSTION}
    assert SEARCHERS.load(stored) == GP(**BEFORE_EXHAUSTION)
    assert SEARCHERS.dump(GP()) in SEARCHERS.read(stored)
    earlier = {**SEARCHERS.dump(Auto()), "defaults": 2}
    assert SEARCHERS.load(earlier) == Auto(defaults=2)
    assert SEARCHERS.dump(Auto()) in SEARCHERS.read(earlier)
    before = GP(**BEFORE_EXHAUSTION, **BEFORE_STEPS, **BEFORE_UNEXPLAINED)
    first, later = (xs.Study(SPACE, searcher=each, seed=4) for each in (Auto(defaults=2), before))
    for _ in range(25):
        one, other = first.ask(), later.ask()
        assert one is not None
        assert other is not None
        assert one.config == other.config
        for study, trial in ((first, one), (later, other)):
            study.tell(trial, bowl(trial))


@pytest.mark.parametrize("given", [{"exhausted": 1.5}, {"exhausted": "no"}, {"cautious": "yes"}, {"exact": 1}])
def test_settings_that_make_no_sense_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument, match=next(iter(given))):
        GP(**given)  # type: ignore[arg-type]
