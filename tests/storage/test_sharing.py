"""Several programs, one study: nothing is taken twice, nothing runs twice at once, and every decision can be recomputed."""

from __future__ import annotations

import multiprocessing as mp
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

import xstar as xs
from tests.storage.drivers import SEARCHES, SPACE, drive
from tests.trials import ask
from tests.waiting import PATIENCE
from xstar.journal import History, events as ev
from xstar.look.audit import audit
from xstar.schedulers import Hyperband, StoppingASHA
from xstar.searchers.random import Random
from xstar.storage import SqlStorage, postgresql, sqlite
from xstar.storage.entry import Entry
from xstar.testing.journals import created

DRIVERS = 4


def test_programs_that_share_studies(storage: str, name: str) -> None:
    """Four programs begin at the same moment with a study, and again with the next one."""
    name = name[:40]
    for search, (searcher, scheduler, _) in SEARCHES.items():
        xs.Study(
            SPACE, study=f"{name}-{search}", storage=storage, searcher=searcher, scheduler=scheduler, seed=5
        ).close()
    context = mp.get_context("spawn")
    start, results = context.Barrier(DRIVERS), context.Queue()
    programs = [context.Process(target=drive, args=(storage, name, start, results)) for _ in range(DRIVERS)]
    ran: dict[str, list[tuple[int, int]]] = {search: [] for search in SEARCHES}
    try:
        for program in programs:
            program.start()
        for _ in range(DRIVERS * len(SEARCHES)):
            search, runs = results.get(timeout=PATIENCE)
            ran[search] += runs
        for program in programs:
            program.join()
            assert program.exitcode == 0
    finally:
        for program in programs:
            program.kill()
    for search in SEARCHES:
        with xs.Study.open(f"{name}-{search}", storage=storage) as study:
            check(study, search, ran[search])


def check(study: xs.Study, search: str, ran: list[tuple[int, int]]) -> None:
    _, scheduler, trials = SEARCHES[search]
    assert len(set(ran)) == len(ran), "no run was given to two programs"
    history = History(scheduler.rungs)
    starts = []
    for event in study.journal.read(0):
        if isinstance(event, ev.Started):
            assert history.trials[event.trial].state in (xs.State.PAUSED, xs.State.WAITING), (
                "nothing runs twice at once"
            )
            assert event.attempt == history.trials[event.trial].attempt + 1
        if isinstance(event, ev.Asked | ev.Started):
            starts.append((event.trial, event.attempt if isinstance(event, ev.Started) else 0))
        history.fold(event)
    assert sorted(starts) == sorted(ran)
    assert len(history.trials) == trials
    assert history.count(xs.State.RUNNING, xs.State.WAITING) == 0
    assert (search in ("asha", "hyperband")) == any(attempt > 0 for _, attempt in ran)
    if search in ("grid", "random"):
        assert history.distinct == trials, "a point of a grid is taken once, whoever asks"
    if isinstance(scheduler, Hyperband):
        assert history.started[0] == scheduler.sizes[0]
        assert len(history.rung(1, 0).records) - len(history.rung(1, 0).paused) <= scheduler.sizes[0] // 3
    found = audit(study)
    assert found.findings == []
    assert found.decisions >= 2 * trials


def test_a_verdict_stands_when_others_reported_meanwhile(storage: str, name: str) -> None:
    one, two = (
        xs.Study(SPACE, study=name, storage=storage, searcher=Random(), scheduler=StoppingASHA(9), seed=1)
        for _ in range(2)
    )
    trials = [one.ask() for _ in range(4)]
    two.refresh()
    for trial in trials[1:]:
        assert trial is not None
        one.report(trial, 0.1)  # three records at the first rung
    # The second program has not seen them: the worst of four goes on, since fewer than three were known to be there.
    assert two.report(0, 0.9) is xs.Verdict.CONTINUE
    assert audit(one).findings == []
    made = [event for event in one.journal.read(0) if isinstance(event, ev.Reported) and event.trial == 0]
    assert [event.seen for event in made] == [5]


def test_a_report_for_a_run_that_another_program_ended(storage: str, name: str) -> None:
    one, two = (xs.Study(SPACE, study=name, storage=storage, max_budget=9, seed=1) for _ in range(2))
    trial = ask(one)
    two.fail(0, "no room")
    assert one.report(trial, 0.5) is xs.Verdict.STOP
    assert trial.state is xs.State.FAILED
    assert not trial.reports
    assert audit(two).findings == []


def test_two_reports_for_one_run_at_the_same_budget(storage: str, name: str) -> None:
    one, two = (xs.Study(SPACE, study=name, storage=storage, max_budget=9, seed=1) for _ in range(2))
    trial = ask(one)
    two.refresh()
    one.report(trial, 0.5, budget=1)
    two.report(0, 0.6, budget=1)  # made before it has seen the other one
    assert [reading.metrics["value"] for reading in two.refresh().trials[0].reports] == [0.5]
    assert audit(two).findings == []


