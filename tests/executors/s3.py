"""A stand-in for an object store that speaks S3, on this machine only: objects in memory, no signatures looked at."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class Store(ThreadingHTTPServer):
    """``http://127.0.0.1:PORT/BUCKET/KEY``."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, bytes] = {}
        """By ``BUCKET/KEY``."""
        self.puts = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def environment(self) -> dict[str, str]:
        """What an S3 client needs to know."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",
            "AWS_RESPONSE_CHECKSUM_VALIDATION": "when_required",
        }


@contextmanager
def object_store() -> Iterator[Store]:
    store = Store()
    thread = threading.Thread(target=store.serve_forever, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        store.shutdown()
        store.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Store
    protocol_version = "HTTP/1.1"

    @property
    def key(self) -> str:
        return unquote(urlsplit(self.path).path).strip("/")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _answer(self, status: int, body: bytes = b"", of: bytes | None = None) -> None:
        """``of`` is the object that the answer is about."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body if of is None else of)))
        if of is not None:
            self.send_header("ETag", f'"{md5(of).hexdigest()}"')
            self.send_header("Last-Modified", formatdate(usegmt=True))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.objects[self.key] = body
        self.server.puts += 1
        self._answer(200)

    def do_HEAD(self) -> None:
        found = self.server.objects.get(self.key)
        if found is None:
            self._answer(404)
        else:
            self._answer(200, of=found)

    def do_GET(self) -> None:
        if "/" not in self.key:
            self._list()
            return
        found = self.server.objects.get(self.key)
        if found is None:
            self._answer(404, b"<Error><Code>NoSuchKey</Code><Message>none</Message></Error>")
        else:
            self._answer(200, found, of=found)

    def do_DELETE(self) -> None:
        self.server.objects.pop(self.key, None)
        self._answer(204)

    def _list(self) -> None:
        asked = parse_qs(urlsplit(self.path).query)
        prefix = asked.get("prefix", [""])[0]
        rows = "".join(
            f"<Contents><Key>{escape(name.partition('/')[2])}</Key><Size>{len(body)}</Size>"
            f"<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
            for name, body in sorted(self.server.objects.items())
            if name.startswith(f"{self.key}/{prefix}")
        )
        text = f"<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>"
        self._answer(200, text.encode())
