"""Studies that outlive the process: SQLite and PostgreSQL; leases of running trials."""

from xstar.storage.sql import (
    DEFAULT_STORAGE as DEFAULT_STORAGE,
    SqlJournal as SqlJournal,
    SqlStorage as SqlStorage,
    StudyInfo as StudyInfo,
    check_there as check_there,
    open_storage as open_storage,
)
