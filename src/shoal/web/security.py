"""What stands before every request and websocket.

In this order: is the server asked by its own name; is the request small enough; who asks; may a
request without a session pass; does it come from our own pages; is it one of too many. What passes
has its user in the scope (`user_of`). Every answer gets the protecting headers, every error becomes
a problem without a traceback, and one line without query goes to the access log.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shoal.web.answers import API, answer_to, where
from shoal.web.bodies import BODY, LimitedBody, check_length, limit_of
from shoal.web.headers import NONCE, is_asset, new_nonce, secure
from shoal.web.origins import (
    READING,
    WRITING,
    allowed_hosts,
    check_host,
    check_own_page,
    check_reader,
    check_socket_origin,
)
from shoal.web.rates import Rate, network_of
from shoal.web.refusals import NotFound, NotLoggedIn, Refusal, TooMany
from shoal.web.services import Services
from shoal.web.sockets import client_user, pages_of
from shoal.web.users import User, require

USER = "shoal.user"
SESSION = "shoal.session"
PUBLIC = frozenset({"/login", "/start", "/favicon.ico", "/api/v1/health"})
MOST_OPEN = 200
"""How many requests and pages one user may have open at a time."""
MOST_PAGES = 300
"""How many pages of one user the server holds in memory, each for a minute after it was closed."""
ROLE_OF_PATHS = (("/project/", "custodian"), ("/audit", "admin"))
"""Pages that need a role, whatever they check themselves."""
access = logging.getLogger("shoal.web.access")
log = logging.getLogger("shoal.web")


def user_of(request: HTTPConnection) -> User:
    """Who asks; behind the guard there is always somebody."""
    user: User = request.scope[USER]
    return user


def session_of(request: HTTPConnection) -> str | None:
    """The session's id, where the request has a session."""
    session: str | None = request.scope.get(SESSION)
    return session


def address_of(scope: Scope) -> str:
    """What is counted for the address that a request comes from."""
    return network_of((scope.get("client") or ("", 0))[0])


def cookie_name(services: Services) -> str:
    """The cookie's name. `__Host-` binds it to this very host.

    Cookies do not keep ports apart, so without https the port is part of the name.
    """
    settings = services.settings
    return "__Host-shoal" if settings.https else f"shoal-{settings.port}"


def set_session_cookie(headers: MutableHeaders, services: Services, session: str) -> None:
    """Log a browser in; an empty session logs it out."""
    seconds = services.settings.limits.session_seconds if session else 0
    secure_too = "; Secure" if services.settings.https else ""
    headers.append(
        "set-cookie",
        f"{cookie_name(services)}={session}; Max-Age={seconds}; Path=/; HttpOnly; "
        f"SameSite=Strict{secure_too}",
    )


@dataclass(frozen=True)
class Asker:
    """Who a request comes from, and how that is known: by a session or by a token."""

    user: User
    session: str | None


