"""What an audit tells while it works."""

from __future__ import annotations

import xstar as xs
from xstar.inspect.audit import audit


def test_whoever_waits_is_told_how_far_it_is() -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), method="random", seed=1)
    for _ in range(3):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, trial["x"])
    told: list[tuple[int, int]] = []
    assert audit(study, lambda done, total: told.append((done, total))).findings == []
    assert told == [(done, study.history.seen) for done in range(1, study.history.seen + 1)]
