"""While nothing is known but failures or a penalty, DNGO looks inside the space, too, as in ``test_gp_blind.py``."""

from __future__ import annotations

import pytest

import xstar as xs
from tests.searchers.cases import run
from tests.searchers.test_gp_blind import CUBE, at_border, inside, never
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.searchers import DNGO, SEARCHERS
from xstar.searchers.dngo.searcher import BEFORE_LEVEL


def test_every_second_trial_spreads_while_all_fail() -> None:
    study = xs.Study(CUBE, searcher=DNGO(networks=2), seed=1)
    trials = run(study, 16, never)
    spread = [trial for trial in trials if str(trial.origin).endswith("no trial has a value")]
    assert [trial.number for trial in spread] == list(range(7, 16, 2))
    assert all("log p" in str(trial.origin) for trial in trials[6:] if trial not in spread)
    assert not any(at_border(trial) for trial in spread)
    assert audit(study).findings == []


def test_every_second_trial_spreads_while_all_losses_are_the_same() -> None:
    study = xs.Study(CUBE, searcher=DNGO(networks=1), seed=1)
    trials = run(study, 14, lambda config: 0.9)
    spread = [trial.number for trial in trials if str(trial.origin).endswith("all losses are the same")]
    assert spread == list(range(7, 14, 2))
    assert audit(study).findings == []


def test_a_penalty_is_no_obstacle() -> None:
    def returned(config: dict[str, float]) -> float:
        try:
            return inside(config)
        except ArithmeticError:
            return 1e9

    ended = {}
    for name, rules in (("before", BEFORE_LEVEL), ("today", {})):
        trials = run(xs.Study(CUBE, searcher=DNGO(networks=1, **rules), seed=3), 40, returned)
        ended[name] = min(trial.value or 0.0 for trial in trials)
    assert ended["today"] < 0.1 * ended["before"]


def test_defaults_of_before_are_read_as_they_were_stored() -> None:
    today = SEARCHERS.dump(DNGO())
    missing = {name: value for name, value in today.items() if name not in BEFORE_LEVEL}
    assert SEARCHERS.load(missing) == DNGO(**BEFORE_LEVEL)
    assert today in [SEARCHERS.dump(SEARCHERS.load(each)) for each in SEARCHERS.read(missing)]
    with pytest.raises(InvalidArgument, match="blind"):
        DNGO(blind="both")
    with pytest.raises(InvalidArgument, match="penalties"):
        DNGO(penalties="raise")
