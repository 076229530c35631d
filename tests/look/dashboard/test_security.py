"""Who is let in, what is refused, and that nothing a study says becomes markup."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import threading
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("fastapi", reason="the dashboard needs its extra")

from tests.look.dashboard.servers import TOKEN, Server, client, stored
from tests.waiting import PATIENCE
from xstar.errors import InvalidArgument
from xstar.look.dashboard import timed
from xstar.look.dashboard.security import COOKIE, MOST_BODY, Access, Bucket, Guard
from xstar.look.dashboard.server import access, is_loopback, serve
from xstar.storage import SqlStorage

PAGES = ("/", "/study/s", "/study/s/trial/1", "/compare?study=s", "/login")


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("security"), trials=4)


@pytest.mark.parametrize("address", PAGES)
def test_pages_have_no_inline_script_and_say_so(storage: Path, address: str) -> None:
    with client(storage) as asking:
        answer = asking.get(address, headers={"accept": "text/html"})
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    for part in answer.text.split("<script")[1:]:
        assert "src=" in part.partition(">")[0]
    for attribute in ("onclick=", "onload=", "onerror=", "javascript:"):
        assert attribute not in answer.text


def test_another_name_is_refused(storage: Path) -> None:
    with client(storage) as asking:
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "user@evil", "[::2]:80"):
            assert asking.get("/api/studies", headers={"host": host}).status_code == 421
        for host in ("localhost", "localhost:99", "127.0.0.1:8765", "[::1]:8765", "LOCALHOST"):
            assert asking.get("/api/studies", headers={"host": host}).status_code == 200


def test_another_site_may_not_read_nor_change(storage: Path) -> None:
    bearer = {"authorization": f"Bearer {TOKEN}"}
    with client(storage, token=TOKEN, write=True) as asking:
        body = {"attrs": {"a": 1}}
        address = "/api/studies/s/trials/0/annotate"
        for origin in (
            *("http://evil.example", "null", "http://localhost:1", "https://localhost.evil"),
            *("http://[", "//[::"),
        ):
            assert asking.post(address, json=body, headers={**bearer, "origin": origin}).status_code == 403
        assert asking.post(address, json=body, headers={**bearer, "origin": "http://localhost"}).status_code == 200
        for site in ("cross-site", "same-site"):  # other ports of this host are of the same site
            assert asking.post(address, json=body, headers={**bearer, "sec-fetch-site": site}).status_code == 403
        cross = {**bearer, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
        assert asking.get("/api/studies", headers=cross).status_code == 403


def test_without_the_token_nothing_is_told(storage: Path) -> None:
    with client(storage, token=TOKEN) as asking:
        for address in ("/api/studies", "/api/studies/s", "/openapi.json", "/api/about", "/study/s"):
            answer = asking.get(address)
            assert answer.status_code == 401
            assert "loss" not in answer.text
        page = asking.get("/study/s", headers={"accept": "text/html"}, follow_redirects=False)
        assert (page.status_code, page.headers["location"]) == (303, "/login")
        for wrong in ("x", TOKEN[:-1], TOKEN + "x", TOKEN.upper()):
            assert asking.get("/api/studies", headers={"authorization": f"Bearer {wrong}"}).status_code == 401
            assert asking.get("/api/studies", headers={"cookie": f"{COOKIE}={wrong}"}).status_code == 401
        assert asking.get("/api/studies", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_the_token_becomes_a_cookie_that_scripts_cannot_read(storage: Path) -> None:
    with client(storage, token=TOKEN) as asking:
        assert asking.post("/login", json={"token": "wrong"}).status_code == 401
        answer = asking.post("/login", json={"token": TOKEN})
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert TOKEN not in cookie
        assert asking.get("/api/studies").status_code == 200  # the client kept it


@pytest.mark.usefixtures("frozen")
def test_attempts_at_the_token_are_few(storage: Path) -> None:
    with client(storage, token=TOKEN) as asking:
        codes = [asking.post("/login", json={"token": f"guess {n}"}).status_code for n in range(14)]
    assert codes == [401] * 10 + [429] * 4


@pytest.mark.usefixtures("frozen")
@pytest.mark.parametrize("way", ["bearer", "cookie"])
def test_guesses_in_headers_are_as_few_and_a_right_one_among_them_is_not_told(storage: Path, way: str) -> None:
    with client(storage, token=TOKEN) as asking:

        def ask(token: str) -> int:
            name, value = ("authorization", f"Bearer {token}") if way == "bearer" else ("cookie", f"{COOKIE}={token}")
            return asking.get("/api/studies", headers={name: value}).status_code

        assert [ask("an-old-page") for _ in range(20)] == [401] * 20  # one attempt, however often
        assert [ask(f"guess-{n}") for n in range(13)] == [401] * 9 + [429] * 4
        assert ask(TOKEN if way == "bearer" else Access(TOKEN).session) == 429


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HT", b"POST /login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{"]
)
def test_a_request_has_to_arrive_in_time(storage: Path, sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed, "REQUEST_SECONDS", 0.01)
    with Server(storage) as server, socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as silent:
        silent.sendall(sent)
        while silent.recv(1000):
            pass  # closed by the server


@pytest.mark.usefixtures("frozen")
def test_whoever_guesses_the_token_locks_out_nobody_else() -> None:
    answers: list[int] = []

    async def inside(scope: Any, receive: Any, send: Any) -> None:
        answers.append(401)

    async def refused(message: Any) -> None:
        if message["type"] == "http.response.start":
            answers.append(message["status"])

    guard = Guard(inside, Access(TOKEN), threading.Event())
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/login",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }

    def attempt(client: str) -> int:
        asyncio.run(guard({**scope, "client": (client, 1)}, never, refused))
        return answers[-1]

    assert [attempt("10.0.0.1") for _ in range(12)].count(429) == 2
    assert attempt("10.0.0.2") == 401


async def never() -> Any:
    raise AssertionError


def test_dashboards_on_other_ports_have_other_cookies(storage: Path) -> None:
    """Browsers send the cookies of all ports of a host to each of them."""
    with client(storage, token=TOKEN) as asking:
        names = set()
        for host in ("localhost", "localhost:8765", "localhost:8766"):
            answer = asking.post("/login", json={"token": TOKEN}, headers={"host": host})
            name, _, value = answer.headers["set-cookie"].partition(";")[0].partition("=")
            names.add(name)
            asking.cookies.clear()
            for other in ("localhost", "localhost:8765", "localhost:8766"):
                given = {"host": other, "cookie": f"{name}={value}; {COOKIE}-1=other"}
                assert asking.get("/api/studies", headers=given).status_code == (200 if other == host else 401)
    assert len(names) == 3


def test_what_is_malformed_is_refused_and_no_error_of_ours(storage: Path) -> None:
    with client(storage, token=TOKEN) as asking:
        body = b'{"token": "\\udcff"}'
        assert asking.post("/login", content=body, headers={"content-type": "application/json"}).status_code in (
            401,
            422,
        )
        for headers in ({"host": "localhost:x"}, {"host": "[::"}):
            assert asking.get("/", headers=headers).status_code == 421
        assert asking.get("/api/studies", headers={"cookie": "=;;="}).status_code == 401


def test_the_address_is_told_when_the_server_listens(storage: Path) -> None:
    told: list[str] = []

    def ready(address: str) -> None:
        told.append(address)
        with socket.create_connection(("127.0.0.1", urlsplit(address).port or 0), timeout=PATIENCE):
            os.kill(os.getpid(), signal.SIGINT)

    permitted = access("127.0.0.1", None, write=False)
    with closing(SqlStorage(storage)) as place, pytest.raises(KeyboardInterrupt):
        serve(place, "127.0.0.1", 0, permitted, storage=str(storage), write=False, directory=None, ready=ready)
    assert len(told) == 1


def test_sizes_are_bounded(storage: Path) -> None:
    with client(storage) as asking:
        assert asking.get("/api/studies", params={"x": "y" * 9000}).status_code == 414
        assert asking.post("/api/studies/s/ask", content=b"x" * (MOST_BODY + 1)).status_code == 413


def test_a_bucket_refills() -> None:
    bucket = Bucket(rate=2.0, burst=3.0)
    assert [bucket.take(0.0) for _ in range(4)] == [True, True, True, False]
    assert bucket.take(0.5)
    assert not bucket.take(0.5)


def test_reading_is_all_there_is_without_write(storage: Path) -> None:
    with client(storage) as asking:
        assert asking.post("/api/studies/s/trials/0/annotate", json={"attrs": {}}).status_code in (404, 405)
        schema = asking.get("/openapi.json").json()
    methods = {method for operations in schema["paths"].values() for method in operations}
    assert methods == {"get"}


@pytest.mark.parametrize("name", ["..%2f..%2fpyproject.toml", "../app.py", "%2e%2e/app.py", "app.py", "none.js", "%00"])
def test_only_its_own_files_are_served(storage: Path, name: str) -> None:
    with client(storage) as asking:
        assert asking.get(f"/static/{name}").status_code == 404


def test_what_a_study_says_is_json_and_not_markup(storage: Path) -> None:
    with client(storage) as asking:
        for address in ("/api/studies/s/trials/3", "/api/studies/s/trials", "/api/studies/s/plots/failures"):
            answer = asking.get(address)
            assert answer.headers["content-type"].startswith("application/json")
            json.loads(answer.text)


def test_any_address_but_this_machine_demands_a_token() -> None:
    assert access("127.0.0.1", None, write=False).token is None
    assert access("localhost", None, write=False).token is None
    open_to_all = access("0.0.0.0", None, write=False)
    assert len(open_to_all.token or "") >= 32
    assert len(access("127.0.0.1", None, write=True).token or "") >= 32
    assert access("10.1.2.3", TOKEN, write=False).token == TOKEN
    assert "10.1.2.3" in access("10.1.2.3", TOKEN, write=False).hosts
    assert "me.example" in access("0.0.0.0", TOKEN, write=False, hosts=["ME.example"]).hosts
    with pytest.raises(InvalidArgument, match="at least 16"):
        access("127.0.0.1", "short", write=True)
    assert is_loopback("::1")
    assert not is_loopback("example.com")
    assert not is_loopback("0.0.0.0")


def test_no_token_is_no_key() -> None:
    nobody = Access(None)
    assert not nobody.is_token("")
    assert not nobody.is_known({"authorization": "Bearer ", "cookie": f"{COOKIE}={nobody.session}"})
