"""Where a study is kept: what ``storage=`` means."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from xstar.errors import InvalidArgument, UnknownStudy

if TYPE_CHECKING:
    from xstar.storage import SqlStorage

DEFAULT_STORAGE = "xstar.db"


def open_storage(storage: str | os.PathLike[str] | None) -> SqlStorage:
    """The database at a path or URL (default ``xstar.db``)."""
    from xstar.storage import SqlStorage  # at use: SQLAlchemy takes half of the time of `import xstar`

    if storage is not None and os.fspath(storage) == ":memory:":
        rule, remedy = "must name a file or a server", "leave out storage and the study's name for a study in memory"
        raise InvalidArgument("storage", rule, storage, remedy)
    return SqlStorage(DEFAULT_STORAGE if storage is None else storage)


def check_there(name: str, storage: str | os.PathLike[str] | None) -> None:
    """Refuse a file that is missing where a study should be: to open it would make an empty one."""
    from xstar.storage.address import normalise  # at use, as above

    url = normalise(DEFAULT_STORAGE if storage is None else storage)
    if url.get_backend_name() == "sqlite" and url.database not in (None, ":memory:") and "uri" not in url.query:
        path = Path(url.database or "")
        if not path.exists():
            raise UnknownStudy(f"there is no study {name!r}: there is no storage {path}; check the path")
