"""Studies that outlive the process: SQLite and PostgreSQL; leases of running trials.

What needs SQLAlchemy is loaded at use: it takes as long to import as the rest of xstar.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from xstar.storage.heartbeat import Heartbeat as Heartbeat

if TYPE_CHECKING:
    from xstar.storage.sql import SqlJournal as SqlJournal
    from xstar.storage.sql import SqlStorage as SqlStorage
    from xstar.storage.sql import StudyInfo as StudyInfo

_OF_SQL = ("SqlJournal", "SqlStorage", "StudyInfo")


def __getattr__(name: str) -> Any:
    if name not in _OF_SQL:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("xstar.storage.sql"), name)
