"""How often somebody may do something in one minute: counted in memory."""

from __future__ import annotations

import ipaddress
import time

from shoal.web.refusals import TooMany

WINDOW = 60
MOST_KEYS = 100_000
"""With more different keys in one minute, all are counted together."""


class Rate:
    """At most `per_minute` hits of one key in the minute that begins with its first hit."""

    def __init__(self, per_minute: int, what: str) -> None:
        self._most = per_minute
        self._what = what
        self._hits: dict[str, tuple[float, int]] = {}

    def hit(self, key: str) -> None:
        """Count one, and refuse when there were too many."""
        self.check(key)
        self.count(key)

    def count(self, key: str) -> None:
        """Count one."""
        now = time.monotonic()
        key = self._known(key, now)
        begun, hits = self._hits.get(key, (now, 0))
        self._hits[key] = (begun, hits + 1) if now - begun < WINDOW else (now, 1)

    def check(self, key: str) -> None:
        """Refuse when there were too many."""
        now = time.monotonic()
        begun, hits = self._hits.get(self._known(key, now), (now, 0))
        if hits >= self._most and now - begun < WINDOW:
            raise TooMany(self._what, max(1, int(begun + WINDOW - now)))

    def _known(self, key: str, now: float) -> str:
        """The key under which this one is counted."""
        if len(self._hits) >= MOST_KEYS and key not in self._hits:
            self._hits = {k: v for k, v in self._hits.items() if now - v[0] < WINDOW}
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
