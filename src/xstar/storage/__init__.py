"""Studies that outlive the process: SQLite and PostgreSQL; leases of running trials."""

from xstar.storage.heartbeat import Heartbeat as Heartbeat
from xstar.storage.sql import SqlJournal as SqlJournal, SqlStorage as SqlStorage, StudyInfo as StudyInfo
