"""Events: their JSON form and what is said about one that cannot be read."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.mutations import damaged
from xstar.errors import CorruptJournal, StorageTooNew, XstarError
from xstar.journal import SCHEMA, event_json, events as ev
from xstar.journal.trial import Verdict
from xstar.testing.journals import one_of_each

numbers = st.floats(allow_nan=True, allow_infinity=True)


def again(event: ev.Event) -> ev.Event:
    return event_json.load(ev.kind_of(event), event_json.dump(event))


@pytest.mark.parametrize("event", one_of_each(), ids=ev.kind_of)
def test_every_kind_survives_json(event: ev.Event) -> None:
    assert repr(again(event)) == repr(event)
    json.loads(event_json.dump(event), parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


def test_the_sample_has_every_kind() -> None:
    assert {ev.kind_of(event) for event in one_of_each()} == set(ev.KINDS)


@given(
    trial=st.integers(0, 10**9),
    budget=st.integers(1, 10**9),
    metrics=st.dictionaries(st.text(), numbers),
    at=st.floats(-event_json.FURTHEST, event_json.FURTHEST),
    verdict=st.sampled_from(Verdict),
    final=st.booleans(),
)
def test_any_report_survives_json(
    trial: int, budget: int, metrics: dict[str, float], at: float, verdict: Verdict, final: bool
) -> None:
    event = ev.Reported(trial, budget, metrics, at, 1, verdict=verdict, final=final)
    assert repr(again(event)) == repr(event)


@pytest.mark.parametrize(
    ("kind", "body", "word"),
    [
        ("completed", "{", "not JSON"),
        ("completed", "[1]", "must be a JSON object"),
        ("completed", '{"trial": 1}', "lacks at"),
        ("completed", '{"trial": 1, "at": 2, "colour": 3}', "unknown fields ['colour']"),
        ("completed", '{"trial": "one", "at": 2}', "trial is 'one'"),
        ("completed", '{"trial": true, "at": 2}', "trial is True"),
        ("completed", '{"trial": 1, "at": 1' + "0" * 400 + "}", "at must be"),
        ("completed", '{"trial": 1, "at": 1e12}', "at must be"),
        ("completed", '{"trial": 1, "at": -1e12}', "at must be"),
        ("completed", '{"trial": 1, "at": NaN}', "at must be"),
        (
            "asked",
            '{"trial":0,"config":{},"origin":{"method":[],"detail":"","numbers":{}},"seen":1,"at":0}',
            "be words",
        ),
        ("reported", '{"trial": 1, "budget": 1, "metrics": {"a": "x"}, "at": 1, "seen": 1}', "could not convert"),
        ("reported", '{"trial": 1, "budget": 1, "metrics": {"a": 1}, "at": 1, "seen": 1, "verdict": "maybe"}', "maybe"),
        ("vanished", "{}", "unknown kind"),
    ],
)
def test_a_corrupt_event_is_named(kind: str, body: str, word: str) -> None:
    with pytest.raises(CorruptJournal) as caught:
        event_json.load(kind, body, where="event 7 of study 'digits'")
    assert word in str(caught.value)
    assert "event 7 of study 'digits'" in str(caught.value)


def test_an_event_of_a_later_release_is_refused() -> None:
    with pytest.raises(StorageTooNew, match="upgrade xstar"):
        event_json.load("completed", "{}", SCHEMA + 1)


@settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(one_of_each()).flatmap(lambda event: st.tuples(st.just(event), damaged(event_json.dump(event)))))
def test_no_change_of_a_stored_event_breaks_its_reader(case: tuple[ev.Event, str]) -> None:
    event, body = case
    with contextlib.suppress(XstarError):
        event_json.load(ev.kind_of(event), body)