class Answer:
    """The answer to one request: protected by headers, and an error instead of a refused body."""

    def __init__(self, scope: Scope, send: Send, body: LimitedBody, https: bool) -> None:
        self.host = ""
        self.status = 0
        self.nonce = new_nonce()
        self._scope, self._send, self._body, self._https = scope, send, body, https
        self._complete = False

    async def __call__(self, message: Message) -> None:
        """Send a part of the answer, unless the request was refused before the answer began."""
        if self._complete:
            return
        if self._body.refusal and not self.status:
            await self.fail(self._body.refusal)
        else:
            await self._protected(message)

    async def fail(self, error: Exception) -> None:
        """Answer an error. An answer that has begun breaks off, so that nobody takes it for whole.

        Its exception goes on to the server, which closes the connection.
        """
        if self._complete or self._body.gone:
            return
        if self.status:
            log.error("an answer broke off: %s", where(error))
            raise error
        connection = HTTPConnection(self._scope)
        await answer_to(self._body.refusal or error, connection)(
            self._scope, self._body, self._protected
        )

    async def _protected(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            secure(headers, self._scope["path"], self.host, self.nonce, self._https)
            if self._body.refusal:
                headers["connection"] = "close"
        self._complete = message["type"] == "http.response.body" and not message.get("more_body")
        await self._send(message)


class Guard:
    """The middleware around the whole application."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self.app = app
        self._services = services
        self._hosts = allowed_hosts(services.settings)
        limits = services.settings.limits
        self._open: Counter[str] = Counter()
        self._rate = Rate(limits.requests_per_minute, "too many requests in one minute")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _without_forwarded(scope)
        limits = self._services.settings.limits
        limit = limit_of(scope["path"], limits)
        body = LimitedBody(receive, limit, limits.silent_seconds)
        answer = Answer(scope, send, body, self._services.settings.https)
        begun, asker = time.monotonic(), None
        try:
            answer.host = check_host(headers, self._hosts)
            check_length(headers, limit)
            asker = self._asker(scope, headers)
            self._check(scope, headers, answer.host, asker)
            passed = self._scope(scope, asker) | {NONCE: answer.nonce, BODY: body}
            with self._one_of_few(asker.user.name if asker else address_of(scope)):
                await self.app(passed, body, answer)
        except Exception as error:
            await answer.fail(error)
        finally:
            if not is_asset(scope["path"]) or answer.status >= 400:
                name, seconds = asker.user.name if asker else "-", time.monotonic() - begun
                what = f"{scope['method']} {quote(scope['path'])} {answer.status}"
                access.info("%s %s %.3f", name, what, seconds)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _without_forwarded(scope)
        try:
            host = check_host(headers, self._hosts)
            check_socket_origin(headers, self._origin(host))
            asker = self._asker(scope, headers)
            if asker is None or asker.session is None:
                raise NotLoggedIn
            self._rate.hit(asker.user.name)
            with self._one_of_few(asker.user.name):
                await self.app(self._scope(scope, asker), receive, send)
        except Refusal as error:
            access.info("- websocket %s refused: %s", quote(scope["path"]), error.code)
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": error.code})

    @contextmanager
    def _one_of_few(self, key: str) -> Iterator[None]:
        """Count what is open of one user, or of one address before the login."""
        if self._open[key] >= MOST_OPEN:
            raise TooMany(f"{MOST_OPEN} requests and pages are open already")
        self._open[key] += 1
        try:
            yield
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]

    def _origin(self, host: str) -> str:
        return f"{'https' if self._services.settings.https else 'http'}://{host}"

    def _asker(self, scope: Scope, headers: Headers) -> Asker | None:
        """Who asks: by the token of an API request, else by the session in the cookie."""
        users = self._services.users
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and scope["path"].startswith(API):
            try:
                return Asker(users.log_in(token.strip(), address_of(scope)), None)
            except NotLoggedIn:
                self._services.audit.record("-", "failed to log in", "REST")
                raise
        session = _cookie(headers, cookie_name(self._services))
        user = users.by_session(session) if session else None
        return Asker(user, session) if user else None

    def _check(self, scope: Scope, headers: Headers, host: str, asker: Asker | None) -> None:
        """Refuse what may not pass."""
        path, method = scope["path"], scope["method"]
        if method not in READING | WRITING:
            raise Refusal(f"{method[:20]} is not answered here", code="bad-request")
        if method in WRITING and (asker is None or asker.session is not None):
            check_own_page(headers, self._origin(host))
        else:
            check_reader(headers)
        if asker is None:
            if path not in PUBLIC and not path.startswith("/static/"):
                raise NotLoggedIn
            self._rate.hit(address_of(scope))
        elif not is_asset(path):
            self._rate.hit(asker.user.name)
        if asker is not None:
            check_page(path, asker.user)

    @staticmethod
    def _scope(scope: Scope, asker: Asker | None) -> dict[str, Any]:
        if asker is None:
            return dict(scope)
        return {**scope, USER: asker.user, SESSION: asker.session}


def check_page(path: str, user: User) -> None:
    """Refuse pages of other roles, what belongs to a page of another user, and too many pages."""
    for begin, role in ROLE_OF_PATHS:
        if path.startswith(begin):
            require(user, role)
    if path.startswith("/_nicegui/client/") and client_user(path.split("/")[3]) != user:
        raise NotFound("there is no such page")
    if not is_asset(path) and not path.startswith(API) and pages_of(user) >= MOST_PAGES:
        raise TooMany(f"{MOST_PAGES} pages are open already", 60)


def _without_forwarded(scope: Scope) -> Headers:
    """Remove what only a proxy may say; the server believed it already, where it may."""
    scope["headers"] = [
        pair for pair in scope["headers"] if not pair[0].lower().startswith(b"x-forwarded")
    ]
    return Headers(scope=scope)


def _cookie(headers: Headers, name: str) -> str | None:
    """A cookie by its name, whatever other servers of this machine have set beside it."""
    return cookie_parser("; ".join(headers.getlist("cookie"))).get(name)
