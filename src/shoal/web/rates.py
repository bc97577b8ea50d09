"""How often somebody may do something: counted in windows of one minute, in memory."""

from __future__ import annotations

import ipaddress
import time

from shoal.web.refusals import TooMany

WINDOW = 60
MOST_KEYS = 100_000
"""With more different keys in one minute, all are counted together."""


class Rate:
    """At most `per_minute` hits of one key in one minute."""

    def __init__(self, per_minute: int, what: str) -> None:
        self._most = per_minute
        self._what = what
        self._window = 0
        self._hits: dict[str, int] = {}

    def hit(self, key: str) -> None:
        """Count one, and refuse when there were too many."""
        self.check(key)
        self.count(key)

    def count(self, key: str) -> None:
        """Count one."""
        key = self._known(key)
        self._hits[key] = self._hits.get(key, 0) + 1

    def check(self, key: str) -> None:
        """Refuse when there were too many."""
        if self._hits.get(self._known(key), 0) >= self._most:
            raise TooMany(self._what, WINDOW - int(time.time()) % WINDOW)

    def _known(self, key: str) -> str:
        window = int(time.time()) // WINDOW
        if window != self._window:
            self._window, self._hits = window, {}
        return key if key in self._hits or len(self._hits) < MOST_KEYS else "everybody else"


def network_of(address: str) -> str:
    """What is counted for an address: itself, or the /64 network of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
