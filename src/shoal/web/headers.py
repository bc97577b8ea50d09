"""The headers of every answer: what the browser may load, frame, guess and keep."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any

from jinja2 import BaseLoader, Environment
from starlette.datastructures import MutableHeaders

ASSETS = ("/_nicegui/", "/static/")
"""Paths of scripts, styles and fonts: the same for everybody, so a browser may keep them."""
PER_CLIENT = ("/_nicegui/client/",)
NONCE = "shoal.nonce"
"""The key of the scope with the nonce of the page's own scripts."""


def new_nonce() -> str:
    """What the page's own scripts carry; a script that was injected does not know it."""
    return secrets.token_urlsafe(18)


def is_asset(path: str) -> bool:
    """Whether the path is one of the files that are the same for everybody."""
    return path.startswith(ASSETS) and not path.startswith(PER_CLIENT)


def secure(headers: MutableHeaders, path: str, host: str, nonce: str, https: bool) -> None:
    """Add to the headers of an answer what protects it."""
    headers["content-security-policy"] = _policy(host, nonce, https)
    headers["x-content-type-options"] = "nosniff"
    headers["x-frame-options"] = "DENY"
    headers["referrer-policy"] = "no-referrer"
    headers["cross-origin-opener-policy"] = "same-origin"
    headers["cross-origin-resource-policy"] = "same-origin"
    headers["permissions-policy"] = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
    if https:
        headers["strict-transport-security"] = "max-age=31536000"
    if not is_asset(path):
        headers["cache-control"] = "no-store"
    elif "cache-control" not in headers:
        headers["cache-control"] = "public, max-age=3600"


def _policy(host: str, nonce: str, https: bool) -> str:
    """No remote source at all. NiceGUI compiles its templates in the browser, hence unsafe-eval."""
    socket = f"{'wss' if https else 'ws'}://{host}"
    parts: Iterable[str] = (
        "default-src 'none'",
        f"script-src 'self' 'nonce-{nonce}' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        f"connect-src 'self' {socket}",
        "worker-src 'self' blob:",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
    return "; ".join(parts)


class NonceLoader(BaseLoader):
    """Loads NiceGUI's page template with the nonce in each of its script tags.

    The template is changed before anything is filled in, so no data can get the nonce.
    """

    def __init__(self, loader: BaseLoader | None) -> None:
        self._loader = loader or BaseLoader()

    def get_source(self, environment: Environment, template: str) -> tuple[str, Any, Any]:
        source, name, fresh = self._loader.get_source(environment, template)
        tag = f"<script nonce=\"{{{{ request.scope['{NONCE}'] }}}}\""
        return source.replace("<script", tag), name, fresh
