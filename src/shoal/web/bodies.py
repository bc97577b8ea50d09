"""Bodies of requests: counted while they arrive, and refused when too large or too slow."""

from __future__ import annotations

import asyncio
import re
import time

from starlette.datastructures import Headers
from starlette.types import Message, Receive

from shoal.web.refusals import Refusal, Slow, TooLarge
from shoal.web.settings import Limits

UPLOADS = re.compile(r"(^|/)uploads?(/|$)")
"""Paths that take files; every other path takes JSON or a small form."""
MULTIPART_BYTES = 64 * 1024
"""What a multipart form adds to the file in it."""
SILENT_SECONDS = 30.0
LEAST_BYTES_PER_SECOND = 4096


def limit_of(path: str, limits: Limits) -> int:
    """How many bytes a request to this path may have."""
    return limits.upload_bytes + MULTIPART_BYTES if UPLOADS.search(path) else limits.json_bytes


def check_length(headers: Headers, limit: int) -> None:
    """Refuse a body by its Content-Length, before any of it is read."""
    stated = headers.getlist("content-length")
    if len(stated) > 1 or any(not re.fullmatch(r"[0-9]{1,18}", each) for each in stated):
        raise _malformed()
    if stated and int(stated[0]) > limit:
        raise _too_large(limit)


def limited(receive: Receive, limit: int) -> Receive:
    """The same body, counted. A client that sends nothing, or almost nothing, is refused."""
    begun = time.monotonic()
    received, complete = 0, False

    async def counted() -> Message:
        nonlocal received, complete
        if complete:
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), SILENT_SECONDS)
        except TimeoutError:
            raise _too_slow() from None
        if message["type"] == "http.disconnect":
            complete = True
        else:
            received += len(message.get("body", b""))
            if received > limit:
                raise _too_large(limit)
            complete = not message.get("more_body")
            allowed = SILENT_SECONDS + received / LEAST_BYTES_PER_SECOND
            if not complete and time.monotonic() - begun > allowed:
                raise _too_slow()
        return message

    return counted


def _malformed() -> Refusal:
    return Refusal("the Content-Length is no number", code="bad-request")


def _too_large(limit: int) -> TooLarge:
    return TooLarge(
        f"the request is larger than {limit:,} bytes",
        "send less, or ask an administrator to raise `upload` or `json` in server.toml",
    )


def _too_slow() -> Slow:
    return Slow("the request came too slowly", "send it again over a faster connection")
