"""Paths and URLs of databases: what their parts are, and that they can be written again."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest
from hypothesis import given, strategies as st

from xstar.errors import InvalidArgument
from xstar.storage.address import Address, masked

URLS = [
    *("postgresql://me@host/db", "postgresql://me:secret@host:5433/db"),
    "postgresql://:@/db?host=/run/a%20socket&port=5433",
    "postgresql://me:p%40s%3As%2F%3F%23%25@[::1]:5432/a%20b?sslmode=require&connect_timeout=2",
    *("postgresql:///db", "postgresql://host", "postgres://a%3Ab@host/"),
]


@pytest.mark.parametrize("url", URLS)
def test_a_url_means_what_it_means_to_libpq(url: str) -> None:
    theirs = psycopg.conninfo.conninfo_to_dict(url)
    assert Address.of(url).options == {name: str(value) for name, value in theirs.items() if value}


@pytest.mark.parametrize("url", [*URLS, "sqlite:///a%3Fb%25.db", "sqlite:////data/x.db", "x?.db"])
def test_a_url_can_be_written_and_read_again(url: str) -> None:
    address = Address.of(url)
    assert Address.of(str(address)) == address


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_password_may_hold_anything_and_is_hidden(user: str, password: str) -> None:
    address = Address("postgresql", "db", user, password, "host")
    assert Address.of(str(address)) == address
    assert masked(str(address)) == str(address.without_password()).replace("@", ":***@")


@pytest.mark.parametrize(
    ("url", "file"),
    [("a/b.db", "a/b.db"), ("sqlite:///a/b.db", "a/b.db"), ("sqlite:////a/b%20c.db", "/a/b c.db")],
)
def test_files(url: str, file: str) -> None:
    assert str(Address.of(url).path) == file


@pytest.mark.parametrize(
    "url",
    [
        *("postgresql://me:secret@there:port/db", "postgresql://me:sec@ret@there/db"),
        *("postgresql://me:sec/ret@there/db", "postgresql://there/db?application_name=secret@x"),
        *("postgresql://there/db?password=secret&password=secret", "sqlite:///x.db?mode=ro", "sqlite://x.db"),
        *(
            "postgresql:/me:secret@there/db",
            "postgres+psycopg:me:secret@there/db",
            "host=there password=secret dbname=db",
        ),
        *("postgresql//me:secret@there/db", "postgresql:///me:secret@there/db", "me:secret@there:5432/db"),
        "PGPASSWORD=secret postgresql://there/db",
        *("user=me password = 'se\\'cret' dbname=db", "password=secret"),
        *("", "mysql://host/db", "sqlite://", "sqlite:///:memory:", "http://[bad"),
    ],
)
def test_a_url_that_is_none_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(InvalidArgument, match="storage") as caught:
        Address.of(url)
    assert not re.search(r"password\s*=\s*'?se", str(caught.value), re.IGNORECASE)
    assert not re.search(r":secret@", str(caught.value))


def test_a_file_may_be_called_almost_anything() -> None:
    for name in ("runs/host=a/x.db", "./host=a", "postgresql/x.db", "a:b@c.db", "runs/a:b@c/x.db", "./a:b@c/x.db"):
        assert Address.of(name).path == Path(name)
