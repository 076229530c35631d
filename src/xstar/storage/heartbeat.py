"""A thread that keeps the leases of this process alive while it computes, waits or trains."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable

from xstar.errors import StorageError
from xstar.journal import LeasedJournal

log = logging.getLogger("xstar")

BEATS_PER_LEASE = 4
"""Renewals per lease: three may fail in a row (a locked database, a slow network) before the lease is lost."""


class Heartbeat:
    """Renews all leases of a journal's holder until stopped, or until the journal is garbage."""

    def __init__(self, journal: LeasedJournal, clock: Callable[[], float]) -> None:
        self._journal = weakref.ref(journal)
        self._clock = clock
        self._interval = journal.lease_seconds / BEATS_PER_LEASE
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._last_look = clock()

    def due(self) -> bool:
        """Whether it is time to look for other holders' expired leases; asking resets it."""
        now = self._clock()
        if now - self._last_look < self._interval:
            return False
        self._last_look = now
        return True

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._beat, name="xstar-heartbeat", daemon=True)
            self._thread.start()

    def _beat(self) -> None:
        while not self._stop.wait(self._interval):
            journal = self._journal()
            if journal is None:
                return
            try:
                journal.renew(self._clock())
            except StorageError as error:
                log.warning(
                    "the leases of running trials could not be renewed, trying again in %g s: %s", self._interval, error
                )

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
