"""Waiting for a lock: how long, and who holds it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

LOCK_WAIT = 30
"""Seconds after which a lock that is not granted is an error; the defaults of servers are hours."""

_MOST_HOLDERS = 5
"""So many connections that may hold a lock are named."""


class LockWatch:
    """Looks, while a statement runs, for those it waits for: afterwards nobody can tell.

    It asks once, shortly before the database gives up. `ask` runs a query on another connection,
    `queries` are those of the dialect, and `waiting` is the number of the connection that waits.
    """

    def __init__(
        self,
        queries: Sequence[str],
        waiting: int | None,
        ask: Callable[[str], list[tuple[Any, ...]]],
    ) -> None:
        self.holders: tuple[str, ...] = ()
        self._queries = queries
        self._waiting = waiting
        self._ask = ask
        self._when = time.monotonic() + 0.8 * LOCK_WAIT

    def __call__(self) -> None:
        """To be called now and then while the statement runs."""
        if self._waiting is None or not self._queries or time.monotonic() < self._when:
            return
        queries, self._queries = self._queries, ()
        for query in queries:
            with contextlib.suppress(Exception):  # it needs rights that the user may not have
                found = self._ask(query.format(waiting=self._waiting))
                self.holders = tuple(_named(*row) for row in found[:_MOST_HOLDERS])
            if self.holders:
                return


def _named(number: object, user: object, origin: object) -> str:
    """A connection as an administrator finds it again."""
    return f"connection {number} of {user or 'an unknown user'} ({origin or 'unknown program'})"
