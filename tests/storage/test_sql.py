"""SQLite and PostgreSQL: the journal's contract, studies as a list, leases, and formats."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

import xstar as xs
from tests.clocks import study_at
from tests.trials import ask
from xstar.errors import CorruptJournal, StorageTooNew, StudyExists, UnknownStudy
from xstar.look.audit import audit
from xstar.storage import SqlStorage
from xstar.storage.leases import LeaseHolder
from xstar.testing import check_journal
from xstar.testing.journals import created

SPACE = xs.Space(x=xs.Float(0, 1))


def test_the_journal_conforms(storage: str, name: str) -> None:
    place = SqlStorage(storage)
    check_journal(lambda: place.create(name, [created()]), lambda _: SqlStorage(storage).open(name))


def test_studies_are_listed_renamed_and_deleted(storage: str, name: str) -> None:
    place = SqlStorage(storage)
    with xs.Study(SPACE, study=name, storage=storage) as study:
        for _ in range(3):
            study.tell(study.ask(), 1.0)  # type: ignore[arg-type]
        study.add({"x": 0.5}, 2.0)
    info = {info.name: info for info in place.list()}[name]
    assert (info.trials, info.events) == (4, 8)
    with pytest.raises(StudyExists, match="choose another name"):
        place.create(name, [created()])
    place.rename(name, name + "-new")
    assert not place.exists(name)
    place.create(name, [created()])
    with pytest.raises(StudyExists):
        place.rename(name, name + "-new")
    place.delete(name)
    place.delete(name + "-new")
    with pytest.raises(UnknownStudy, match="has no study"):
        xs.Study.open(name, storage=storage)


def test_a_study_deleted_while_in_use_says_so(storage: str, name: str) -> None:
    study = xs.Study(SPACE, study=name, storage=storage)
    trial = ask(study)
    SqlStorage(storage).delete(name)
    with pytest.raises(UnknownStudy, match="deleted while it was in use"):
        study.tell(trial, 1.0)


def test_a_lease_comes_and_goes_with_its_trial(storage: str, name: str) -> None:
    now = 1000.0
    study = study_at(lambda: now, SPACE, study=name, storage=storage)
    other = SqlStorage(storage).open(name)
    trial = ask(study)
    assert other.abandoned(now + 59, [0]) == []
    assert [number for number, _, _ in other.abandoned(now + 61, [0])] == [0]
    assert other.abandoned(now + 61, []) == []
    study.journal.renew(now + 30)  # type: ignore[attr-defined]
    assert other.abandoned(now + 61, [0]) == []
    study.tell(trial, 1.0)
    assert other.abandoned(now, [0]) == [(0, "nobody held it", True)]


def test_an_expired_lease_lets_another_program_run_the_trial_again(storage: str, name: str) -> None:
    times = {"now": 1000.0}
    first = study_at(lambda: times["now"], SPACE, study=name, storage=storage, method="random", max_budget=3)
    trial = ask(first)
    first.report(trial, 0.5)
    times["now"] += 100
    second = study_at(lambda: times["now"], SPACE, study=name, storage=storage)
    taken = ask(second)
    assert (taken.number, taken.attempt, taken.budget, list(taken.epochs())) == (0, 1, 1, [2, 3])
    # The first program wakes up: its report is on record, does no harm, and it is told to stop.
    assert first.report(trial, 0.4) is xs.Verdict.STOP
    assert second.report(taken, 0.3) is xs.Verdict.CONTINUE
    second.tell(taken, 0.2)
    assert first.report(trial, 0.1) is xs.Verdict.STOP
    first.fail(trial, "too late to fail")
    assert first.best.value == second.best.value == 0.2
    assert audit(second).findings == []


def test_a_late_end_does_not_take_the_lease_of_the_run_that_replaced_it(storage: str, name: str) -> None:
    times = {"now": 1000.0}
    first, second, third = (study_at(lambda: times["now"], SPACE, study=name, storage=storage) for _ in range(3))
    trial = ask(first)
    times["now"] += 100
    second.leases.reclaim()
    assert second.ask() is not None
    first.tell(trial, 0.1)  # too late: the second program has it
    times["now"] += 100  # and now the second program dies too
    third.leases.reclaim()
    again = ask(third)
    assert (again.number, again.attempt) == (0, 2)
    third.tell(again, 0.3)
    assert first.best.value == 0.3
    assert audit(third).findings == []


def test_a_value_told_from_elsewhere_leaves_no_lease_behind(storage: str, name: str) -> None:
    times = {"now": 1000.0}
    first, second = (study_at(lambda: times["now"], SPACE, study=name, storage=storage) for _ in range(2))
    assert first.ask() is not None
    second.tell(0, 0.5)
    assert second.journal.abandoned(times["now"], [0]) == [(0, "nobody held it", True)]  # type: ignore[attr-defined]
    second.leases.reclaim()
    assert second.best.value == 0.5


def test_a_run_that_nobody_holds_is_run_again(storage: str, name: str) -> None:
    first, second = (xs.Study(SPACE, study=name, storage=storage) for _ in range(2))
    assert first.ask() is not None
    assert second.storage is not None
    second.storage.database.write(lambda database: database.execute("DELETE FROM xstar_leases"))
    second.leases.reclaim()
    taken = ask(second)
    assert (taken.number, taken.attempt) == (0, 1)


def test_who_is_dead() -> None:
    me = LeaseHolder.new()
    assert LeaseHolder.parse(str(me)) == me
    assert not me.is_dead()
    assert replace(me, started="1").is_dead(), "the number was given to another process"
    gone = replace(me, process=2**22 - 3, started="")
    assert gone.is_dead()
    assert not replace(gone, machine="elsewhere").is_dead(), "only its own machine can tell"
    assert LeaseHolder.parse("nonsense") is None


def change(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


def small_study(path: Path) -> None:
    with xs.Study(SPACE, study="s", storage=path) as study:
        study.tell(study.ask(), 1.0)  # type: ignore[arg-type]


def test_a_database_of_a_later_release_is_refused_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    small_study(path)
    change(path, "UPDATE xstar_meta SET value = '99' WHERE key = 'format'")
    with pytest.raises(StorageTooNew, match="format 99"):
        xs.Study.open("s", storage=path)


def test_an_event_of_a_later_release_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    small_study(path)
    change(path, "UPDATE xstar_events SET schema = 99 WHERE seq = 2")
    with pytest.raises(StorageTooNew, match="event 2 of study 's'"):
        xs.Study.open("s", storage=path)


@pytest.mark.parametrize(
    "statement",
    ["UPDATE xstar_events SET body = '{\"trial\": 0,' WHERE seq = 2", "DELETE FROM xstar_events WHERE seq = 1"],
)
def test_a_damaged_journal_is_named(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "s.db"
    small_study(path)
    change(path, statement)
    with pytest.raises(CorruptJournal, match="of study 's'"):
        xs.Study.open("s", storage=path)
