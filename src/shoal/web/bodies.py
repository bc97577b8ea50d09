"""Bodies of requests: counted while they arrive, and refused when too large or too slow."""

from __future__ import annotations

import asyncio
import re
import time

from starlette.datastructures import Headers
from starlette.types import Message, Receive

from shoal.web.refusals import Refusal, Slow, TooLarge
from shoal.web.settings import Limits

BODY = "shoal.body"
"""The key of the scope with the body."""
UPLOADS = re.compile(r"(^|/)uploads?(/|$)")
"""Paths that take files; every other path takes JSON or a small form."""
PAGE_UPLOADS = "/_nicegui/client/"
PAGE_UPLOAD_BYTES = 20_000_000
"""NiceGUI's own uploads are held in memory: pages use them for small files only."""
MULTIPART_BYTES = 64 * 1024
"""What a multipart form adds to the file in it."""
LEAST_BYTES_PER_SECOND = 4096


def limit_of(path: str, limits: Limits) -> int:
    """How many bytes a request to this path may have."""
    if path.startswith(PAGE_UPLOADS):
        return min(limits.upload_bytes, PAGE_UPLOAD_BYTES) + MULTIPART_BYTES
    return limits.upload_bytes + MULTIPART_BYTES if UPLOADS.search(path) else limits.json_bytes


def check_length(headers: Headers, limit: int) -> None:
    """Refuse a body by its Content-Length, before any of it is read."""
    stated = headers.getlist("content-length")
    if len(stated) > 1 or any(not re.fullmatch(r"[0-9]{1,18}", each) for each in stated):
        raise _malformed()
    if stated and int(stated[0]) > limit:
        raise _too_large(limit)


class LimitedBody:
    """The body of a request, counted. A client that sends nothing, or almost nothing, is refused.

    The refusal is raised, and kept in `refusal`: what handles the request may turn it into another
    error. `gone` says that the client has closed the connection.
    """

    def __init__(self, receive: Receive, limit: int, silent_seconds: float) -> None:
        self.refusal: Refusal | None = None
        self.gone = False
        self._receive = receive
        self._limit = limit
        self._silent_seconds = silent_seconds
        self._begun = time.monotonic()
        self._received = 0
        self._complete = False

    async def __call__(self) -> Message:
        try:
            if self._complete:
                message = await self._receive()
            else:
                message = await asyncio.wait_for(self._receive(), self._silent_seconds)
                self._count(message)
        except TimeoutError:
            self.refusal = _too_slow()
            raise self.refusal from None
        except Refusal as error:
            self.refusal = error
            raise
        self.gone = message["type"] == "http.disconnect"
        return message

    def _count(self, message: Message) -> None:
        self._received += len(message.get("body", b""))
        self._complete = not message.get("more_body")
        if self._received > self._limit:
            raise _too_large(self._limit)
        allowed = self._silent_seconds + self._received / LEAST_BYTES_PER_SECOND
        if not self._complete and time.monotonic() - self._begun > allowed:
            raise _too_slow()


def _malformed() -> Refusal:
    return Refusal("the Content-Length is no number", code="bad-request")


def _too_large(limit: int) -> TooLarge:
    return TooLarge(
        f"the request is larger than {limit:,} bytes",
        "send less, or ask an administrator to raise `upload` or `json` in server.toml",
    )


def _too_slow() -> Slow:
    return Slow("the request came too slowly", "send it again over a faster connection")
