"""Appending to a study in PostgreSQL: one statement, one round trip, one commit.

The statement changes the counters in the study's row, so appends queue for the lock on that row, in the order in which they
came, and hold it until the commit is on the disk. A turn is an advisory lock held by an open transaction: it ends with the
transaction, also when the program dies, and its queue is in order, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xstar.journal import SCHEMA
from xstar.storage.line import COLUMNS, Connections, Entry, Refused, Row

LOCK_SECONDS = 10
"""A turn that does not come within this time is not waited for: whoever has it may hang. Enough for dozens of suggestions."""

_TURNS = 0x7873746B  # "xstk": the first half of the name of the advisory locks; the second half is the study's number

READ = f"SELECT {COLUMNS} FROM xstar_events WHERE study = %s AND seq >= %s ORDER BY seq LIMIT %s"
WRITTEN = "SELECT seq FROM xstar_events WHERE study = %s AND seq >= %s AND token = %s ORDER BY seq LIMIT 1"
COUNTED = "SELECT claims FROM xstar_studies WHERE id = %s"

APPEND = """
WITH study AS (
    UPDATE xstar_studies SET events = events + %(count)s, claims = claims + %(claimed)s
    WHERE id = %(study)s AND (%(claims)s::int IS NULL OR claims = %(claims)s)
    RETURNING id, events - %(count)s AS first
), written AS (
    INSERT INTO xstar_events (study, seq, schema, kind, body, token)
    SELECT study.id, study.first + row.place - 1, %(schema)s, row.kind, row.body, CASE row.place WHEN 1 THEN %(token)s END
    FROM study, unnest(%(kinds)s::text[], %(bodies)s::text[]) WITH ORDINALITY AS row (kind, body, place)
)"""
TAKE = """, taken AS (
    INSERT INTO xstar_leases (study, trial, attempt, expires, holder)
    SELECT study.id, row.*, %(holder)s
    FROM study, unnest(%(trials)s::int[], %(attempts)s::int[], %(expires)s::float8[]) AS row
    ON CONFLICT (study, trial)
    DO UPDATE SET attempt = excluded.attempt, expires = excluded.expires, holder = excluded.holder
)"""
END = """, ended AS (
    DELETE FROM xstar_leases lease USING study, unnest(%(over)s::int[], %(runs)s::int[]) AS row (trial, attempt)
    WHERE lease.study = study.id AND lease.trial = row.trial AND lease.attempt = row.attempt
)"""
FIRST = " SELECT first FROM study"


class PostgresLine:
    """A :class:`~xstar.storage.line.Line` through psycopg."""

    def __init__(self, connections: Connections, study: int, holder: str) -> None:
        self._connections = connections
        self._study = study
        self._holder = holder
        self._open: Any = None
        self._in_turn = False
        self._crowded = False  # others append, too: ask for what they appended in the same round trip

    def _connection(self) -> Any:
        if self._open is None:
            self._open = self._connections.connect()
            self._open.autocommit = True
            self._open.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'")
        return self._open

    def read(self, since: int, limit: int) -> Sequence[Row]:
        rows: list[Row] = self._connection().execute(READ, (self._study, since, limit)).fetchall()
        return rows

    def append(self, entry: Entry) -> Sequence[Row]:
        from psycopg.errors import UniqueViolation

        try:
            return self._append(entry)
        except UniqueViolation:  # of the token: sent before, over a connection that broke, and committed since
            found = self.written(entry)
            if found is None:
                raise
            return found

    def _append(self, entry: Entry) -> Sequence[Row]:
        connection = self._connection()
        statement, values = self._statement(entry)
        in_turn, self._in_turn = self._in_turn, False
        if not in_turn and not self._crowded:
            first, rows = connection.execute(statement, values).fetchone(), list[Row]()
        else:
            with connection.pipeline() as pipeline:
                answer = connection.execute(statement, values)
                if in_turn:
                    connection.execute("COMMIT")
                pipeline.sync()
                if self._crowded:
                    rest = connection.execute(READ, (self._study, entry.since, None))
            first = answer.fetchone()
            rows = rest.fetchall() if self._crowded else []
        if first is None:
            found = connection.execute(COUNTED, (self._study,)).fetchone()
            raise Refused(None if found is None else found[0])
        return self._between(entry.since, first[0], rows)

    def _between(self, since: int, first: int, rows: Sequence[Row]) -> Sequence[Row]:
        self._crowded = first > since
        if first > since and not rows:
            return self.read(since, first - since)
        return rows[: first - since]

    def _statement(self, entry: Entry) -> tuple[str, dict[str, Any]]:
        values: dict[str, Any] = {
            "study": self._study,
            "count": len(entry.kinds),
            "claims": entry.claims,
            "claimed": entry.claimed,
            "schema": SCHEMA,
            "kinds": entry.kinds,
            "bodies": entry.bodies,
            "token": entry.token,
        }
        statement = APPEND
        if entry.taken:
            statement += TAKE
            trials, attempts, expires = map(list, zip(*entry.taken, strict=True))
            values |= {"holder": self._holder, "trials": trials, "attempts": attempts, "expires": expires}
        if entry.ended:
            statement += END
            over, runs = map(list, zip(*entry.ended, strict=True))
            values |= {"over": over, "runs": runs}
        return statement + FIRST, values

    def written(self, entry: Entry) -> Sequence[Row] | None:
        found = self._connection().execute(WRITTEN, (self._study, entry.since, entry.token)).fetchone()
        return None if found is None else self.read(entry.since, found[0] - entry.since)

    def enter(self, since: int) -> Sequence[Row]:
        from psycopg.errors import LockNotAvailable

        connection = self._connection()
        try:
            with connection.pipeline():
                connection.execute("BEGIN")
                connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", (_TURNS, self._study))
                answer = connection.execute(READ, (self._study, since, None))
            self._in_turn = True
            rows: list[Row] = answer.fetchall()
            return rows
        except LockNotAvailable:
            connection.execute("ROLLBACK")
            return self.read(since, 2**31 - 1)

    def leave(self) -> None:
        if self._in_turn:
            self._in_turn = False
            self._connection().execute("ROLLBACK")

    def drop(self, *, forked: bool = False) -> None:
        self._in_turn = False
        if self._open is not None and not forked:  # psycopg leaves alone what another process opened
            self._open.close()
        self._open = None
