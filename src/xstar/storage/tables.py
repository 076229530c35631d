"""The tables, and the number of their format, which a database says of itself."""

from __future__ import annotations

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

FORMAT = 1
"""A reader refuses higher ones."""

_MAKING = 0x78737461  # "xsta": PostgreSQL's advisory locks are named by a number


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


def make(connection: sa.Connection, url: str) -> None:
    """Make the tables where there are none, inside the caller's write transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MAKING)))
    found = stored_format(connection)
    check(found, url)
    if found < FORMAT:
        metadata.create_all(connection, checkfirst=True)
        connection.execute(sa.delete(meta).where(meta.c.key == "format"))
        connection.execute(sa.insert(meta).values(key="format", value=str(FORMAT)))
