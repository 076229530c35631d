"""What every journal must do."""

from __future__ import annotations

from collections.abc import Callable

from xstar.errors import JournalConflict
from xstar.journal import Event, History, Journal, SharedJournal, events as ev
from xstar.journal.trial import Origin, State, Verdict
from xstar.space import Float, Space


def created(metric: str = "value") -> ev.Created:
    """The first event of a small study."""
    space = Space(x=Float(0, 1)).to_json()
    return ev.Created(
        space, [{"metric": metric, "direction": "minimize"}], 0, {"name": "random"}, {"name": "fifo"}, 1, "study", 0.0
    )


def one_of_each() -> list[Event]:
    """A consistent journal in which every kind of event occurs, with awkward values."""
    return [
        created(),
        ev.PriorStudy("elsewhere ☃", [{"x": 0.5}, {"x": 1e-300}], [[0, 1, -0.0], [1, 9, 1e308]], 0.5, left_out=3),
        ev.Enqueued({"x": 0.5}, 1.0),
        ev.Asked(0, {"x": 0.5}, Origin("enqueued", "number {number}", number=1), 2, 2.0, budget=9, queued=0),
        ev.Reported(0, 1, {"value": 0.25, "größe ☃": float("nan"), "b": float("inf")}, 3.0, 4),
        ev.Lost(0, 'a "reason"\nof two lines\\', 4.0),
        ev.Started(0, 1, 5, 5.0, budget=9),
        ev.Reported(0, 3, {"value": 0.125}, 6.0, 7, attempt=1, verdict=Verdict.PAUSE),
        ev.Asked(1, {"x": 1e-300}, "random", 7, 7.0),
        ev.Failed(1, "exception", "", 8.0),
        ev.Asked(2, {"x": 0.1 + 0.2}, "random", 9, 9.0, bracket=2),
        ev.Reported(2, 1, {"value": -0.0}, 10.0, 10),
        ev.Completed(2, 11.0),
        ev.Added(3, {"x": 1.0}, {"value": 1e308}, 12.0, budget=4),
        ev.Annotated(3, {"tags": ["a", None], "ä": {"b": 1.5}}, 13.0),
        ev.Asked(4, {"x": 0.0}, "random", 13, 13.0),
        ev.Reported(4, 1, {"value": 5.0}, 14.0, 13, final=True),
        ev.Reshaped({"parameters": [["x", {"kind": "float", "low": 0.0, "high": 2.0}]]}, {}, 15.0),
        ev.Held("pause", 16.0),
        ev.Environment({"python": "3.14", "kernel": "Größe"}, 17.0),
    ]


def check_journal(make: Callable[[], Journal], again: Callable[[Journal], Journal] | None = None) -> None:
    """``make()`` gives an empty journal, or one whose only event is :func:`created`; ``again`` opens the same one anew."""
    journal = make()
    events = one_of_each()
    start = len(list(journal.read(0)))
    assert start <= 1, "a new journal is empty, or holds the event that created its study"
    if start == 0:
        assert list(journal.append(events[:1], 0)) == [], "nobody else appended"
    assert list(journal.append(events[1:4], 1)) == [], "several events are appended at once"
    for wrong in (0, 2):
        try:
            journal.append(events[8:9], 4, claims=wrong)
        except JournalConflict:
            pass
        else:
            raise AssertionError(f"a claim that knows of {wrong} others must conflict when there is 1")
    assert len(list(journal.read(0))) == 4, "a refused append leaves nothing behind"
    missed = journal.append(events[4:5], 2)
    assert repr(list(missed)) == repr(events[2:4]), "append returns what the caller has not seen, in order"
    claims = 1
    for number, event in enumerate(events[5:], 5):
        conditional = isinstance(event, ev.CLAIMS)
        assert list(journal.append([event], number, claims if conditional else None)) == []
        claims += conditional
    if isinstance(journal, SharedJournal):
        _check_shared(journal, events)
    for kept in (journal, again(journal)) if again else (journal,):
        read = list(kept.read(0))
        assert repr(read[1:]) == repr(events[1:]), "what was appended is read back, NaN and -0.0 included"
        assert repr(list(kept.read(7))) == repr(events[7:]), "read(since) begins at that number"
        assert list(kept.read(len(events))) == [], "nothing after the end"
        history = History()
        history.extend(read)
        states = [trial.state for trial in history.trials]
        assert states == [State.PAUSED, State.FAILED, State.COMPLETE, State.COMPLETE, State.COMPLETE], "the fold of it"


def _check_shared(journal: SharedJournal, events: list[Event]) -> None:
    for since in (0, len(events) - 1, len(events)):
        with journal.deciding(since) as missed:
            assert repr(list(missed)) == repr(events[since:]), "who decides knows all that there is"
    try:
        journal.append(events[-1:], len(events) - 1, exact=True)
    except JournalConflict:
        pass
    else:
        raise AssertionError("an event that is to have a number must conflict when another one has it")
    assert journal.read_cache("fit", "1") is None, "the cache of a new study is empty"
    journal.write_cache("fit", "1", "ä")
    found = [journal.read_cache(*each) for each in (("fit", "1"), ("fit", "2"), ("ä", "1"))]
    assert found == ["ä", None, None]
    journal.write_cache("fit", "2", "[0.1]")
    assert (journal.read_cache("fit", "1"), journal.read_cache("fit", "2")) == (None, "[0.1]"), "the last one stays"
