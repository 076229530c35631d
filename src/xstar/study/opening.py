"""Where a study is kept: what ``storage=`` means."""

from __future__ import annotations

import os

from xstar.errors import InvalidArgument, UnknownStudy
from xstar.storage import SqlStorage
from xstar.storage.address import Address

DEFAULT_STORAGE = "xstar.db"


def open_storage(storage: str | os.PathLike[str] | None) -> SqlStorage:
    """The database at a path or URL (default ``xstar.db``)."""
    if storage is not None and os.fspath(storage) == ":memory:":
        rule, remedy = "must name a file or a server", "leave out storage and the study's name for a study in memory"
        raise InvalidArgument("storage", rule, storage, remedy)
    return SqlStorage(DEFAULT_STORAGE if storage is None else storage)


def check_there(name: str, storage: str | os.PathLike[str] | None) -> None:
    """Refuse a file that is missing where a study should be: to open it would make an empty one."""
    address = Address.of(DEFAULT_STORAGE if storage is None else storage)
    if address.path is not None and address.uri is None and not address.path.exists():
        path = address.path
        raise UnknownStudy(f"there is no study {name!r}: there is no storage {path}; check the path")
