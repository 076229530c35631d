"""A password in a storage's URL is seen nowhere: messages, logs, journal, reports, files, process list."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from xstar.errors import StorageError
from xstar.storage.address import Address, has_password, hide, masked
from xstar.storage.database import Database

TOKEN = "S3cretT0ken"
PASSWORD = f"p@ss:{TOKEN}/?#x"

CLI = [sys.executable, "-c", "from xstar.cli.main import app; app()"]

SPY = """
import json, os, pathlib
me = os.getpid()
while me > 1:
    folder = pathlib.Path(f"/proc/{me}")
    line = (folder / "cmdline").read_bytes().replace(b"\\0", b" ")
    if b"app()" in line:
        print("driver found", flush=True)
        break
    print(line, (folder / "environ").read_bytes(), flush=True)
    me = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
print(json.dumps({"loss": 1.0}))
raise SystemExit(os.environ["XSTAR_TRIAL"] == "1")
"""

SCRIPT = """
import logging, os
import xstar as xs
logging.basicConfig(level=logging.DEBUG)
def objective(trial):
    if trial.number == 1:
        raise ValueError("no luck")
    return trial["x"]
result = xs.minimize(objective, xs.Space(x=xs.Float(0, 1)), trials=3, study="secret-script", storage=os.environ["HUSH"],
                     workers=2, method="random", directory="files")
print(result, result.study, result.study.storage.database.url, repr(result.study), result.study._repr_html_())
xs.Study(xs.Space(y=xs.Float(0, 1)), study="secret-script", storage=os.environ["HUSH"])
"""


LOOKS = """
import json, os, sys
from xstar.cli.main import app
os.environ["XSTAR_STORAGE"] = os.environ["HUSH"]
for words in json.loads(sys.argv[1]):
    try:
        app(words)
    except SystemExit as ended:
        print("exit", ended.code)
"""

BAD = """
import json, os, traceback
import xstar as xs
from xstar.cli.main import app
for bad in json.loads(os.environ["BAD"]):
    os.environ["XSTAR_STORAGE"] = os.environ["HUSH"] = bad
    try:
        app(["studies"])
    except SystemExit as ended:
        print("exit", ended.code)
    try:
        xs.Study(xs.Space(x=xs.Float(0, 1)), study="s", storage=os.environ["HUSH"])
    except xs.XstarError as error:
        traceback.print_exc()
        print("refused", repr(error))
"""


@pytest.fixture
def url(postgres: str) -> str:
    """A server's URL with a password, which it does not ask for."""
    return str(replace(Address.of(postgres), password=PASSWORD))


