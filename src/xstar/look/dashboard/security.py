"""Who may ask, and how much, and what a page may load: one layer around everything the server answers.

host        the name in the address bar has to be ours: a page elsewhere cannot point its own name at this server
origin      what changes something has to come from our own pages, or carry the token in a header as programs do
token       as a header (``Authorization: Bearer …``) or as a cookie that scripts cannot read (``HttpOnly``) and that
            browsers send to our own pages only (``SameSite=Strict``); compared in constant time
size        bodies and addresses have a largest size; attempts at the token, by any way in, are few
headers     a content security policy without inline scripts; no framing, no sniffing, no referrer, no caching of data
"""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from xstar.core.clock import stopwatch, wall_clock

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "xstar-session"
MOST_BODY = 1_000_000
"""Bytes of a request's body: a configuration with an architecture has a few thousand."""
MOST_ADDRESS = 8_000
LOGINS, LOGIN_RATE = 10.0, 0.2
"""Attempts at the token, by client: ten at once, then one every five seconds. A client that guesses locks out no other.
The same wrong token once more, as an old page sends it, is no further attempt."""
MOST_CLIENTS = 1000
WRONG, TOO_MANY = "the token is missing or wrong", (429, "too many attempts; wait a few seconds")

LOOPBACK = ("localhost", "127.0.0.1", "::1")
PUBLIC = ("/login", "/static/")
"""What is answered without the token: the page that asks for it, and what that page is made of."""

# Plotly writes style rules; scripts come from files of ours alone, and none is compiled from text.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


@dataclass(frozen=True)
class Access:
    """Who is let in."""

    token: str | None
    """``None``: everyone who reaches the server may read, and nobody may write."""
    hosts: tuple[str, ...] = LOOPBACK
    """Names under which the server may be called."""

    @property
    def session(self) -> str:
        """What the cookie holds: derived from the token, so that it survives a restart and does not give the token away."""
        return hmac.new((self.token or "").encode(), b"xstar dashboard session", hashlib.sha256).hexdigest()

    def is_token(self, given: str) -> bool:
        return self.token is not None and _same(given, self.token)

    def is_known(self, headers: dict[str, str]) -> bool:
        """Whether a request carries the token or the cookie."""
        token, cookie = credentials(headers)
        return self.is_token(token) or (self.token is not None and _same(cookie, self.session))

    def cookie(self, host: str) -> str:
        """The header that sets the cookie, for pages of this host and port."""
        return f"{cookie_name(host)}={self.session}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000"


def credentials(headers: dict[str, str]) -> tuple[str, str]:
    """The token and the cookie that a request carries; empty where it has none."""
    kind, _, given = headers.get("authorization", "").partition(" ")
    token = given.strip() if kind.lower() == "bearer" else ""
    return token, _cookie(headers.get("cookie", ""), cookie_name(headers.get("host", "")))


def _same(a: str, b: str) -> bool:
    return hmac.compare_digest(a.encode(errors="backslashreplace"), b.encode())


def cookie_name(host: str) -> str:
    """Browsers keep the cookies of all ports of a host together: each dashboard has a name of its own."""
    port = _address(host)[1]
    return COOKIE if port is None else f"{COOKIE}-{port}"


def _cookie(header: str, name: str) -> str:
    try:
        found = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


@dataclass
class Bucket:
    """Allows ``burst`` at once and ``rate`` per second."""

    rate: float
    burst: float
    left: float = field(init=False)
    asked: float = 0.0
    last: tuple[str, str] = ("", "")
    """The credentials that were wrong last."""

    def __post_init__(self) -> None:
        self.left = self.burst

    def has(self, now: float) -> bool:
        """Whether one more is allowed now."""
        self.left = min(self.burst, self.left + self.rate * max(0.0, now - self.asked))
        self.asked = now
        return self.left >= 1

    def take(self, now: float) -> bool:
        """The same, and count it."""
        allowed = self.has(now)
        self.left -= allowed
        return allowed


