"""The tables, and the small ordered functions that bring a database from any released format to the present one.

``FORMAT`` is the number of migrations; a fresh database runs all of them. A released migration is never edited: a change
of the tables is a new function at the end, and a dump of the format before it joins ``tests/assets``.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import sqlalchemy as sa

from xstar.errors import StorageTooNew

metadata = sa.MetaData()

meta = sa.Table(
    "xstar_meta",
    metadata,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
studies = sa.Table(
    "xstar_studies",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(200), nullable=False, unique=True),
    # Counters: whoever appends changes this row, so the database lets appends through one at a time.
    sa.Column("events", sa.Integer, nullable=False, server_default="0"),
    sa.Column("claims", sa.Integer, nullable=False, server_default="0"),
)
events = sa.Table(
    "xstar_events",
    metadata,
    sa.Column("study", sa.Integer, sa.ForeignKey("xstar_studies.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("schema", sa.Integer, nullable=False),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("token", sa.Text),  # names the append, in its first row: see ``tokens``
    sqlite_with_rowid=False,  # the primary key is the order we read in: one tree instead of two
)
tokens = sa.Index("xstar_tokens", events.c.study, events.c.token, unique=True).ddl_if(dialect="postgresql")
"""A connection may break while its last statement is on the way; sent again, only one of the two may be committed."""
leases = sa.Table(
    "xstar_leases",
    metadata,
    sa.Column("study", sa.Integer, sa.ForeignKey("xstar_studies.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("trial", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("expires", sa.Double, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
)
fits = sa.Table(
    "xstar_fits",
    metadata,
    sa.Column("study", sa.Integer, sa.ForeignKey("xstar_studies.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sqlite_with_rowid=False,
)
"""What a program computed that all of them need: see ``journal/memo.py``. May be emptied without changing an answer."""


def _first_tables(connection: sa.Connection) -> None:
    """Format 1: studies, events, leases."""
    metadata.create_all(connection, tables=[studies, events, leases], checkfirst=True)


def _counters(connection: sa.Connection) -> None:
    """Format 2: the counters of a study, the token of an append, the attempt of a lease."""
    for column in (studies.c.events, studies.c.claims, events.c.token, leases.c.attempt):
        # A fresh database has them: the first step makes the tables as they are defined above.
        if column.name not in {each["name"] for each in sa.inspect(connection).get_columns(column.table.name)}:
            made = sa.schema.CreateColumn(column).compile(dialect=connection.dialect)
            connection.execute(sa.text(f"ALTER TABLE {column.table.name} ADD COLUMN {made}"))
    tokens.create(connection, checkfirst=True)
    for (study,) in connection.execute(sa.select(studies.c.id)).all():
        here = events.c.study == study
        length = sa.select(sa.func.count()).select_from(events).where(here)
        claims = length.where(events.c.kind.in_(("asked", "started", "added")))
        counted = {"events": length.scalar_subquery(), "claims": claims.scalar_subquery()}
        connection.execute(sa.update(studies).where(studies.c.id == study).values(counted))
        starts = sa.select(events.c.body).where(here, events.c.kind == "started")
        for (body,) in connection.execute(starts.order_by(events.c.seq)).all():
            start = json.loads(body)
            of_trial = (leases.c.study == study, leases.c.trial == start["trial"])
            connection.execute(sa.update(leases).where(*of_trial).values(attempt=start["attempt"]))


def _shelf(connection: sa.Connection) -> None:
    """Format 3: what programs compute for each other."""
    metadata.create_all(connection, tables=[fits], checkfirst=True)


MIGRATIONS: tuple[Callable[[sa.Connection], None], ...] = (_first_tables, _counters, _shelf)
FORMAT = len(MIGRATIONS)

_MIGRATION_LOCK = 0x78737461  # "xsta": PostgreSQL's advisory locks are named by a number


def stored_format(connection: sa.Connection) -> int:
    """The format of the database, 0 if it holds no xstar tables yet."""
    if not sa.inspect(connection).has_table(meta.name):
        return 0
    value = connection.execute(sa.select(meta.c.value).where(meta.c.key == "format")).scalar()
    return int(value) if value is not None else 0


def check(found: int, url: str) -> None:
    """Refuse a database of a later release."""
    if found > FORMAT:
        raise StorageTooNew(
            f"{url} has database format {found}, this xstar reads up to {FORMAT}; upgrade xstar, or use another storage"
        )


def migrate(connection: sa.Connection, url: str) -> None:
    """Bring the database to ``FORMAT``, inside the caller's write transaction: all steps or none."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
    found = stored_format(connection)
    check(found, url)
    if found == FORMAT:
        return
    metadata.create_all(connection, tables=[meta], checkfirst=True)
    for step in MIGRATIONS[found:]:
        step(connection)
    connection.execute(sa.delete(meta).where(meta.c.key == "format"))
    connection.execute(sa.insert(meta).values(key="format", value=str(FORMAT)))
