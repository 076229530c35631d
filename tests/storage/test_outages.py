"""A PostgreSQL server that goes away in the middle of a search and comes back: the search goes on, nothing is lost."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

import xstar as xs
from tests.clocks import study_at
from tests.crash.rounds import LOST_SERVER
from tests.servers import own_server
from tests.trials import ask
from tests.waiting import PATIENCE, until
from xstar.errors import StorageError
from xstar.journal import events as ev
from xstar.look.audit import audit
from xstar.storage import SqlJournal
from xstar.storage.database import may_pass, translated

PROGRAM = Path(__file__).parents[1] / "crash" / "program.py"
SPACE = xs.Space(x=xs.Float(0, 1))


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """One that these tests stop and start again: the one that all tests share stays up."""
    with own_server() as made:
        yield made


def stop(server: Any, mode: str) -> None:
    """``fast`` ends every connection and shuts down; ``immediate`` is a crash."""
    command = [server.bin_path / "pg_ctl", "-D", server.pgdata, "-m", mode, "-w", "-t", str(int(PATIENCE)), "stop"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=server.system_user)


def start(server: Any) -> None:
    """Again, if on a busy machine it takes longer than ``pg_ctl`` waits."""
    for _ in range(4):
        with suppress(subprocess.SubprocessError):
            server.ensure_postgres_running()
            return
    server.ensure_postgres_running()


@pytest.mark.slow
def test_a_restarted_server_is_waited_for(server: Any, tmp_path: Path) -> None:
    acknowledged, errors = [tmp_path / f"acknowledged-{place}.txt" for place in range(2)], tmp_path / "errors.txt"

    def heard() -> list[str]:
        return [line for each in acknowledged if each.exists() for line in each.read_text().splitlines()]

    with errors.open("wb") as file:
        programs = [
            subprocess.Popen(
                [sys.executable, PROGRAM, server.get_uri(), each, "40", "1", "asha"],
                stderr=file,
                cwd=tmp_path,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
            for each in acknowledged
        ]
    try:
        until(lambda: all(each.exists() for each in acknowledged))  # each has reached the server
        for number, mode in enumerate(("fast", "immediate"), start=1):
            before = len(heard()) + 5
            until(partial(lambda least: len(heard()) > least, before))
            stop(server, mode)
            until(partial(lambda least: errors.read_text().count(LOST_SERVER) >= least, 2 * number))  # both know
            start(server)
        for program in programs:
            assert program.wait(timeout=200) == 0, errors.read_text()[-3000:]
    finally:
        for program in programs:
            program.kill()
            program.wait()
    with xs.Study.open("crash", storage=server.get_uri()) as study:
        history = study.history
        assert len(history.trials) == 40
        assert history.count(xs.State.RUNNING, xs.State.WAITING, xs.State.FAILED) == 0
        assert all(trial.runs.lost == 0 for trial in history.trials), "an outage is nobody's death"
        reports = [event for event in study.journal.read(0) if isinstance(event, ev.Reported)]
        told = [(event.trial, event.attempt, event.budget) for event in reports]
        assert len(set(told)) == len(told), "no report is delivered twice"
        assert {tuple(json.loads(line)[:3]) for line in heard()} <= set(told), (
            "nothing that was acknowledged is missing"
        )
        assert audit(study).findings == []


def test_an_outage_is_said_once_and_leases_outlive_it(server: Any, name: str, caplog: pytest.LogCaptureFixture) -> None:
    times = {"now": 1000.0}
    one, two = (
        study_at(
            lambda: times["now"], SPACE, study=name, storage=server.get_uri(), method="random", max_budget=3, seed=1
        )
        for _ in range(2)
    )
    trial = ask(one)
    stop(server, "immediate")
    verdicts: list[xs.Verdict] = []
    worker = threading.Thread(target=lambda: verdicts.append(one.report(trial, 0.5)))
    with caplog.at_level(logging.WARNING, "xstar"):
        worker.start()
        until(lambda: any("cannot be used" in line for line in caplog.messages))
        times["now"] += 500  # longer than any lease
        start(server)
        worker.join()
        two.leases.reclaim()  # it was cut off as well: gives the others time to renew
    assert verdicts == [xs.Verdict.CONTINUE]
    assert trial.state is xs.State.RUNNING
    about = [line for line in caplog.messages if "cannot be used" in line or "can be used again" in line]
    assert (
        len([line for line in about if "cannot" in line]) == len([line for line in about if "again" in line[-6:]]) == 2
    )
    assert two.refresh().trials[0].state is xs.State.RUNNING
    times["now"] += 500
    two.leases.reclaim()  # nobody renewed in the time of a lease: now it is dead
    assert two.refresh().trials[0].state is xs.State.WAITING
    one.close()
    two.close()


def test_a_program_that_starts_after_an_outage_gives_time_to_renew(server: Any, name: str) -> None:
    times = {"now": time.time() - 1000.0}
    one = study_at(lambda: times["now"], SPACE, study=name, storage=server.get_uri(), seed=1)
    assert one.ask() is not None
    stop(server, "immediate")
    start(server)
    times["now"] = time.time()
    with study_at(lambda: times["now"], storage=server.get_uri(), study=name) as new:
        assert 0 in new.history.running, "the server has just started"
        times["now"] += 100.0
        new.leases.reclaim()
        assert 0 in new.history.waiting
    one.close()


def test_an_outage_longer_than_its_patience_is_an_error(
    server: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XSTAR_STORAGE_PATIENCE", "0.3")
    study = xs.Study(SPACE, study=name, storage=server.get_uri(), seed=1)
    trial = ask(study)
    stop(server, "fast")
    with pytest.raises(StorageError):
        study.tell(trial, 1.0)
    start(server)
    study.tell(trial, 1.0)
    assert study.best.value == 1.0
    study.close()


def configure(server: Any, setting: str) -> None:
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET {setting}")
        connection.execute("SELECT pg_reload_conf()")


def test_a_server_that_takes_no_writes_for_a_while_is_waited_for(
    server: Any, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    study = xs.Study(SPACE, study=name, storage=server.get_uri(), method="random", seed=1)
    trial = ask(study)
    assert study.storage is not None
    pauses: list[float] = []

    def wait(seconds: float) -> bool:  # a failover of two pauses
        pauses.append(seconds)
        if len(pauses) == 2:
            configure(server, "default_transaction_read_only = off")
        return False

    monkeypatch.setattr(study.storage.database._closed, "wait", wait)
    configure(server, "default_transaction_read_only = on")
    try:
        until(lambda: is_read_only(server))
        study.tell(trial, 1.0)
    finally:
        configure(server, "default_transaction_read_only = off")
    assert pauses
    assert study.best.value == 1.0
    assert any("read-only" in line for line in caplog.messages)
    study.close()


def is_read_only(server: Any) -> bool:
    with psycopg.connect(server.get_uri()) as connection:
        found = connection.execute("SHOW default_transaction_read_only").fetchone()
        return found == ("on",)


def test_a_standby_is_not_a_matter_of_permissions() -> None:
    error = psycopg.errors.ReadOnlySqlTransaction("cannot execute INSERT in a read-only transaction")
    assert "primary server" in str(translated(error, "postgresql://db.example/x", None))


def test_a_session_may_be_idle_for_longer_than_the_server_likes(server: Any, name: str) -> None:
    configure(server, "idle_session_timeout = '50s'")
    try:
        with xs.Study(SPACE, study=name, storage=server.get_uri(), method="random", seed=1) as study:
            assert isinstance(study.journal, SqlJournal)
            session = study.journal._connection._connection()
            assert session.execute("SHOW idle_session_timeout").fetchone() == ("0",)
    finally:
        configure(server, "idle_session_timeout = 0")
    assert may_pass(psycopg.errors.IdleSessionTimeout("terminating connection due to idle-session timeout"))


def test_an_outage_is_known_by_its_code_in_any_language() -> None:
    from psycopg import errors

    assert may_pass(errors.AdminShutdown("terminating connection due to unexpected postmaster exit"))
    assert may_pass(errors.CannotConnectNow("das Datenbanksystem startet"))
    assert not may_pass(errors.UndefinedTable('relation "x" is not there'))
    assert not may_pass(errors.InvalidPassword("password authentication failed for user"))
