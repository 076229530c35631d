"""What ``storage=`` means: a path, a URL, or where to find a URL; and how it may be shown: never with its password.

A password in a URL that is typed on a command line can be read by every user of the machine (``ps``). So a URL may leave it out
(libpq then asks ``PGPASSWORD`` and ``~/.pgpass``), or stand elsewhere: ``env:NAME`` is the value of an environment variable,
``file:PATH`` the first line of a file.
"""

from __future__ import annotations

import logging
import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote, quote_plus

import sqlalchemy as sa
from sqlalchemy import exc

from xstar.errors import InvalidArgument

log = logging.getLogger("xstar")

HIDDEN = "***"
SECRET_OPTIONS = ("password", "sslpassword")
"""Options after the ``?`` of a URL that libpq takes a secret from."""

SHORTEST_SECRET = 3
"""A shorter password is not looked for in messages: it would be found in every word. (libpq's messages have none.)"""

_PASSWORD = re.compile(r"(://[^/@:?\s]*):(\S*)@")  # up to the last @: a password may hold anything
_OPTION = re.compile(rf"([?&](?:{'|'.join(SECRET_OPTIONS)})=)([^&\s]*)")


def masked(text: str) -> str:
    """The text with the passwords of URLs hidden, also of URLs that cannot be read.

    >>> masked("postgresql://me:s3cret@host/db?sslpassword=x")
    'postgresql://me:***@host/db?sslpassword=***'
    """
    return _OPTION.sub(rf"\1{HIDDEN}", _PASSWORD.sub(rf"\1:{HIDDEN}@", text))


def has_password(text: str) -> bool:
    """Whether the text has a URL with a password."""
    return masked(text) != text


def without_password(url: sa.URL) -> str:
    """The URL as it may be shown and used again."""
    query = {name: value for name, value in url.query.items() if name not in SECRET_OPTIONS}
    bare = sa.URL.create(url.drivername, url.username, None, url.host, url.port, url.database, query)
    return bare.render_as_string(hide_password=False)


def secrets_of(url: sa.URL) -> list[str]:
    """What must not be shown, as it is and as URLs write it."""
    given = [url.password, *(url.query.get(name) for name in SECRET_OPTIONS)]
    plain = [secret for secret in given if isinstance(secret, str) and len(secret) >= SHORTEST_SECRET]
    return list(dict.fromkeys(form for secret in plain for form in (secret, quote(secret), quote_plus(secret))))


def hide(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def resolve(storage: str | os.PathLike[str]) -> str:
    """A path or a URL; ``env:NAME`` and ``file:PATH`` are looked up."""
    text = os.fspath(storage)
    for _ in range(3):  # a variable may name a file
        if text.startswith("env:"):
            text = _from_environment(text.removeprefix("env:"))
        elif text.startswith("file:"):
            text = _from_file(Path(text.removeprefix("file:")).expanduser())
        else:
            return text
    raise InvalidArgument("storage", "env: and file: must lead to a path or a URL", os.fspath(storage))


def _from_environment(name: str) -> str:
    found = os.environ.get(name, "")
    if not found:
        remedy = f"export {name}=postgresql://… before you start this program"
        raise InvalidArgument("storage", "must name an environment variable that is set", f"storage=env:{name}", remedy)
    return found


def _from_file(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            found = file.readline().strip()
            others = stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        rule = f"must name a file that can be read ({why})"
        raise InvalidArgument("storage", rule, f"storage=file:{path}", "its first line is the URL") from None
    if not found:
        raise InvalidArgument(
            "storage", "must name a file with a URL", f"storage=file:{path}", "write it as its first line"
        )
    if others and has_password(found):
        log.warning("%s holds a password and others may read it; chmod 600 %s", path, path)
    return found


def normalise(storage: str | os.PathLike[str]) -> sa.URL:
    """A path, a URL, or where to find one → the URL that SQLAlchemy gets."""
    text = resolve(storage)
    if not text:
        raise InvalidArgument(
            "storage", "must be a path or a database URL", storage, "e.g. 'xstar.db' or 'postgresql://…'"
        )
    if "://" not in text:
        return sa.URL.create("sqlite", database=str(Path(text).expanduser()))
    try:
        url = sa.make_url(text)
    except (exc.ArgumentError, ValueError):  # ValueError: a port that is no number
        rule, remedy = "must be a path or a database URL", f"e.g. 'sqlite:///xstar.db'; {_ENCODE}"
        raise InvalidArgument("storage", rule, masked(text), remedy) from None
    if "@" in (url.host or ""):
        raise InvalidArgument("storage", "must have one @, before the host", masked(text), _ENCODE)
    if url.get_backend_name() == "sqlite":
        if url.database in (None, "", ":memory:"):
            raise InvalidArgument(
                "storage", "must name a file", text, "leave storage and study out for a study in memory"
            )
        return url
    if url.get_backend_name() in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise InvalidArgument(
        "storage", "must be SQLite or PostgreSQL", masked(text), "e.g. 'sqlite:///xstar.db' or 'postgresql://…'"
    )


_ENCODE = "in a password, @ is written %40, : %3A, / %2F; or leave it out and set PGPASSWORD"
