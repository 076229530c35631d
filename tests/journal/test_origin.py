"""Where a configuration came from: a sentence that knows its parts."""

from __future__ import annotations

import pickle

import pytest

from xstar.journal import event_json, events as ev
from xstar.journal.trial import Origin


def test_an_origin_is_a_sentence_that_knows_its_parts() -> None:
    made = Origin("gp", "log EI {value:.3g}, n={n}", value=0.31234, n=24)
    assert made == "gp: log EI 0.312, n=24"
    assert (made.method, made.numbers) == ("gp", {"value": 0.31234, "n": 24})
    assert made.within("auto") == "auto: gp: log EI 0.312, n=24"
    assert made.within("auto").numbers == made.numbers
    assert pickle.loads(pickle.dumps(made)).numbers == made.numbers


def test_an_origin_keeps_its_parts_in_the_journal() -> None:
    made = Origin("gp", "n={n}", n=24)
    asked = event_json.load("asked", event_json.dump(ev.Asked(0, {}, made, 1, 0.0)))
    assert isinstance(asked, ev.Asked)
    assert isinstance(asked.origin, Origin)
    assert (asked.origin, asked.origin.numbers) == (made, {"n": 24})


@pytest.mark.parametrize(
    ("detail", "shown"),
    [
        ("{n:>1000000000}", "{n:>1000000000}"),
        ("{n.real} {n.__class__} {n[0]} {0} {n!r}", "{n.real} {n.__class__} {n[0]} {0} {n!r}"),
        ("{n:.3g} {other} {", "24 {other} {"),
        ("{long} {long:.3g}", f"{'a' * 200} {'a' * 200}"),
    ],
)
def test_an_origin_from_elsewhere_is_replaced_and_not_evaluated(detail: str, shown: str) -> None:
    numbers = f'{{"n":24,"long":"{"a" * 1000}"}}'
    body = f'{{"trial":0,"config":{{}},"origin":{{"method":"gp","detail":"{detail}","numbers":{numbers}}},"seen":1,"at":0.0}}'
    asked = event_json.load("asked", body)
    assert isinstance(asked, ev.Asked)
    assert asked.origin == f"gp: {shown}"


def test_an_origin_without_numbers_is_a_sentence() -> None:
    asked = event_json.load("asked", '{"trial":0,"config":{},"origin":"gp: log EI 0.3, n=24","seen":1,"at":0.0}')
    assert isinstance(asked, ev.Asked)
    assert isinstance(asked.origin, Origin)
    assert (asked.origin.method, str(asked.origin)) == ("gp", "gp: log EI 0.3, n=24")
