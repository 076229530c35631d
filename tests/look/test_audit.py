"""What an audit tells while it works, and that it finds the same on several cores."""

from __future__ import annotations

from dataclasses import replace

import xstar as xs
from tests.trials import ask, run_trials
from xstar.journal import events as ev
from xstar.look.audit import audit, audit_events, audit_in_parallel


def test_whoever_waits_is_told_how_far_it_is() -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), method="random", seed=1)
    run_trials(study, 3, lambda trial: trial["x"])
    told: list[tuple[int, int]] = []
    assert audit(study, lambda done, total: told.append((done, total))).findings == []
    assert told == [(done, study.history.seen) for done in range(1, study.history.seen + 1)]


def test_an_audit_in_parallel_finds_the_same() -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), method="tpe", seed=1)
    for number in range(30):
        study.tell(ask(study), float(number % 7))
    events = list(study.journal.read(0))
    events = [
        replace(event, origin="random: forged") if isinstance(event, ev.Asked) and event.trial == 20 else event
        for event in events
    ]
    alone = audit_events(events, study.scheduler, study.searcher)
    seen: list[int] = []
    split = audit_in_parallel(events, study.scheduler, study.searcher, 2, lambda done, total: seen.append(done))
    assert len(alone.findings) == 1
    assert (split.decisions, split.findings, split.other_environments) == (60, alone.findings, [])
    assert seen[-1] == 60
    assert set(split.spent) == set(alone.spent)
    assert {"suggestions of tpe", "verdicts"} <= set(split.spent)
