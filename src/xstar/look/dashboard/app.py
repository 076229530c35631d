"""The application: pages, addresses that read, addresses that write where that was asked for, and the guard around them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field

from xstar.core.version import VERSION
from xstar.errors import InvalidArgument, StorageError, UnknownStudy, UnknownTrial, XstarError
from xstar.look.dashboard import reading, writing
from xstar.look.dashboard.feeds import Feeds
from xstar.look.dashboard.security import Access, Guard
from xstar.look.plots.figure import ON_DARK
from xstar.look.plots.output import javascript_file

if TYPE_CHECKING:
    from xstar.storage import SqlStorage

STATIC = Path(__file__).parent / "static"
PAGES = ("/", "/compare", "/study/{name}", "/study/{name}/trial/{number}")
"""Addresses of pages: all are the same file, whose script reads the address."""
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
WEEK = {"cache-control": "public, max-age=604800, immutable"}


@dataclass(frozen=True)
class ServerOptions:
    """What the server is started with."""

    access: Access
    storage: str
    """The storage as it was given: what those who write open; it may hold a password."""
    write: bool = False
    directory: Path | None = None
    """Where the trials keep their files, if that is not beside the storage."""


class Login(BaseModel):
    """The token."""

    token: str = Field(max_length=500)


def make_app(storage: SqlStorage, options: ServerOptions) -> Guard:
    """The whole server as an ASGI application."""
    feeds = Feeds(storage)
    readers = reading.Reading(feeds, options.directory)
    writers = writing.Writers(options.storage, options.directory)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        feeds.close()
        writers.close()

    app = FastAPI(
        title="xstar",
        version=VERSION,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    _errors(app)
    _pages(app, options)
    app.include_router(reading.router(readers))
    if options.write:
        app.include_router(writing.router(writers))
    return Guard(app, options.access, readers.closing)


def _pages(app: FastAPI, options: ServerOptions) -> None:
    def page() -> Response:
        return FileResponse(STATIC / "index.html", media_type="text/html")

    for address in PAGES:
        app.add_api_route(address, page, include_in_schema=False)
    app.add_api_route(
        "/login", lambda: FileResponse(STATIC / "login.html", media_type="text/html"), include_in_schema=False
    )

    @app.post("/login", include_in_schema=False)
    def login(request: Request, body: Login) -> Response:
        if not options.access.is_token(body.token):
            return reading.Answer({"error": "that is not the token"}, 401)
        cookie = options.access.cookie(request.headers["host"])
        return reading.Answer({"write": options.write}, headers={"set-cookie": cookie})

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        if name == "plotly.js":
            return FileResponse(javascript_file(), media_type="text/javascript", headers=WEEK)
        if name == "colours.js":
            return Response(f"export const ON_DARK = {json.dumps(ON_DARK)};", media_type="text/javascript")
        known = {path.name: path for path in STATIC.iterdir() if path.suffix in KINDS}
        if name not in known:
            return reading.Answer({"error": "there is no such file"}, 404)
        headers = {"cache-control": "no-cache"}
        return FileResponse(known[name], media_type=KINDS[known[name].suffix], headers=headers)

    @app.get("/api/about")
    def about() -> dict[str, Any]:
        """What this server is, and whether it may write."""
        return {"version": VERSION, "write": options.write}


def _errors(app: FastAPI) -> None:
    """Our own errors are answers; anything else is a bug, and the server says no more than that."""
    statuses: tuple[tuple[type[XstarError], int], ...] = (
        (UnknownStudy, 404),
        (UnknownTrial, 404),
        (InvalidArgument, 422),
        (StorageError, 503),
        (XstarError, 400),
    )

    @app.exception_handler(XstarError)
    def ours(_: Request, error: XstarError) -> Response:
        status = next(status for kind, status in statuses if isinstance(error, kind))
        return reading.Answer({"error": str(error)}, status)

    @app.exception_handler(404)
    def missing(request: Request, _: Exception) -> Response:
        if request.url.path.startswith(("/api/", "/static/")):
            return reading.Answer({"error": "there is nothing at this address"}, 404)
        return FileResponse(STATIC / "index.html", 404, media_type="text/html")  # whose script says so

    @app.exception_handler(RequestValidationError)
    def malformed(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0] if error.errors() else {}
        where = ".".join(map(str, first.get("loc", ()))) or "request"
        return reading.Answer({"error": f"{where}: {first.get('msg', 'cannot be read')}"}, 422)
