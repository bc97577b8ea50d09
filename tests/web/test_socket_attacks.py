"""Attacks by websocket: pages of another user, of another origin, of an ended session."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from web.server import Running, logged_in

pytestmark = pytest.mark.slow


def page_of(server: Running, name: str, path: str = "/audit") -> str:
    """The id that NiceGUI gave to a page that a user has loaded."""
    with server.client(name) as client:
        found = re.search(r"[\"']?client_id[\"']?: [\"']([0-9a-f-]{36})", client.get(path).text)
    assert found
    return found[1]


@contextmanager
def socket_to(
    server: Running, page: str, cookies: dict[str, str], **headers: str
) -> Iterator[ClientConnection]:
    """A websocket to a page, as NiceGUI's script opens it."""
    query = (
        f"client_id={page}&next_message_id=0&implicit_handshake=true&tab_id=t&document_id=d"
        "&EIO=4&transport=websocket"
    )
    address = f"{server.base.replace('http', 'ws', 1)}/_nicegui_ws/socket.io/?{query}"
    cookie = "; ".join(f"{key}={value}" for key, value in cookies.items())
    sent = {"Origin": server.base, "Cookie": cookie, **headers}
    with connect(address, additional_headers=sent, open_timeout=20) as opened:
        assert str(opened.recv(timeout=20)).startswith("0")
        opened.send("40")
        yield opened


def accepted(opened: ClientConnection) -> bool:
    """Whether the server lets the websocket in: `40` is yes, `44` and a closed one are no."""
    try:
        return str(opened.recv(timeout=20)).startswith("40")
    except ConnectionClosed:
        return False


def is_cut_off(opened: ClientConnection, event: str, message: dict[str, Any]) -> bool:
    """Whether the server closes the websocket because of a message."""
    try:
        opened.send(f"42{json.dumps([event, message])}")
        while str(opened.recv(timeout=20))[:2] not in ("41", "1"):
            pass
    except ConnectionClosed:
        pass
    return True


def test_a_user_reaches_the_own_page_by_websocket(team_server: Running) -> None:
    page = page_of(team_server, "ada")
    with socket_to(team_server, page, team_server.cookies["ada"]) as opened:
        assert accepted(opened)


def test_a_websocket_without_session_is_refused(team_server: Running) -> None:
    page = page_of(team_server, "ada")
    with (
        pytest.raises(InvalidStatus, match="403"),
        socket_to(team_server, page, {"shoal": "x"}),
    ):
        pass


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", ""])
def test_a_websocket_of_another_origin_is_refused(team_server: Running, origin: str) -> None:
    page = page_of(team_server, "ada")
    with (
        pytest.raises(InvalidStatus, match="403"),
        socket_to(team_server, page, team_server.cookies["ada"], Origin=origin),
    ):
        pass


def test_a_websocket_under_another_name_is_refused(team_server: Running) -> None:
    page = page_of(team_server, "ada")
    with (
        pytest.raises(InvalidStatus, match="403"),
        socket_to(team_server, page, team_server.cookies["ada"], Host="evil.example"),
    ):
        pass


def test_another_users_page_cannot_be_opened_by_websocket(team_server: Running) -> None:
    page = page_of(team_server, "ada")
    with socket_to(team_server, page, team_server.cookies["bob"]) as opened:
        assert not accepted(opened)


def test_another_session_of_the_same_user_cannot_take_over_a_page(team_server: Running) -> None:
    page = page_of(team_server, "ada")
    second = logged_in(team_server, team_server.tokens["ada"])
    with socket_to(team_server, page, second) as opened:
        assert not accepted(opened)


@pytest.mark.parametrize("event", ["event", "handshake", "javascript_response", "ack"])
def test_messages_to_another_users_page_cut_the_websocket_off(
    team_server: Running, event: str
) -> None:
    own, other = page_of(team_server, "ada"), page_of(team_server, "eve")
    message = {"client_id": other, "id": 1, "args": [], "next_message_id": 9, "request_id": "x"}
    with socket_to(team_server, own, team_server.cookies["ada"]) as opened:
        assert accepted(opened)
        assert is_cut_off(opened, event, message)


def test_logging_out_cuts_the_open_websockets_off(team_server: Running) -> None:
    cookies = logged_in(team_server, team_server.tokens["ada"])
    with team_server.client(None) as client:
        client.cookies.update(cookies)
        found = re.search(r"client_id.{1,5}([0-9a-f-]{36})", client.get("/audit").text)
        assert found
        with socket_to(team_server, found[1], cookies) as opened:
            assert accepted(opened)
            client.post("/logout")
            deque(opened, maxlen=0)
            assert opened.close_code is not None


def test_a_session_that_ends_cuts_the_next_message_off(team_server: Running) -> None:
    cookies = logged_in(team_server, team_server.tokens["ada"])
    (session,) = cookies.values()
    with team_server.client(None) as client:
        client.cookies.update(cookies)
        found = re.search(r"client_id.{1,5}([0-9a-f-]{36})", client.get("/audit").text)
    assert found
    with socket_to(team_server, found[1], cookies) as opened:
        assert accepted(opened)
        with sqlite3.connect(team_server.folder / "data" / "shoal.sqlite") as store:
            digest = "sha256:" + hashlib.sha256(session.encode()).hexdigest()
            store.execute("UPDATE sessions SET ends = 1 WHERE hash = ?", (digest,))
        assert is_cut_off(opened, "event", {"client_id": found[1], "id": 1, "args": []})


def test_an_oversize_message_closes_the_websocket(team_server: Running) -> None:
    page = page_of(team_server, "ada")
    with socket_to(team_server, page, team_server.cookies["ada"]) as opened:
        assert accepted(opened)
        opened.send(f'42["event",{{"client_id":"{page}","args":["{"x" * 300_000}"]}}]')
        with pytest.raises(ConnectionClosed, match="1009"):
            deque(opened, maxlen=0)


def test_messages_that_are_no_objects_do_no_harm(team_server: Running) -> None:
    page = page_of(team_server, "ada")
    for message in ('42["event"]', '42["event",[1,2]]', "42[1]", "42", "4", "9x", "42{", "451-[]"):
        with socket_to(team_server, page, team_server.cookies["ada"]) as opened:
            opened.send(message)
    with team_server.client("ada") as client:
        assert client.get("/audit").status_code == 200


def test_the_upload_address_of_another_users_page_is_not_found(team_server: Running) -> None:
    page = page_of(team_server, "ada")
    with team_server.client("bob") as client:
        for address in (f"/_nicegui/client/{page}/upload/5", "/_nicegui/client/x/upload/5"):
            answer = client.post(address, files={"file": b"x"})
            assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


def test_polling_is_no_way_around_the_websocket(team_server: Running) -> None:
    with team_server.client("ada") as client:
        answer = client.get("/_nicegui_ws/socket.io/", params={"EIO": "4", "transport": "polling"})
        assert answer.status_code == 400
