"""Programs whose suggestions do not depend on each other: they do not read what others did, and nobody can tell."""

from __future__ import annotations

import copy
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

import xstar as xs
from tests.storage.test_sharing import lost
from tests.trials import ask
from xstar.errors import UnknownStudy
from xstar.journal import event_json, events as ev
from xstar.look.audit import audit
from xstar.schedulers import FIFO
from xstar.searchers import Random, Searcher, Sobol
from xstar.storage import SqlStorage

SPACE = xs.Space(x=xs.Float(0, 1), n=xs.Int(1, 40))
FINITE = xs.Space(n=xs.Int(1, 30))


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of the events that were read from a database since the list was cleared."""
    kinds: list[str] = []
    load = event_json.load

    def counting(kind: str, *rest: Any) -> ev.Event:
        kinds.append(kind)
        return load(kind, *rest)

    monkeypatch.setattr(event_json, "load", counting)
    return kinds


@pytest.fixture
def pair(storage: str, name: str) -> Iterator[tuple[xs.Study, xs.Study]]:
    """Two programs on one study, of which the second has done something that the first has not read."""
    one, two = (xs.Study(SPACE, study=name, storage=storage, method="random", seed=3) for _ in range(2))
    run(two, 20)
    yield one, two
    one.close()
    two.close()


def run(study: xs.Study, trials: int) -> list[xs.Trial]:
    made = []
    for _ in range(trials):
        trial = ask(study)
        study.tell(trial, trial["x"] if "x" in trial.config else trial["n"])
        made.append(trial)
    return made


def test_what_others_did_is_not_read_to_ask_and_tell(pair: tuple[xs.Study, xs.Study], decoded: list[str]) -> None:
    one, two = pair
    made = [trial for _ in range(3) for trial in run(one, 2) + run(two, 2)]
    assert [trial.number for trial in made] == list(range(20, 32))
    assert decoded == []
    assert [trial.state for trial in one.trials] == [xs.State.COMPLETE] * 32
    assert len(decoded) == 2 * 32
    assert one.best.value == min(trial["x"] for trial in two.trials)
    assert audit(one).findings == []
    assert audit(one).decisions == 64


@pytest.mark.parametrize("searcher", [Random(), Sobol()])
def test_trials_are_those_of_a_single_program(storage: str, name: str, searcher: Searcher) -> None:
    one, two = (xs.Study(SPACE, study=name, storage=storage, searcher=searcher, seed=3) for _ in range(2))
    for _ in range(5):
        run(one, 2)
        run(two, 1)
    alone = xs.Study(SPACE, searcher=searcher, seed=3)
    run(alone, 15)
    assert [trial.config for trial in one.trials] == [trial.config for trial in alone.trials]
    assert [trial.origin for trial in one.trials] == [trial.origin for trial in alone.trials]
    one.close()
    two.close()


def test_a_finite_space_is_read_lest_a_configuration_is_tried_twice(
    storage: str, name: str, decoded: list[str]
) -> None:
    one, two = (xs.Study(FINITE, study=name, storage=storage, method="random", seed=3) for _ in range(2))
    made = [trial for _ in range(5) for trial in run(two, 3) + run(one, 3)]
    assert sorted(trial["n"] for trial in made) == list(range(1, 31))
    assert "asked" in decoded
    one.close()
    two.close()


def test_a_configuration_that_another_program_enqueues_is_next(pair: tuple[xs.Study, xs.Study]) -> None:
    one, two = pair
    run(one, 1)
    two.enqueue({"x": 0.25, "n": 7})
    trial = ask(one)
    assert trial.config == {"x": 0.25, "n": 7}
    run(two, 1)
    assert run(one, 1)[0].origin.method == "random"
    assert audit(one).findings == []


@pytest.mark.parametrize("state", ["pause", "stop"])
def test_a_study_that_another_program_holds_is_held(pair: tuple[xs.Study, xs.Study], state: str) -> None:
    one, two = pair
    run(one, 1)
    two.pause() if state == "pause" else two.stop()
    assert one.ask() is None
    assert (one.ended is not None) == (state == "stop")
    two.resume()
    assert run(one, 1)[0].number == 21


def test_a_trial_that_another_program_gives_up_is_run_again(pair: tuple[xs.Study, xs.Study]) -> None:
    one, two = pair
    run(one, 1)
    given_up = ask(two)
    run(one, 1)
    two.leases.release("told to go", given_up.number)
    again = ask(one)
    assert (again.number, again.attempt) == (given_up.number, 1)
    one.tell(again, 0.5)
    assert audit(one).findings == []


def test_a_wider_space_is_searched_at_once(pair: tuple[xs.Study, xs.Study]) -> None:
    one, two = pair
    before = ask(one)
    two.widen(xs.Space(x=xs.Float(0, 1), n=xs.Int(1, 40), m=xs.Int(0, 3)), {"m": 2})
    after = ask(one)
    assert "m" in after.config
    assert before["m"] == 2
    one.tell(before, 0.1)
    one.tell(after, 0.1)
    assert audit(one).findings == []


def test_limits_hold_for_all_programs_together(pair: tuple[xs.Study, xs.Study]) -> None:
    one, two = pair
    limits = xs.Limits(trials=23)
    for study in (one, two, one):
        study.tell(ask(study, limits), 1.0)
    assert one.ask(limits) is None
    assert two.ask(limits) is None
    assert one.ended == "all 23 trials are done"
    assert one.ask(xs.Limits(target=1.0)) is None, "a target looks at what others found"
    assert "target" in str(one.ended)


def test_a_trial_shows_what_became_of_it(pair: tuple[xs.Study, xs.Study], decoded: list[str]) -> None:
    one, two = pair
    first, second = one.ask(), one.ask()
    assert first is not None
    assert second is not None
    assert (first.state, first.attempt, first.budget, first.reports) == (xs.State.RUNNING, 0, 0, ())
    one.tell(first, 0.5)
    assert decoded == []
    assert (first.value, first.state) == (0.5, xs.State.COMPLETE)
    assert (second.value, second.state) == (None, xs.State.RUNNING)
    assert first == one.trials[20] != second
    assert first in one.trials
    assert {one.trials[20]: "kept"}[first] == "kept"
    assert copy.copy(first).config == first.config
    assert repr(first) == repr(one.trials[20])
    one.annotate(second, {"note": 1})
    assert second.attrs == {"note": 1}
    one.fail(second, "no room")
    assert second.reason == "no room"
    assert two.trials[21].state is xs.State.FAILED


def test_epochs_are_reported_as_ever(storage: str, name: str) -> None:
    one, two = (xs.Study(SPACE, study=name, storage=storage, searcher=Random(), scheduler=FIFO(3)) for _ in range(2))
    for study in (one, two, one, two):
        trial = ask(study)
        for epoch in trial.epochs():
            assert study.report(trial, 1.0 / epoch) is xs.Verdict.CONTINUE
        assert trial.state is xs.State.COMPLETE
    assert audit(one).findings == []
    one.close()
    two.close()


def test_live_programs_are_looked_for_without_reading_and_dead_ones_are_found(
    pair: tuple[xs.Study, xs.Study], decoded: list[str]
) -> None:
    one, two = pair
    run(one, 1)
    held = ask(two)
    one.leases.reclaim()
    assert decoded == []
    later = two.clock() + 1000
    journal: Any = one.journal
    assert [number for number, _, _ in journal.abandoned(later, None)] == [held.number]
    one.leases._clock = lambda: later
    one.leases.reclaim()
    assert one.history.trials[held.number].state is xs.State.WAITING


def test_an_event_appended_over_a_connection_that_broke_is_not_appended_twice(pair: tuple[xs.Study, xs.Study]) -> None:
    one, two = pair
    connection: Any = one.journal._connection  # type: ignore[attr-defined]
    append, calls = connection.append, []

    def broken(entry: Any) -> int:
        calls.append(entry)
        placed: int = append(entry)
        if len(calls) in (1, 2):
            raise sqlite3.OperationalError("database is locked") if one.storage.database.path else lost()  # type: ignore[union-attr]
        return placed

    connection.append = broken
    run(one, 1)
    connection.append = append
    assert len(calls) == 2, "what was committed is found"
    run(two, 1)
    assert len(one.trials) == 22
    assert audit(one).findings == []


def test_a_study_that_was_deleted_is_missed(pair: tuple[xs.Study, xs.Study], storage: str) -> None:
    one, _ = pair
    assert one.name is not None
    SqlStorage(storage).delete(one.name)
    with pytest.raises(UnknownStudy, match="was deleted"):
        one.ask()


def test_a_turn_without_a_trial_leaves_the_connection_as_it_was(pair: tuple[xs.Study, xs.Study]) -> None:
    one, two = pair
    run(one, 1)
    for _ in range(2):
        two.pause()
        assert one.ask() is None
        two.resume()
        run(two, 1)
        run(one, 1)
    connection: Any = one.journal._connection  # type: ignore[attr-defined]
    if one.storage is not None and one.storage.database.path is None:
        connection._open.execute("ROLLBACK")  # as after an error: psycopg drops what was prepared
    run(two, 1)
    assert run(one, 1)[0].number == 26
