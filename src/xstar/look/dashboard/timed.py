"""HTTP in which a request has to arrive in time: uvicorn bounds only the wait between two requests of a connection."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 10.0
"""In which a request has to arrive whole, from its connection on: silent connections would take the places of all others."""


class TimedProtocol(H11Protocol):
    """A connection that is closed unless a request has arrived whole in time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        if self._deadline is None and self._incomplete():
            self._begin()
        super().data_received(data)
        if not self._incomplete():
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def _incomplete(self) -> bool:
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _begin(self) -> None:
        self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
