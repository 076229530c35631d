"""While nothing is known but failures, DNGO looks inside the space, too; ``test_gp_blind.py`` has the rule's own tests."""

from __future__ import annotations

from pathlib import Path

import pytest

import xstar as xs
from tests.searchers.cases import check_earlier_default, run
from tests.searchers.test_gp_blind import CUBE, at_border, inside, never
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.searchers import DNGO, SEARCHERS


def test_every_second_trial_spreads_while_all_fail() -> None:
    study = xs.Study(CUBE, searcher=DNGO(networks=2), seed=1)
    trials = run(study, 16, never)
    spread = [trial for trial in trials if str(trial.origin).endswith("no trial has a value")]
    assert [trial.number for trial in spread] == list(range(7, 16, 2))
    assert all("log p" in str(trial.origin) for trial in trials[6:] if trial not in spread)
    assert not any(at_border(trial) for trial in spread)
    assert audit(study).findings == []


def test_what_a_classifier_of_failures_would_not_find_is_found() -> None:
    found = {}
    for blind in ("classifier", "spread"):
        trials = run(xs.Study(CUBE, searcher=DNGO(networks=1, blind=blind), seed=2), 40, inside)
        found[blind] = any(trial.state is xs.State.COMPLETE for trial in trials)
    assert found == {"classifier": False, "spread": True}


def test_a_study_from_before_goes_on_as_it_did(tmp_path: Path) -> None:
    check_earlier_default("dngo", DNGO(blind="classifier"), CUBE, never, tmp_path, (9, 4))


def test_defaults_of_before_are_read_as_they_were_stored() -> None:
    today = SEARCHERS.dump(DNGO())
    missing = {name: value for name, value in today.items() if name != "blind"}
    assert SEARCHERS.load(missing) == DNGO(blind="classifier")
    assert today in SEARCHERS.read(missing)
    with pytest.raises(InvalidArgument, match="blind"):
        DNGO(blind="both")
