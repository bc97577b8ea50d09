"""Which requests come from this server's own pages: Host, Origin and Sec-Fetch-Site."""

from __future__ import annotations

import ipaddress

from starlette.datastructures import Headers

from shoal.web.refusals import Forbidden
from shoal.web.settings import Settings

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
WRITING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
READING = frozenset({"GET", "HEAD"})


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """The Host headers that are answered, with the port where it is part of them.

    A page of another site can make its name point to 127.0.0.1 (DNS rebinding). Its requests have
    that name as Host, so they are refused.
    """
    names = [*settings.hosts, *(LOOPBACK_NAMES if _is_loopback(settings.host) else ())]
    ports = {f"{name}:{settings.port}" for name in names}
    return frozenset(name.lower() for name in {*names, *ports})


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def check_host(headers: Headers, hosts: frozenset[str]) -> str:
    """The Host of a request, which is one of ours."""
    found = headers.getlist("host")
    if len(found) != 1 or found[0].lower() not in hosts:
        raise Forbidden(
            "this server is not asked by that name",
            "open the address that the server prints, or add the name to `hosts` in server.toml",
        )
    return found[0].lower()


def check_own_page(headers: Headers, own: str) -> None:
    """Refuse a request that changes something and does not come from one of our own pages.

    Browsers send Sec-Fetch-Site with every request, and Origin with every writing one; scripts
    cannot change either. Another port of the same machine is another origin. As our pages send no
    referrer, the Origin of their forms is `null`; then Sec-Fetch-Site alone says whose form it is.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    own_site, own_origin = site == "same-origin", origin == own
    nobody_elses = site in (None, "same-origin") and origin in (None, "null", own)
    if not (own_site or own_origin) or not nobody_elses:
        raise Forbidden(
            "this request does not come from a page of this server",
            "use the pages of this server, or send a token in the Authorization header",
        )


def check_reader(headers: Headers) -> None:
    """Refuse to be loaded into a page of another site or port, as a script, image or by fetch.

    Such a page could not read the answer, but it could measure it. Following a link is allowed.
    """
    site, mode = headers.get("sec-fetch-site"), headers.get("sec-fetch-mode")
    if site in ("cross-site", "same-site") and mode != "navigate":
        raise Forbidden("this page belongs to another site", "open it in a tab of its own")


def check_socket_origin(headers: Headers, own: str) -> None:
    """Refuse a websocket that a page of another origin opens; browsers always send Origin."""
    if headers.getlist("origin") != [own]:
        raise Forbidden("this websocket does not come from a page of this server")
