"""Where a study is kept: what ``storage=`` means."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from xstar.errors import InvalidArgument

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
