"""Waiting for a lock: how long, and who holds it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LOCK_WAIT = 30
"""Seconds after which a lock that is not granted is an error; the defaults of servers are hours."""

_BLOCKING = """
    SELECT pid, usename, application_name FROM pg_stat_activity
    WHERE pid = ANY(pg_blocking_pids({waiting}))
"""
_IN_TRANSACTION = """
    SELECT DISTINCT p.id, p.user, p.host FROM information_schema.processlist p
    JOIN information_schema.innodb_trx t ON t.trx_mysql_thread_id = p.id
    WHERE p.id NOT IN ({waiting}, connection_id())
"""
_CONNECTED = """
    SELECT id, user, host FROM information_schema.processlist
    WHERE command <> 'Daemon' AND id NOT IN ({waiting}, connection_id())
"""
_QUESTIONS = {
    "postgresql": (_BLOCKING,),
    "mysql": (_IN_TRANSACTION, _CONNECTED),
    "mariadb": (_IN_TRANSACTION, _CONNECTED),
}
"""The next one is asked where the one before gives nothing. MySQL and MariaDB do not tell who holds
a lock, but who has a transaction, or at least who is connected: it is one of them."""
_SHOWN = 5


def settings(system: str, seconds: int) -> tuple[str, ...]:
    """What a session is told so that it waits no longer; SQLite has five seconds by itself."""
    if system == "postgresql":
        return (f"SET lock_timeout = '{seconds}s'",)
    if system in ("mysql", "mariadb"):
        return (f"SET lock_wait_timeout = {seconds}, innodb_lock_wait_timeout = {seconds}",)
    return ()


class Watch:
    """Looks, while a statement runs, for those it waits for: afterwards nobody can tell.

    It asks once, shortly before the database gives up. `ask` runs a query on another connection.
    """

    def __init__(
        self, system: str, waiting: int | None, ask: Callable[[str], list[tuple[Any, ...]]]
    ) -> None:
        self.holders: tuple[str, ...] = ()
        self._questions = _QUESTIONS.get(system, ())
        self._waiting = waiting
        self._ask = ask
        self._when = time.monotonic() + 0.8 * LOCK_WAIT

    def __call__(self) -> None:
        """To be called now and then while the statement runs."""
        if self._waiting is None or not self._questions or time.monotonic() < self._when:
            return
        questions, self._questions = self._questions, ()
        for question in questions:
            with contextlib.suppress(Exception):  # it needs rights that the user may not have
                found = self._ask(question.format(waiting=self._waiting))
                self.holders = tuple(_named(*row) for row in found[:_SHOWN])
            if self.holders:
                return


def _named(number: object, user: object, origin: object) -> str:
    """A connection as an administrator finds it again."""
    return f"connection {number} of {user or 'an unknown user'} ({origin or 'unknown program'})"


def processes_with_locks(file: Path | None) -> tuple[str, ...]:
    """The processes that have locks on the file of a SQLite database, where Linux tells.

    The file itself is not touched: to open and close it would end our own locks.
    """
    found: set[int] = set()
    with contextlib.suppress(OSError, ValueError, IndexError):
        if file is None:
            return ()
        files = {file.stat().st_ino}
        with contextlib.suppress(OSError):  # the locks of a database with a write-ahead log
            files.add(file.with_name(f"{file.name}-shm").stat().st_ino)
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            if "->" not in words and int(words[5].rpartition(":")[2]) in files:
                found.add(int(words[4]))
    names = ("this run" if n == os.getpid() else f"process {n}" for n in sorted(found) if n > 0)
    return tuple(names)[:_SHOWN]
