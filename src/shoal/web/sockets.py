"""What NiceGUI receives over its websocket, bound to the session that opened the page.

NiceGUI finds a page by the `client_id` in each message and asks no more. Here every message is
checked first: the websocket must belong to the session that loaded the page, and the session must
not have ended.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

from nicegui import Client, core

from shoal.web.users import User, Users

CHECKED = ("handshake", "event", "javascript_response", "ack")
NAMESPACE = "/"


def client_user(client_id: str) -> User | None:
    """The user who loaded a page, by NiceGUI's id of the page."""
    client = Client.instances.get(client_id)
    user: User | None = client.request.scope.get("shoal.user") if client else None
    return user


def pages_of(user: User) -> int:
    """How many pages of a user the server holds in memory, shown or just closed."""
    found = (client.request.scope.get("shoal.user") for client in Client.instances.values())
    return sum(owner == user for owner in found)


def guard_sockets(users: Users) -> None:
    """Put the check before every handler of NiceGUI's websocket, and allow no other transport.

    Messages that a browser wants to have in the server's log are dropped.
    """
    core.sio.eio.transports = ["websocket"]
    core.app.config.socket_io_js_transports = ["websocket"]
    handlers = core.sio.handlers[NAMESPACE]
    for name in CHECKED:
        handlers[name] = _checked(handlers[name], users)
    del handlers["log"]
    handlers["connect"] = _checked_connect(handlers["connect"], users)


def _checked(handler: Callable[..., Any], users: Users) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(handler)
    async def checked(sid: str, message: Any) -> Any:
        client_id = message.get("client_id") if isinstance(message, Mapping) else None
        if not _is_owner(core.sio.get_environ(sid), str(client_id), users):
            await core.sio.disconnect(sid)
            return False
        result = handler(sid, message)
        return await result if inspect.isawaitable(result) else result

    return checked


def _checked_connect(handler: Callable[..., Any], users: Users) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(handler)
    async def checked(sid: str, environ: dict[str, Any], *more: Any) -> Any:
        query = parse_qs(environ.get("QUERY_STRING", ""))
        if not _is_owner(environ, query.get("client_id", [""])[0], users):
            return False
        return await handler(sid, environ, *more)

    return checked


def _is_owner(environ: Mapping[str, Any] | None, client_id: str, users: Users) -> bool:
    """Whether the websocket has the session that loaded the page, and the session goes on."""
    client = Client.instances.get(client_id)
    scope = (environ or {}).get("asgi.scope", {})
    session = scope.get("shoal.session")
    if client is None or not session or client.request.scope.get("shoal.session") != session:
        return False
    return users.by_session(session) is not None


async def close_ended(users: Users) -> None:
    """Close the websockets of sessions that have ended, so that their pages get nothing more."""
    for socket, environ in list(core.sio.environ.items()):
        session = environ.get("asgi.scope", {}).get("shoal.session")
        if not session or users.by_session(session) is None:
            await core.sio.eio.disconnect(socket)
