"""Where stored studies are, unless someone says otherwise."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xstar.storage import SqlStorage

DEFAULT_STORAGE = "xstar.db"


def open_storage(storage: str | os.PathLike[str] | None) -> SqlStorage:
    """The database at a path or URL (default ``xstar.db``)."""
    from xstar.storage import SqlStorage  # at use: SQLAlchemy takes half of the time of `import xstar`

    return SqlStorage(DEFAULT_STORAGE if storage is None else storage)
