"""A thread that keeps the leases of this process alive while it computes, waits or trains.

A lease ends at a moment of the wall clock, the only clock that machines share. If this machine's clock is set forward, or it
slept, leases of other programs look expired although they live. Looking for dead programs therefore waits, once such a jump is
noticed (the wall clock and the monotonic one disagree), until everyone who lives must have renewed by the new time.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Sized

from xstar.errors import StorageError
from xstar.journal import Journal, LeasedJournal

log = logging.getLogger("xstar")

BEATS_PER_LEASE = 4
"""Renewals per lease: three may fail in a row (a locked database, a slow network) before the lease is lost."""


class Heartbeat:
    """Renews all leases of a holder until stopped, or until its journal is garbage; rests while ``running`` is empty."""

    def __init__(
        self,
        journal: LeasedJournal,
        running: Sized,
        clock: Callable[[], float],
        stopwatch: Callable[[], float],
    ) -> None:
        self._journal = weakref.ref(journal)
        self._running = running
        self._clock = clock
        self._stopwatch = stopwatch
        self._lease = journal.lease_seconds
        self._interval = journal.lease_seconds / BEATS_PER_LEASE
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._last_look = self._settled = stopwatch()
        self._wall = clock()

    @classmethod
    def of(
        cls, journal: Journal, running: Sized, clock: Callable[[], float], stopwatch: Callable[[], float]
    ) -> Heartbeat | None:
        """The heartbeat of a journal that others may write to; ``None`` where there are no leases to renew."""
        return cls(journal, running, clock, stopwatch) if isinstance(journal, LeasedJournal) else None

    def due(self) -> bool:
        """Whether it is time to look for other holders' expired leases; asking resets it."""
        now = self._stopwatch()
        passed = now - self._last_look
        if passed < self._interval:
            return False
        wall = self._clock()
        jump = wall - self._wall - passed
        self._last_look, self._wall = now, wall
        if abs(jump) > self._interval:
            log.warning(
                "the clock of this machine jumped by %.0f s; dead programs are looked for in %g s", jump, self._lease
            )
            self._settled = now + self._lease
        return now >= self._settled

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._beat, name="xstar-heartbeat", daemon=True)
            self._thread.start()

    def _beat(self) -> None:
        while not self._stop.wait(self._interval):
            journal = self._journal()
            if journal is None:
                return
            if not self._running:  # a search that has ended needs its database no more; its folder may be gone
                continue
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
