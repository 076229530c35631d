"""What ``storage=`` means, a path or a URL; and how it may be shown: never with its password.

A password in a URL that is typed on a command line can be read by every user of the machine (``ps``). So a URL may leave it
out: libpq then asks ``PGPASSWORD`` and ``~/.pgpass``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote, quote_plus, unquote

from xstar.errors import InvalidArgument

HIDDEN = "***"
SECRET_OPTIONS = ("password", "sslpassword")
"""Options after the ``?`` of a URL that libpq takes a secret from."""

SHORTEST_SECRET = 3
"""A shorter password is not looked for in messages: it would be found in every word. (libpq's messages have none.)"""

_PASSWORD = re.compile(
    r"((?:(?<!\bsqlite)://+|\bpostgres(?:ql)?(?:\+\w+)?[:/]/*)[^/@:?\s]*):(\S*)@"
)  # up to the last @: it may hold anything
_OPTION = re.compile(rf"((?:^|[?&\s])(?:{'|'.join(SECRET_OPTIONS)}|PGPASSWORD)\s*=\s*)('(?:[^'\\]|\\.)*'?|[^&\s]*)")
_LIBPQ = re.compile(rf"\s*(?:host|hostaddr|port|dbname|user|service|{'|'.join(SECRET_OPTIONS)})\s*=", re.IGNORECASE)
_SERVER = re.compile(r"postgres(?:ql)?(?:\+\w+)?(?::|//)", re.IGNORECASE)
_NO_SCHEME = re.compile(r"([^/\s:@]+):\S*@(?=[^/@]+/)")
"""``me:password@host/…``, which is no folder that anybody has."""


def masked(text: str) -> str:
    """The text with the passwords of URLs hidden, also of URLs that cannot be read.

    >>> masked("postgresql://me:s3cret@host/db?sslpassword=x")
    'postgresql://me:***@host/db?sslpassword=***'
    """
    return _OPTION.sub(rf"\1{HIDDEN}", _PASSWORD.sub(rf"\1:{HIDDEN}@", text))


def has_password(text: str) -> bool:
    """Whether the text has a URL with a password."""
    return masked(text) != text


def hide(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


@dataclass(frozen=True)
class Address:
    """The parts of a URL, decoded."""

    kind: str
    """``sqlite`` or ``postgresql``."""
    database: str
    """A file; the name of a database on a server."""
    user: str = ""
    password: str = field(default="", repr=False)
    host: str = ""
    port: str = ""
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Options after the ``?``, for libpq."""

    @classmethod
    def of(cls, storage: str | os.PathLike[str]) -> Address:
        """That of a path or a URL."""
        text = os.fspath(storage)
        if not text:
            raise InvalidArgument(
                "storage", "must be a path or a database URL", storage, "e.g. 'xstar.db' or 'postgresql://…'"
            )
        if "://" not in text:
            if _SERVER.match(text):
                _refuse(text, "a URL has two slashes, as in 'postgresql://me@host/db'")
            if _LIBPQ.match(text) or _NO_SCHEME.match(text):
                text = _NO_SCHEME.sub(rf"\1:{HIDDEN}@", text)
                _refuse(text, "write it as a URL, as in 'postgresql://me@host/db'; before the name of a file, write ./")
            return cls("sqlite", str(Path(text).expanduser()))
        scheme, _, rest = text.partition("://")
        kind = scheme.partition("+")[0]  # the rest of it names a driver, as SQLAlchemy's URLs do
        if kind == "sqlite":
            return cls._of_file(text, rest)
        if kind in ("postgresql", "postgres"):
            return cls._of_server(text, rest)
        raise InvalidArgument(
            "storage", "must be SQLite or PostgreSQL", masked(text), "e.g. 'sqlite:///xstar.db' or 'postgresql://…'"
        )

    @classmethod
    def _of_file(cls, text: str, rest: str) -> Address:
        slash, database = rest[:1], rest[1:]
        if database in ("", ":memory:"):
            raise InvalidArgument(
                "storage", "must name a file", text, "leave storage and study out for a study in memory"
            )
        if slash != "/" or "?" in database:
            _refuse(text, "e.g. 'sqlite:///xstar.db', which has no options")
        return cls("sqlite", unquote(database))

    @classmethod
    def _of_server(cls, text: str, rest: str) -> Address:
        authority = re.split("[/?]", rest, maxsplit=1)[0]
        path, _, query = rest[len(authority) :].partition("?")
        given, _, place = authority.rpartition("@")
        if "@" in given + path + query:
            raise InvalidArgument("storage", "must have one @, before the host", masked(text), _ENCODE)
        user, _, password = given.partition(":")
        host, _, port = place.partition(":")
        if place.startswith("["):  # an address of IPv6, which has colons
            host, _, port = place[1:].partition("]")
            port = port.removeprefix(":")
        if port and not port.isdecimal():
            _refuse(text, _ENCODE)
        database, user, password, host = map(unquote, (path.removeprefix("/"), user, password, host))
        return cls("postgresql", database, user, password, host, port, _options(text, query))

    def from_anywhere(self) -> Address:
        """The same wherever the program goes: a relative file is one of the folder that it is in now."""
        return replace(self, database=os.path.abspath(self.database)) if self.kind == "sqlite" else self

    @property
    def path(self) -> Path | None:
        """SQLite's file."""
        return Path(self.database) if self.kind == "sqlite" else None

    @property
    def options(self) -> dict[str, str]:
        """What libpq is given. What stands after the ``?`` comes before the rest."""
        parts = {"user": self.user, "password": self.password, "host": self.host, "port": self.port}
        return {name: text for name, text in ({**parts, "dbname": self.database} | {**self.query}).items() if text}

    @property
    def secrets(self) -> list[str]:
        """What must not be shown, as it is and as URLs write it."""
        given = [self.password, *(self.query.get(name, "") for name in SECRET_OPTIONS)]
        plain = [secret for secret in given if len(secret) >= SHORTEST_SECRET]
        return list(dict.fromkeys(form for secret in plain for form in (secret, quote(secret), quote_plus(secret))))

    def without_password(self) -> Address:
        """The same as it may be shown and used again."""
        query = {name: value for name, value in self.query.items() if name not in SECRET_OPTIONS}
        return replace(self, password="", query=query)

    def __str__(self) -> str:
        """The URL, with its password."""
        if self.kind == "sqlite":
            return "sqlite:///" + self.database.replace("%", "%25").replace("?", "%3F")
        query = "&".join(f"{quote(name)}={quote(value)}" for name, value in self.query.items())
        password = f":{quote(self.password, safe='')}" if self.password else ""
        given = f"{quote(self.user, safe='')}{password}@" if self.user or password else ""
        host = f"[{self.host}]" if ":" in self.host else quote(self.host)
        port = f":{self.port}" if self.port else ""
        return f"postgresql://{given}{host}{port}/{quote(self.database)}{query and f'?{query}'}"


def _options(text: str, query: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        name, _, value = part.partition("=")
        if unquote(name) in found:
            _refuse(text, f"give the option {name!r} once")
        found[unquote(name)] = unquote(value)
    return found


def _refuse(text: str, remedy: str) -> NoReturn:
    raise InvalidArgument("storage", "must be a path or a database URL", masked(text), remedy)


_ENCODE = "in a password, @ is written %40, : %3A, / %2F; or leave it out and set PGPASSWORD"
