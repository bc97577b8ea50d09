"""Clients that send the headers of a request too slowly lose their connection; others do not."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from shoal.web.slow_headers import with_header_limit

LIMIT = 1.5
PAUSE = 1.3 * LIMIT


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """Answer a request with its body, and a websocket with its text."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        text = (await receive())["text"]
        await send({"type": "websocket.send", "text": text})
        return
    body, more = b"", True
    while more:
        part = await receive()
        body, more = body + part["body"], part["more_body"]
    length = str(len(body)).encode()
    headers = [(b"content-length", length)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server with a short limit."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        answer,
        http=with_header_limit(LIMIT),
        lifespan="off",
        log_config=None,
        timeout_keep_alive=60,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join()


@pytest.fixture
def connection(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as found:
        yield found


def until_closed(connection: socket.socket) -> bytes:
    found = b""
    while part := connection.recv(4096):
        found += part
    return found


def test_headers_that_do_not_end_are_given_up(connection: socket.socket) -> None:
    connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n")
    assert until_closed(connection).startswith(b"HTTP/1.1 408 ")


def test_a_connection_without_a_request_is_closed(connection: socket.socket) -> None:
    assert until_closed(connection) == b""


def test_the_second_request_of_a_connection_has_a_limit_too(connection: socket.socket) -> None:
    connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
    assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
    connection.sendall(b"GET / HTTP/1.1\r\nhost")
    assert until_closed(connection).startswith(b"HTTP/1.1 408 ")


def test_a_slow_body_and_a_pause_between_requests_are_no_slow_headers(
    connection: socket.socket,
) -> None:
    for pause in (PAUSE, 0.0):
        connection.sendall(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nab")
        time.sleep(pause)
        connection.sendall(b"cd")
        found = b""
        while not found.endswith(b"abcd"):
            part = connection.recv(4096)
            assert part
            found += part
        assert found.startswith(b"HTTP/1.1 200 ")
        time.sleep(pause)


def test_a_websocket_stays_open(connection: socket.socket) -> None:
    connection.sendall(
        b"GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
        b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    assert connection.recv(4096).startswith(b"HTTP/1.1 101 ")
    time.sleep(PAUSE)
    connection.sendall(b"\x81\x82\x00\x00\x00\x00hi")
    assert b"\x81\x02hi" in connection.recv(4096)
