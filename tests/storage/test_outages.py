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
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.servers import own_server
from xstar.errors import StorageError
from xstar.inspect.audit import audit
from xstar.journal import events as ev
from xstar.storage.driver_errors import may_pass

PROGRAM = Path(__file__).parents[1] / "crash" / "program.py"
SPACE = xs.Space(x=xs.Float(0, 1))


@pytest.fixture
def server() -> Iterator[Any]:
    with own_server() as made:
        yield made


def stop(server: Any, mode: str) -> None:
    """``fast`` ends every connection and shuts down; ``immediate`` is a crash."""
    command = [server.bin_path / "pg_ctl", "-D", server.pgdata, "-m", mode, "-w", "stop"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=server.system_user)


def wait_for(what: Any, seconds: float = 120.0) -> None:
    for _ in range(int(seconds / 0.05)):
        if what():
            return
        time.sleep(0.05)
    raise AssertionError("waited in vain")


@pytest.mark.timeout(300)
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
        wait_for(lambda: all(each.exists() for each in acknowledged))  # each has reached the server
        for mode in ("fast", "immediate"):
            lines = len(heard())
            wait_for(lambda so_far=lines: len(heard()) > so_far + 5)
            stop(server, mode)
            time.sleep(0.5)
            server.ensure_postgres_running()
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
        assert all(trial.times_lost == 0 for trial in history.trials), "an outage is nobody's death"
        reports = [event for event in study.journal.read(0) if isinstance(event, ev.Reported)]
        told = [(event.trial, event.attempt, event.budget) for event in reports]
        assert len(set(told)) == len(told), "no report is delivered twice"
        assert {tuple(json.loads(line)[:3]) for line in heard()} <= set(told), (
            "nothing that was acknowledged is missing"
        )
        assert audit(study).findings == []


def test_an_outage_is_said_once_and_leases_outlive_it(server: Any, caplog: pytest.LogCaptureFixture) -> None:
    times = {"now": 1000.0}
    one, two = (
        xs.Study(
            SPACE, name="s", storage=server.get_uri(), method="random", max_budget=3, seed=1, clock=lambda: times["now"]
        )
        for _ in range(2)
    )
    trial = one.ask()
    assert trial is not None
    stop(server, "immediate")
    verdicts: list[xs.Verdict] = []
    worker = threading.Thread(target=lambda: verdicts.append(one.report(trial, 0.5)))
    with caplog.at_level(logging.WARNING, "xstar"):
        worker.start()
        wait_for(lambda: any("cannot be used" in line for line in caplog.messages))
        times["now"] += 500  # longer than any lease
        server.ensure_postgres_running()
        worker.join()
        two.reclaim()  # it was cut off as well: gives the others time to renew
    assert verdicts == [xs.Verdict.CONTINUE]
    assert trial.state is xs.State.RUNNING
    about = [line for line in caplog.messages if "cannot be used" in line or "can be used again" in line]
    assert (
        len([line for line in about if "cannot" in line]) == len([line for line in about if "again" in line[-6:]]) == 2
    )
    assert two.refresh().trials[0].state is xs.State.RUNNING
    times["now"] += 500
    two.reclaim()  # nobody renewed in the time of a lease: now it is dead
    assert two.refresh().trials[0].state is xs.State.WAITING
    one.close()
    two.close()


def test_a_program_that_starts_after_an_outage_gives_time_to_renew(server: Any) -> None:
    times = {"now": time.time() - 1000.0}
    one = xs.Study(SPACE, name="s", storage=server.get_uri(), seed=1, clock=lambda: times["now"])
    assert one.ask() is not None
    stop(server, "immediate")
    server.ensure_postgres_running()
    times["now"] = time.time()
    with xs.Study.open("s", storage=server.get_uri(), clock=lambda: times["now"]) as new:
        assert 0 in new.history.running, "the server has just started"
        times["now"] += 100.0
        new.reclaim()
        assert 0 in new.history.waiting
    one.close()


def test_an_outage_longer_than_its_patience_is_an_error(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XSTAR_STORAGE_PATIENCE", "0.3")
    study = xs.Study(SPACE, name="s", storage=server.get_uri(), seed=1)
    trial = study.ask()
    assert trial is not None
    stop(server, "fast")
    with pytest.raises(StorageError):
        study.tell(trial, 1.0)
    server.ensure_postgres_running()
    study.tell(trial, 1.0)
    assert study.best.value == 1.0
    study.close()


def test_an_outage_is_known_by_its_code_in_any_language() -> None:
    from psycopg import errors

    assert may_pass(errors.AdminShutdown("terminating connection due to unexpected postmaster exit"))
    assert may_pass(errors.CannotConnectNow("das Datenbanksystem startet"))
    assert not may_pass(errors.UndefinedTable('relation "x" is not there'))
    assert not may_pass(errors.InvalidPassword("password authentication failed for user"))
