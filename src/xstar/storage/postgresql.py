"""Appending to a study in PostgreSQL: one statement, one round trip, one commit.

The statement changes the counters in the study's row, so appends queue for the lock on that row, in the order in which they
came, and hold it until the commit is on the disk. A turn is an advisory lock held by an open transaction: it ends with the
transaction, also when the program dies, and its queue is in order, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from xstar.journal import SCHEMA
from xstar.storage.connections import Connections
from xstar.storage.entry import Entry, Refused, Row, StudyConnection

LOCK_SECONDS = 10
"""A turn that does not come within this time is not waited for: whoever has it may hang. Enough for dozens of suggestions."""

_TURNS = 0x7873746B  # "xstk": the first half of the name of the advisory locks; the second half is the study's number

CLAIMS = "SELECT claims FROM xstar_studies WHERE id = %s"

READ = "SELECT seq, schema, kind, body FROM xstar_events WHERE study = $1 AND seq >= $2 ORDER BY seq LIMIT $3"

APPEND = """
WITH study AS (
    UPDATE xstar_studies SET events = events + %s, claims = claims + %s WHERE id = %s{condition}
    RETURNING id, events AS length
), written AS (
    INSERT INTO xstar_events (study, seq, schema, kind, body, token)
    SELECT study.id, study.length - row.place, %s, row.kind, row.body, row.token
    FROM study, (VALUES {rows}) AS row (place, kind, body, token)
){leases} SELECT length FROM study"""
TAKE = """, taken{place} AS (
    INSERT INTO xstar_leases (study, trial, attempt, expires, holder) SELECT study.id, %s, %s, %s, %s FROM study
    ON CONFLICT (study, trial)
    DO UPDATE SET attempt = excluded.attempt, expires = excluded.expires, holder = excluded.holder
)"""
END = """, ended{place} AS (
    DELETE FROM xstar_leases lease USING study WHERE lease.study = study.id AND lease.trial = %s AND lease.attempt = %s
)"""

WRITE_CACHE = """
INSERT INTO xstar_fits (study, name, key, body) SELECT id, %s, %s, %s FROM xstar_studies WHERE id = %s
ON CONFLICT (study, name) DO UPDATE SET key = excluded.key, body = excluded.body"""


class PostgresConnection(StudyConnection):
    """Through psycopg."""

    def __init__(self, source: Connections, study: int, holder: str) -> None:
        super().__init__(source, study, holder)
        self._locked = False
        self._prepared: dict[str, str] = {}
        """The names of the statements that this connection has prepared for us, by their texts."""
        self._names = (f"xstar_{number}" for number in itertools.count())

    def _connection(self) -> Any:
        if self._open is None:
            self._open = self._source.connect()
            self._prepared = {}
            # Every statement finds rows by their keys, for which one plan is as good as another: made once, not six times.
            # A session is idle while a trial trains, and that is no reason to end it. (PostgreSQL 13 has no such limit.)
            self._open.execute(
                f"SET lock_timeout = '{LOCK_SECONDS}s'; SET plan_cache_mode = force_generic_plan; "
                "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'"
            )
        return self._open

    def _name(self, statement: str, types: Sequence[str]) -> str:
        """That of a statement, once prepared. Never an earlier one: if one is forgotten, others may still be there."""
        if statement not in self._prepared:
            name = next(self._names)
            self._connection().execute(f"PREPARE {name} ({', '.join(types)}) AS {statement}")
            self._prepared[statement] = name
        return self._prepared[statement]

    def append(self, entry: Entry) -> int:
        from psycopg.errors import UniqueViolation

        locked, self._locked = self._locked, False
        try:
            length = self._append_and_commit(entry) if locked else self._append(entry)
        except UniqueViolation:  # of the token: sent before, over a connection that broke, and committed since
            found = self.place(entry)
            if found is None:
                raise
            return found
        if length is None:
            counted = self._connection().execute(CLAIMS, (self._study,)).fetchone()
            raise Refused(None if counted is None else counted[0])
        return int(length[0]) - len(entry.kinds)

    def _append(self, entry: Entry) -> tuple[int] | None:
        found: tuple[int] | None = self._connection().execute(*self._statement(entry)).fetchone()
        return found

    def _append_and_commit(self, entry: Entry) -> tuple[int] | None:
        """In a turn: two statements as one text, for which psycopg needs three quarters of the time of a pipeline."""
        from psycopg import ClientCursor
        from psycopg.errors import InvalidSqlStatementName

        connection, (statement, values) = self._connection(), self._statement(entry)
        name = self._name(_numbered(statement), _types(entry))
        places = ", ".join(["%s"] * len(values))
        try:
            # A client cursor writes the values into the text.
            sent = ClientCursor(connection).execute(f"EXECUTE {name} ({places}); COMMIT", values)
            found: tuple[int] | None = sent.fetchone()
            return found
        except InvalidSqlStatementName:  # as in ``lock``
            connection.execute("ROLLBACK")
            self._prepared = {}
            return self._append(entry)

    def _statement(self, entry: Entry) -> tuple[str, list[Any]]:
        """The text has as many parts as there are events and leases; psycopg prepares those that come again."""
        count = len(entry.kinds)
        values: list[Any] = [count, entry.claimed, self._study]
        if entry.claims is not None:
            values.append(entry.claims)
        if entry.exact:
            values.append(entry.since)
        values.append(SCHEMA)
        token: str | None = entry.token
        for kind, body in zip(entry.kinds, entry.bodies, strict=True):
            values += (kind, body, token)
            token = None
        for trial, attempt, expires in entry.taken:
            values += (trial, attempt, expires, self._holder)
        for trial, attempt in entry.ended:
            values += (trial, attempt)
        return _text(entry.claims is not None, entry.exact, count, len(entry.taken), len(entry.ended)), values

    def lock(self, since: int, limit: int) -> Sequence[Row]:
        from psycopg.errors import InvalidSqlStatementName, LockNotAvailable

        connection = self._connection()
        read = f"EXECUTE {self._name(READ, ('int', 'int', 'int'))} ({self._study:d}, {since:d}, {limit:d})"
        try:
            # Several statements as one text, for which psycopg needs half of the time of a pipeline.
            answer = connection.execute(f"BEGIN; SELECT pg_advisory_xact_lock({_TURNS}, {self._study:d}); {read}")
        except InvalidSqlStatementName:  # psycopg drops all prepared statements after a rollback, ours included
            connection.execute("ROLLBACK")
            self._prepared = {}
            return self.lock(since, limit)
        except LockNotAvailable:
            connection.execute("ROLLBACK")  # after which it is psycopg's choice whether the statement is still prepared
            return self.read(since, limit)
        self._locked = True
        answer.nextset()
        answer.nextset()
        rows: list[Row] = answer.fetchall()
        return rows

    def unlock(self) -> None:
        if self._locked:
            self._locked = False
            # Nothing was written, but after a rollback psycopg would prepare all statements anew.
            self._connection().execute("COMMIT")

    def write_cache(self, name: str, key: str, text: str) -> None:
        self._connection().execute(WRITE_CACHE, (name, key, text, self._study))

    def drop(self, *, forked: bool = False) -> None:
        self._locked = False
        if self._open is not None and not forked:  # psycopg leaves alone what another process opened
            self._open.close()
        self._open = None


@lru_cache(maxsize=64)
def _numbered(statement: str) -> str:
    """The statement with the places of its values as the server writes them."""
    first, *parts = statement.split("%s")
    return first + "".join(f"${place}{part}" for place, part in enumerate(parts, start=1))


def _types(entry: Entry) -> list[str]:
    """The types of the values of the statement that writes an entry."""
    types = ["int"] * (4 + (entry.claims is not None) + entry.exact) + ["text"] * 3 * len(entry.kinds)
    return types + ["int", "int", "double precision", "text"] * len(entry.taken) + ["int"] * 2 * len(entry.ended)


@lru_cache(maxsize=64)
def _text(conditional: bool, exact: bool, events: int, taken: int, ended: int) -> str:
    return APPEND.format(
        condition=(" AND claims = %s" if conditional else "") + (" AND events = %s" if exact else ""),
        rows=", ".join(f"({events - place}, %s::text, %s::text, %s::text)" for place in range(events)),
        leases="".join(TAKE.format(place=place) for place in range(taken))
        + "".join(END.format(place=place) for place in range(ended)),
    )