class Guard:
    """The layer."""

    def __init__(self, app: App, access: Access, closing: threading.Event) -> None:
        self._app = app
        self.closing = closing
        """To be set before the server ends."""
        self._access = access
        self._now = stopwatch(wall_clock)
        self._attempts: OrderedDict[str, Bucket] = OrderedDict()
        """By client."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        refused = self._refusal(scope, headers)
        answer = _with_headers(send, scope["path"])
        if refused is None:
            await self._app(scope, _limited(receive), answer)
            return
        from starlette.responses import (  # at use: the command line knows hosts and tokens, too
            JSONResponse,
            RedirectResponse,
        )

        status, reason = refused
        page = scope["method"] == "GET" and "text/html" in headers.get("accept", "")
        if status == 401 and page and not scope["path"].startswith("/api/"):
            await RedirectResponse("/login", 303)(scope, receive, answer)
        else:
            await JSONResponse({"error": reason}, status)(scope, receive, answer)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """The status and the reason why a request is not answered; ``None``: it is."""
        if len(scope.get("raw_path") or scope["path"].encode()) + len(scope["query_string"]) > MOST_ADDRESS:
            return 414, f"an address has at most {MOST_ADDRESS} characters"
        if _address(headers.get("host", ""))[0] not in self._access.hosts:
            return 421, "this server is not called by that name; start it with --allow-host NAME"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 20 or int(length) > MOST_BODY:
            return 413, f"a body has at most {MOST_BODY} bytes"
        if scope["method"] not in ("GET", "HEAD") and not _own_origin(headers):
            return 403, "a page of another origin may not change anything here"
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            return 403, "a page of another site may not read this"
        path = scope["path"]
        if path == "/login" and scope["method"] == "POST" and not self._bucket(scope).take(self._now()):
            return TOO_MANY
        if self._access.token is None or path.startswith(PUBLIC):
            return None
        given, bucket = credentials(headers), self._bucket(scope)
        known = self._access.is_known(headers)
        if any(given) and not known and given != bucket.last:
            bucket.last = given
            return (401, WRONG) if bucket.take(self._now()) else TOO_MANY
        if known and not bucket.has(self._now()):  # or a guess that is right would be told from the others
            return TOO_MANY
        return None if known else (401, WRONG)

    def _bucket(self, scope: Scope) -> Bucket:
        """The attempts that a client has left."""
        name = (scope.get("client") or ("?", 0))[0]
        bucket = self._attempts.setdefault(name, Bucket(LOGIN_RATE, LOGINS))
        self._attempts.move_to_end(name)
        while len(self._attempts) > MOST_CLIENTS:
            self._attempts.popitem(last=False)
        return bucket


def _address(given: str) -> tuple[str, int | None]:
    """Name and port of a host header."""
    try:
        parts = urlsplit(f"//{given}")
        return (parts.hostname or "").lower(), parts.port
    except ValueError:
        return "", None


def _own_origin(headers: dict[str, str]) -> bool:
    """Whether a request that changes something comes from a page of ours, or from no page at all."""
    origin = headers.get("origin")
    if origin is None:
        return headers.get("sec-fetch-site", "none") in ("none", "same-origin")
    try:
        return urlsplit(origin).netloc == headers.get("host") != ""
    except ValueError:
        return False


def _limited(receive: Receive) -> Receive:
    """A body that ends the connection when it is longer than it said."""
    total = 0

    async def read() -> MutableMapping[str, Any]:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        return {"type": "http.disconnect"} if total > MOST_BODY else message

    return read


def _with_headers(send: Send, path: str) -> Send:
    fixed = [(key.encode(), value.encode()) for key, value in HEADERS.items()]
    if not path.startswith("/static/"):
        fixed.append((b"cache-control", b"no-store"))

    async def answer(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *fixed]}
        await send(message)

    return answer
