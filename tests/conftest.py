"""Fixtures shared by the tests: storages of every kind, and no chance but where it is asked for."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from secrets import token_hex
from types import SimpleNamespace

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from tests.clocks import Time
from tests.servers import own_places, own_server
from xstar.core import clock

EXPLORE = "XSTAR_TESTS_EXPLORE" in os.environ
"""Whether tests draw anew each time: in ``make test-all`` and ``make fuzz``."""

# No deadline: how long an example takes says more about the machine than about us.
settings.register_profile("explored", deadline=None)
settings.register_profile("repeated", deadline=None, derandomize=True, database=None)
settings.load_profile("explored" if EXPLORE else "repeated")
if not EXPLORE:  # some draws are constants of the modules that are loaded: others with every order of the tests
    vars(providers)["_get_local_constants"] = Constants

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So a shell starts a job in the background. Tests of Ctrl-C would wait without an end, their programs inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    places = ExitStack()
    places.enter_context(own_places())
    config.add_cleanup(places.close)


def pytest_collection_finish() -> None:
    """From here on no bytecode is written, by tests or by programs that they start.

    A module that a test writes twice within a second, as long as before, would else be read as it was at first: Python tells
    files by length and by second. What `make test` has compiled is read all the same.
    """
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


@pytest.fixture(autouse=True)
def _seeds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The seed of a study that was given none hangs on the name of the test alone."""
    if not EXPLORE:
        drawn = Random(request.node.nodeid)
        monkeypatch.setattr(
            "xstar.study.settings.secrets", SimpleNamespace(randbits=drawn.getrandbits, token_hex=token_hex)
        )


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of a PostgreSQL server that lives as long as the test session."""
    with own_server() as server:
        yield server.get_uri()


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where durable studies can be kept: once in SQLite, once in PostgreSQL. Studies of other tests may be there."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return str(request.getfixturevalue("postgres"))


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> Time:
    """This program's clock, which stands still until the test moves it."""
    made = Time()
    monkeypatch.setattr(clock, "time", made)
    return made


@pytest.fixture
def short_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """DNGO's networks, trained for a tenth of the steps: for tests that ask what is done, not how well."""
    from xstar.models import features

    monkeypatch.setattr(features, "MOST_STEPS", 100)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A study name that no other test uses."""
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)[-80:].strip("-")
