"""What an audit compares where versions or kernels differ from those of the decisions."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

import xstar as xs
from xstar.core.environment import environment
from xstar.journal import events as ev
from xstar.journal.trial import Origin, Verdict
from xstar.look.audit import Audit, audit_events
from xstar.look.likeness import Likeness, OtherEnvironment, exact_with
from xstar.searchers import GP, Grid, Random

SPACE = xs.Space(x=xs.Float(0, 1), y=xs.Float(1e-3, 1, log=True))
HERE = MappingProxyType({"xstar": "1", "blas": "openblas 0.3", "kernel": "SkylakeX", "processor": "x86_64 V2 V3 V4"})


def studied(searcher: Any, **changes: str) -> list[ev.Event]:
    """The events of a search, as if it had run in an environment with these differences."""
    study = xs.Study(SPACE, searcher=searcher, seed=1, max_budget=3)
    for _ in range(8):
        trial = study.ask()
        assert trial is not None
        for _ in trial.epochs():
            study.report(trial, (trial["x"] - 0.3) ** 2 + trial["y"])
    events = list(study.journal.read(0))
    first = events[0]
    assert isinstance(first, ev.Created)
    return [replace(first, environment={**environment(), **changes}), *events[1:]]


def changed(events: list[ev.Event], number: int, **fields: Any) -> list[ev.Event]:
    """The same with other fields in the event that asks for a trial."""
    place, asked = next(
        (i, each) for i, each in enumerate(events) if isinstance(each, ev.Asked) and each.trial == number
    )
    return [*events[:place], replace(asked, **fields), *events[place + 1 :]]


def audited(events: list[ev.Event], searcher: Any) -> Audit:
    return audit_events(events, xs.Study(SPACE, seed=1, searcher=searcher, max_budget=3).scheduler, searcher)


def counts(found: Audit) -> dict[Likeness, int]:
    return dict(found.other_environments[0].counts)


def test_what_differs_in_rounding_is_counted() -> None:
    events = studied(Random(), kernel="Other")
    assert counts(audited(events, Random())) == {Likeness.EQUAL: 8}
    asked = next(event for event in events if isinstance(event, ev.Asked) and event.trial == 7)
    near = changed(events, 7, config={name: value * (1 + 1e-9) for name, value in asked.config.items()})
    found = audited(near, Random())
    assert (found.findings, counts(found)) == ([], {Likeness.EQUAL: 7, Likeness.ROUNDING: 1})
    found = audited(changed(events, 7, config={"x": 0.25, "y": 0.5}), Random())
    assert (found.findings, counts(found)) == ([], {Likeness.EQUAL: 7, Likeness.NOT_COMPARABLE: 1})


def test_what_the_model_finds_as_good_is_counted() -> None:
    events = studied(GP(), kernel="Other")
    asked = next(event for event in events if isinstance(event, ev.Asked) and event.trial == 7)
    beside = {name: value * (1 - 1e-4) for name, value in asked.config.items()}
    found = audited(changed(events, 7, config=beside), GP())
    assert (found.findings, counts(found)) == ([], {Likeness.EQUAL: 7, Likeness.AS_GOOD: 1})
    found = audited(changed(events, 7, config={"x": 0.3, "y": 0.0317}), GP())
    assert (found.findings, counts(found)) == ([], {Likeness.EQUAL: 7, Likeness.NOT_COMPARABLE: 1})


@pytest.mark.parametrize(
    ("searcher", "fields", "finding"),
    [
        (Random(), {"bracket": 1}, "bracket is 1"),
        (Random(), {"budget": 2}, "budget is 2"),
        (Random(), {"config": {"x": 2.0, "y": 0.5}}, "outside its space"),
        (Random(), {"seen": 9999}, "which is impossible"),
        (Grid(3), {"origin": Origin("grid", "point {point}", point=9, points=9)}, "point is 9"),
        (GP(), {"origin": Origin("gp", "log EI", n=3)}, "n is 3"),
    ],
)
def test_what_is_independent_of_rounding_is_a_finding(searcher: Any, fields: dict[str, Any], finding: str) -> None:
    found = audited(changed(studied(searcher, kernel="Other"), 7, **fields), searcher)
    assert any(finding in each for each in found.findings), found.findings


def test_a_configuration_that_was_tried_is_a_finding() -> None:
    events = studied(Random(), kernel="Other")
    first = next(event for event in events if isinstance(event, ev.Asked))
    (finding,) = audited(changed(events, 7, config=first.config), Random()).findings
    assert "the first trial of its configuration is 0" in finding


def test_verdicts_are_exact_everywhere() -> None:
    events = studied(Random(), kernel="Other")
    place, report = next((i, event) for i, event in enumerate(events) if isinstance(event, ev.Reported))
    events[place] = replace(report, verdict=Verdict.STOP)
    assert "event 2: the report of trial 0 at budget 1 was recorded as" in audited(events, Random()).findings[0]


def test_decisions_of_another_release_are_not_made_again() -> None:
    events = changed(studied(Random(), xstar="0.0"), 7, config={"x": 0.25, "y": 0.5}, bracket=3)
    found = audited(events, Random())
    assert (found.findings, counts(found)) == ([], {Likeness.NOT_COMPARABLE: 8})
    assert not found.other_environments[0].same_release


def test_a_line_says_what_makes_it_exact() -> None:
    assert exact_with({**HERE, "kernel": "Haswell"}, HERE) == "OPENBLAS_CORETYPE=Haswell"
    older = {**HERE, "kernel": "Haswell", "processor": "x86_64 V2 V3"}
    assert exact_with(older, HERE) == 'OPENBLAS_CORETYPE=Haswell NPY_DISABLE_CPU_FEATURES="V4"'
    assert exact_with({**HERE, "processor": "x86_64 V2 V3 V4 V5"}, HERE) == ""
    assert exact_with({**HERE, "numpy": "3"}, HERE) == ""
    found = OtherEnvironment({**HERE, "kernel": "Haswell"}, HERE)
    found.counts.update({Likeness.ROUNDING: 2, Likeness.EQUAL: 1})
    assert str(found) == (
        "3 suggestions made elsewhere (kernel Haswell, here SkylakeX): 1 equal, 2 equal to rounding. "
        "Exact with OPENBLAS_CORETYPE=Haswell"
    )