def test_a_holder_that_reports_while_its_trial_is_taken_over_keeps_it(storage: str, name: str) -> None:
    """It was stopped for longer than its lease, and goes on at the very moment: a report takes no claim."""
    with (
        xs.Study(SPACE, study=name, storage=storage, method="random", seed=0) as holder,
        xs.Study.open(name, storage=storage) as other,
    ):
        trial = ask(holder)
        other._ledger.settle(lambda: ev.Lost(0, "stopped", other.clock(), 0, may_live=True))
        start, decided = other._next, []

        def interrupted(*about: Any) -> Any:
            made = start(*about)
            decided.append(made)
            if len(decided) == 1:
                assert isinstance(made, ev.Started)
                holder.tell(trial, 0.5)
            return made

        other._next = interrupted  # type: ignore[method-assign,assignment]
        taken = ask(other)
        assert taken.number == 1
        kinds = [type(event).__name__ for event in other.journal.read(0)]
        assert kinds == ["Created", "Asked", "Lost", "Reported", "Asked"]
        other.tell(taken, 0.1)
        assert audit(other).findings == []


def test_who_hangs_in_a_turn_is_not_waited_for(storage: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "LOCK_SECONDS", 1)
    monkeypatch.setattr(sqlite, "TURN_SECONDS", 0.5)
    study = xs.Study(SPACE, study=name, storage=storage, method="random", seed=1)
    held, go, done = (mp.get_context("spawn").Event() for _ in range(3))
    other = mp.get_context("spawn").Process(target=hold_turn, args=(storage, name, held, go, done))
    other.start()
    assert held.wait(PATIENCE)
    trial = ask(study)
    assert trial.number == 0
    go.set()
    assert done.wait(PATIENCE)
    other.join()
    assert [trial.number for trial in study.refresh().trials] == [0, 1]
    assert audit(study).findings == []
    study.close()


def hold_turn(storage: str, name: str, held: Any, go: Any, done: Any) -> None:
    """A program that takes its time over a decision."""
    study = xs.Study(study=name, storage=storage)
    suggest: Callable[..., Any] = study._next
    first = [True]

    def slow(*arguments: Any) -> Any:
        if first.pop() if first else False:
            held.set()
            assert go.wait(PATIENCE)
        return suggest(*arguments)

    study._next = slow  # type: ignore[method-assign,assignment]
    assert study.ask() is not None
    done.set()


def test_a_commit_whose_outcome_is_unknown_is_not_made_twice(storage: str, name: str) -> None:
    """The connection breaks after the commit and before the answer."""
    study = xs.Study(SPACE, study=name, storage=storage, method="random", seed=1)
    other = SqlStorage(storage).open(name)
    connection = study.journal._connection  # type: ignore[attr-defined]
    append, calls = connection.append, []

    def broken(entry: Any) -> Any:
        calls.append(entry)
        append(entry)
        if len(calls) == 1:
            other.append([ev.Enqueued({"x": 0.5, "n": 3}, 1.0)], 0)
            raise sqlite3.OperationalError("database is locked") if storage.endswith(".db") else lost()
        return append(entry)

    connection.append = broken
    trial = study.ask()
    connection.append = append
    assert trial is not None
    assert len(calls) == 1, "what was committed is found, not written again"
    kinds = [ev.kind_of(event) for event in study.journal.read(0)]
    assert kinds == ["created", "asked", "enqueued"]
    study.tell(trial, 1.0)
    assert audit(study).findings == []


def lost() -> Exception:
    import psycopg

    return psycopg.OperationalError("server closed the connection unexpectedly")


def test_an_append_sent_twice_is_committed_once(postgres: str, name: str) -> None:
    """A statement may still be on its way over a broken connection when it is sent again."""
    journal = SqlStorage(postgres).create(name, [created()])
    entry = Entry.of([ev.Enqueued({"x": 0.5}, 1.0)], 1, None, "token-1", 60.0)
    assert journal._connection.append(entry) == 1
    assert journal._connection.append(entry) == 1
    assert len(list(journal.read(0))) == 2


def test_statements_that_a_connection_has_forgotten_are_prepared_again(postgres: str, name: str) -> None:
    """As after a rollback: before a decision, and in the middle of one."""
    one, two = (xs.Study(SPACE, study=name, storage=postgres, method="random", seed=1) for _ in range(2))
    connection = one.journal._connection  # type: ignore[attr-defined]
    start: Callable[..., Any] = one._next

    def forgetful(*arguments: Any) -> Any:
        connection._open.execute(f"DEALLOCATE {[*connection._prepared.values()][-1]}")
        return start(*arguments)

    for number in range(8):
        for study in (one, two):
            trial = ask(study)
            study.tell(trial, trial["x"])
        one._next = forgetful if number == 4 else start  # type: ignore[method-assign,assignment]
        if number == 2:
            connection._open.execute(f"DEALLOCATE {connection._prepared[postgresql.READ]}")
    assert [trial.number for trial in two.trials] == list(range(16))
    assert audit(two).findings == []
