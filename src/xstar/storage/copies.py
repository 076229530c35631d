"""A whole storage copied into one file, and put back in place: both check the copy before they say that it is one.

SQLite keeps what was committed last in a log beside the file (``-wal``), which it finds by name alone: it plays any log back
that lies there, another file's, too. So a copy is made under a private name and takes a name beside which nothing lies.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from xstar.core.whole_file import whole_file
from xstar.core.words import plural
from xstar.errors import InvalidArgument, StorageBusy, StorageError
from xstar.journal.events import CLAIMS, KINDS
from xstar.storage.connections import COMPANIONS, MARK
from xstar.storage.database import Database, check_log, translated
from xstar.storage.leases import LeaseHolder
from xstar.storage.tables import new_identity

_CLAIMS = ", ".join(f"'{kind}'" for kind, cls in KINDS.items() if cls in CLAIMS)

COUNTS = "SELECT name, events FROM xstar_studies ORDER BY name"
UNSOUND = f"""
SELECT name FROM xstar_studies study LEFT JOIN xstar_events event ON event.study = study.id GROUP BY study.id
HAVING study.events != count(event.seq) OR study.events != coalesce(max(event.seq), -1) + 1
OR study.claims != coalesce(sum(event.kind IN ({_CLAIMS})), 0)"""

_SOURCE = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_CORRUPT", "SQLITE_NOTADB")
"""Errors of a copy under way that are about what is copied; all others are about the new file."""


def backup(source: Database, target: Path) -> dict[str, int]:
    """Copy all of it, as it is at one moment, into a new file; the numbers of events by study."""
    if source.path is None:
        remedy = f"PostgreSQL's own `pg_dump {source.address}` makes a backup while searches run"
        raise InvalidArgument("storage", "must be a SQLite file to be copied", source.address, remedy)
    if target.exists():
        raise InvalidArgument("target", "must be a file that is not there yet", str(target), "choose another name")
    if found := companions(target):
        rule = "must have no leftovers beside it: SQLite would play them back into the copy"
        remedy = "delete them if no program uses them, or choose another name"
        raise InvalidArgument("target", rule, ", ".join(path.name for path in found), remedy)
    return _copy(source, target)


def restore(file: Path, target: Path) -> tuple[dict[str, int], Path | None]:
    """Put a copy of a SQLite storage in the place of another, or of none; the numbers of events by study, and where what was
    there is kept."""
    if target.exists() and file.exists() and file.samefile(target):
        raise InvalidArgument("FILE", "must not be the storage itself", str(file))
    _check_unused(target)
    source = Database(file, make=False)
    kept = target.with_name(f"{target.name}.before-{secrets.token_hex(3)}")

    def make_way() -> None:
        for path in (*companions(target), *([target] if target.exists() else [])):
            path.rename(kept.with_name(kept.name + path.name.removeprefix(target.name)))

    try:
        counts = _copy(source, target, make_way)
    finally:
        source.close()
    return counts, kept if kept.exists() else None


def companions(path: Path) -> list[Path]:
    """What lies beside a SQLite file, or where one shall be, and would be taken for a part of it."""
    return [beside for end in COMPANIONS if os.path.lexists(beside := path.with_name(path.name + end))]


def _copy(source: Database, target: Path, make_way: Callable[[], None] = lambda: None) -> dict[str, int]:
    """Copy under a private name, check, put in place."""
    before = dict(source.read(lambda database: database.rows(COUNTS)))
    try:
        with whole_file(target) as part:
            try:
                source.patiently(lambda _: _copy_pages(source, part, target))
                found = check(part)
            finally:
                for left in companions(part):
                    left.unlink()
            less = [name for name, events in before.items() if found.get(name, 0) < events]
            if less:
                raise StorageError(f"{target}: the copy lacks events of {', '.join(less)}; was it deleted meanwhile?")
            make_way()
    except OSError as error:
        raise InvalidArgument("target", f"must be a file that can be written ({error.strerror})", str(target)) from None
    return found


def _copy_pages(source: Database, part: Path, target: Path) -> None:
    with closing(source.connections.connect()) as copied_from:
        try:
            with closing(sqlite3.connect(part, isolation_level=None)) as copy:
                copied_from.backup(copy)
                copy.execute("DELETE FROM xstar_leases")  # no program runs trials in a copy
                copy.execute(f"PRAGMA application_id = {new_identity()}")  # the log of what is copied is not the copy's
                copy.execute("PRAGMA journal_mode=DELETE")
                copy.execute(MARK)
        except sqlite3.Error as error:
            if error.sqlite_errorname.startswith(_SOURCE):
                raise
            raise translated(error, str(target), target) from error


def check(path: Path) -> dict[str, int]:
    """The numbers of events by study in a copy; raises an error if it is not sound."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            words = [row[0] for row in connection.execute("PRAGMA integrity_check(1)")]
            wrong = [row[0] for row in connection.execute(UNSOUND)] if words == ["ok"] else words
            if not wrong:
                return dict(connection.execute(COUNTS).fetchall())
        except sqlite3.DatabaseError as error:
            wrong = [str(error)]
    raise StorageError(
        f"the copy of the storage is not sound ({', '.join(wrong)}), so the storage is not; nothing is written"
    )


def _check_unused(target: Path) -> None:
    """Refuse a storage in which a program of this machine runs trials: it would have to end."""
    try:
        check_log(target)
        with closing(sqlite3.connect(target.absolute().as_uri() + "?mode=ro", uri=True)) as connection:
            found = {row[0] for row in connection.execute("SELECT holder FROM xstar_leases")}
    except (StorageError, sqlite3.Error):
        return  # none is there, or it cannot be read, for which a backup is restored
    living = [known for known in map(LeaseHolder.parse, found) if known is not None and known.lives_here()]
    if living:
        raise StorageBusy(
            f"{target} is in use: {plural(len(living), 'program')} on this machine run trials in it "
            f"(process {', '.join(str(known.process) for known in living)}); end them first"
        )
