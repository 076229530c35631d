"""The tables, and the number of their format, which a database says of itself."""

from __future__ import annotations

import secrets

from xstar.errors import StorageTooNew
from xstar.storage.connections import Statements

META = "xstar_meta"

# ``claims`` and ``events`` of a study are counters: whoever appends changes this row, so appends go through one at a time.
# ``token`` names an append, in its first row. ``xstar_fits`` holds what a program computed that all of them need (see
# ``journal/memo.py``); it may be emptied without changing an answer.
_TABLES = """
CREATE TABLE IF NOT EXISTS xstar_meta (key VARCHAR(64) PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS xstar_studies (
    id {number} PRIMARY KEY,
    name VARCHAR(200) NOT NULL UNIQUE,
    events INTEGER NOT NULL DEFAULT 0,
    claims INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS xstar_events (
    study INTEGER NOT NULL REFERENCES xstar_studies (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    schema INTEGER NOT NULL,
    kind VARCHAR(32) NOT NULL,
    body TEXT NOT NULL,
    token TEXT,
    PRIMARY KEY (study, seq)
){ordered};
CREATE TABLE IF NOT EXISTS xstar_leases (
    study INTEGER NOT NULL REFERENCES xstar_studies (id) ON DELETE CASCADE,
    trial INTEGER NOT NULL,
    holder TEXT NOT NULL,
    expires DOUBLE PRECISION NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (study, trial)
);
CREATE TABLE IF NOT EXISTS xstar_fits (
    study INTEGER NOT NULL REFERENCES xstar_studies (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (study, name)
){ordered}"""

_TOKENS = "CREATE UNIQUE INDEX IF NOT EXISTS xstar_tokens ON xstar_events (study, token)"
"""For PostgreSQL: a connection may break while its last statement is on the way; sent again, only one may be committed."""

FORMAT = 1
"""A reader refuses higher ones."""

_MAKING = 0x78737461  # "xsta": PostgreSQL's advisory locks are named by a number


def stored_format(database: Statements) -> int:
    """The format of the database, 0 if it holds no xstar tables yet."""
    if database.is_server:
        there = database.value("SELECT to_regclass(?)", (META,)) is not None
    else:
        there = database.value("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (META,)) is not None
    value = database.value("SELECT value FROM xstar_meta WHERE key = 'format'") if there else None
    return 0 if value is None else int(value)


def check(found: int, url: str) -> None:
    """Refuse a database of a later release."""
    if found > FORMAT:
        raise StorageTooNew(
            f"{url} has database format {found}, this xstar reads up to {FORMAT}; upgrade xstar, or use another storage"
        )


def make(database: Statements, url: str) -> None:
    """Make the tables where there are none, inside the caller's write transaction."""
    if database.is_server:
        database.value("SELECT pg_advisory_xact_lock(?)", (_MAKING,))
    found = stored_format(database)
    check(found, url)
    if found == FORMAT:
        return
    # In SQLite the rows of a table that is read in the order of its key lie in that order: one tree instead of two.
    words = ("SERIAL", "") if database.is_server else ("INTEGER", " WITHOUT ROWID")
    for statement in _TABLES.format(number=words[0], ordered=words[1]).split(";"):
        database.execute(statement)
    if database.is_server:
        database.execute(_TOKENS)
    elif not database.value("PRAGMA application_id"):
        database.execute(f"PRAGMA application_id = {new_identity()}")
    database.execute("INSERT INTO xstar_meta (key, value) VALUES ('format', ?)", (str(FORMAT),))


def new_identity() -> int:
    """A number that tells a SQLite file from others: it stands in its first page, and so in its log, which may lie beside
    another file of that name."""
    return 1 + secrets.randbelow(2**31 - 1)