@pytest.fixture
def call(tmp_path: Path) -> Any:
    """Run a program with a URL in an environment variable; all that it says."""

    def call(words: list[str], code: int, **env: str) -> str:
        done = subprocess.run(
            words,
            cwd=tmp_path,
            env={**os.environ, "XSTAR_STORAGE_PATIENCE": "0", **env},
            text=True,
            capture_output=True,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    return call


def rows(url: str) -> Iterator[str]:
    """Everything in the tables."""
    database = Database(url)
    for table in ("xstar_studies", "xstar_events", "xstar_leases", "xstar_meta"):
        yield from map(str, database.read(lambda statements, table=table: statements.rows(f"SELECT * FROM {table}")))  # type: ignore[misc]
    database.close()


def test_no_output_of_any_kind_has_the_password(url: str, tmp_path: Path, call: Any) -> None:
    (tmp_path / "spy.py").write_text(SPY)
    (tmp_path / "secret.toml").write_text(
        f'[program]\ncommand = ["{sys.executable}", "spy.py"]\n[space]\nx = {{float = [0.0, 1.0]}}\n'
        '[settings]\ntrials = 3\nmethod = "random"\nworkers = 2\ndirectory = "files"\n'
    )
    run = call([*CLI, "run", "secret.toml"], 0, XSTAR_STORAGE=url)
    assert "best value" in run
    looks = [["studies"], *([word, "secret"] for word in ("show", "best", "audit", "export"))]
    looks += [["report", "secret", "-o", "page.html"], ["show", "no-such-study"]]
    look = call([sys.executable, "-c", LOOKS, json.dumps(looks)], 0, HUSH=url)
    assert look.count("exit 0\n") == len(looks) - 1
    script = call([sys.executable, "-c", textwrap.dedent(SCRIPT)], 1, HUSH=url)
    assert "StudyMismatch" in script
    right = Address.of(url)
    refused = [
        str(replace(right, host="127.0.0.1", port="1", query={})),
        str(replace(right, database="no-such-database")),
        str(right).replace("postgresql", "mysql"),
        str(replace(right, query={**right.query, "no_such_option": "1"})),
        f"{right}&host=twice",
        str(right).replace("@", "@/@"),
        f"postgresql://me:{PASSWORD}@host/db",
        f"postgresql://me:{TOKEN}@{TOKEN}@host/db",
        f"postgresql://me:{TOKEN}@host:port/db",
        f"postgresql://127.0.0.1:1/db?password={TOKEN}",
    ]
    bad = call([sys.executable, "-c", BAD], 0, BAD=json.dumps(refused))
    assert bad.count("exit 2\n") == bad.count("refused ") == len(refused)
    said = [run, look, script, bad]
    said += rows(url)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("driver found" in path.read_text(errors="replace") for path in files)
    assert {"page.html", "stdout.txt", "stderr.txt"} <= {path.name for path in files}
    said += [path.read_text(errors="replace") for path in files]
    assert [text[max(0, text.find(TOKEN) - 200) :][:500] for text in said if TOKEN in text] == []


def test_a_password_in_the_command_line_is_warned_of(url: str, call: Any) -> None:
    found = call([*CLI, "show", "no-such-study", "--storage", url], 2)
    assert "every user of this machine can read the password" in " ".join(found.split())
    assert TOKEN not in found


class _Loud(psycopg.OperationalError):
    """A driver's error that spells out the password."""


def test_what_a_driver_says_is_masked(url: str, caplog: pytest.LogCaptureFixture) -> None:
    database = Database(url)
    error = _Loud(f"connection refused: {PASSWORD} {url}")
    with caplog.at_level(logging.WARNING, "xstar"):
        database._begin_outage(error)
    assert "cannot be used" in caplog.text
    database.patience = 0

    def fail(attempt: int) -> None:
        raise error

    with pytest.raises(StorageError, match=r"\*\*\*") as found:
        database.patiently(fail)
    assert found.value.__cause__ is None
    assert TOKEN not in caplog.text + str(found.value)
    database.close()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("xstar.db", "xstar.db"),
        ("sqlite:///x@y.db", "sqlite:///x@y.db"),
        ("sqlite:///x:a@y.db", "sqlite:///x:a@y.db"),
        ("postgresql:///me:hush@host/db", "postgresql:///me:***@host/db"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("postgresql://me:a@b:c/d?e@host/db", "postgresql://me:***@host/db"),
        ("postgresql://:hush@host", "postgresql://:***@host"),
        (
            "--storage=postgresql://me:hush@host/db?sslpassword=a&x=1",
            "--storage=postgresql://me:***@host/db?sslpassword=***&x=1",
        ),
    ],
)
def test_passwords_are_masked(text: str, shown: str) -> None:
    assert masked(text) == shown
    assert has_password(text) == (text != shown)


def test_a_url_without_its_password_can_be_used_again() -> None:
    url = Address.of("postgresql+psycopg://me:hu%20sh@host:5433/db?sslmode=require&password=other")
    assert "hu" not in repr(url)
    assert "other" not in repr(url)
    assert str(url.without_password()) == "postgresql://me@host:5433/db?sslmode=require"
    assert hide("hu sh, hu%20sh, hu+sh, other", url.secrets) == "***, ***, ***, ***"
    assert json.dumps(hide("nothing", [])) == '"nothing"'
