"""Connections that send no whole request: closed after a while, and the oldest at once where there are many.

uvicorn waits for the rest of a request for ever, and each such connection counts against its limit: a few hundred would shut
everybody else out. A browser sends a request in a moment, whatever it waits for afterwards.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

READ_SECONDS = 20.0
"""From the first byte of a request (or from the connection) to its last: a body of a megabyte over a slow line."""
MOST_UNFINISHED = 100
"""Connections at once that have sent no whole request."""


class Unfinished:
    """The connections of a server that have sent no whole request, the oldest first."""

    def __init__(self) -> None:
        self._since: OrderedDict[Connection, asyncio.TimerHandle] = OrderedDict()

    def add(self, connection: Connection) -> None:
        if connection in self._since:
            return
        self._since[connection] = connection.loop.call_later(READ_SECONDS, self._close, connection)
        if len(self._since) > MOST_UNFINISHED:
            self._close(next(iter(self._since)))

    def remove(self, connection: Connection) -> None:
        if (timer := self._since.pop(connection, None)) is not None:
            timer.cancel()

    def _close(self, connection: Connection) -> None:
        self.remove(connection)
        connection.transport.abort()


class Connection(H11Protocol):
    """One connection to the server, which belongs to the unfinished ones until a whole request has come."""

    unfinished: Unfinished

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.unfinished.add(self)

    def handle_events(self) -> None:
        """What came in, or had come in before the last response was sent."""
        super().handle_events()
        begun = self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]
        if begun or self.conn.their_state is h11.SEND_BODY:
            self.unfinished.add(self)
        else:
            self.unfinished.remove(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.unfinished.remove(self)
        super().connection_lost(exc)


def protocol() -> type[Connection]:
    """The connections of one server."""
    return type("OwnConnection", (Connection,), {"unfinished": Unfinished()})
