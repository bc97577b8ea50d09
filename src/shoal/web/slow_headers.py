"""A time limit for the headers of a request, which uvicorn does not have.

Without one, a few hundred clients that send a byte now and then would take all connections. Bodies
have a limit of their own (bodies.py), and uvicorn closes connections on which nothing is sent.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADER_SECONDS = 20.0
TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def with_header_limit(seconds: float = HEADER_SECONDS) -> type[asyncio.Protocol]:
    """The protocol of uvicorn; a connection ends if headers take longer than so many seconds."""
    base: Any = AutoHTTPProtocol

    class TimedProtocol(base):  # type: ignore[misc]
        """Counts from the connection on, then from the first byte of each further request.

        A browser may open a connection before it needs one: if nothing came, nothing is answered.
        """

        _limit: asyncio.TimerHandle | None = None
        _is_unused = True

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._begin()

        def data_received(self, data: bytes) -> None:
            self._is_unused, before = False, self.cycle
            if self._limit is None and (before is None or before.response_complete):
                self._begin()
            super().data_received(data)
            if self.cycle is not before or self.transport.get_protocol() is not self:
                self._end()

        def connection_lost(self, exc: Exception | None) -> None:
            self._end()
            super().connection_lost(exc)

        def _begin(self) -> None:
            self._limit = self.loop.call_later(seconds, self._give_up)

        def _end(self) -> None:
            if self._limit is not None:
                self._limit.cancel()
                self._limit = None

        def _give_up(self) -> None:
            self._limit = None
            if not self._is_unused:
                self.transport.write(TIMED_OUT)
            self.transport.close()

    return TimedProtocol
