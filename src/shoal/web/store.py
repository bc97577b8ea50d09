"""The server's SQLite file: one connection, used by one thread at a time.

Write-ahead logging with `synchronous=NORMAL`: a killed process loses nothing that was written; a
machine that loses its power may lose the last transactions, never the file.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LOCKED_SECONDS = 10.0


class Store:
    """A private database file. Every module defines its own tables with `define`."""

    def __init__(self, path: Path) -> None:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        path.chmod(0o600)
        self.path = path
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(
            path, timeout=LOCKED_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._connection.row_factory = sqlite3.Row
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
            self._connection.execute(f"PRAGMA {pragma}")

    def define(self, schema: str) -> None:
        """Run `CREATE TABLE IF NOT EXISTS` statements."""
        with self._lock:
            self._connection.executescript(schema)

    def read(self, sql: str, params: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """All rows of a query."""
        with self._lock:
            return self._connection.execute(sql, params).fetchall()

    def write(self, sql: str, params: Sequence[Any] = ()) -> int:
        """Run one statement, and say how many rows it changed."""
        with self._lock:
            return self._connection.execute(sql, params).rowcount

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run several statements as one; an exception undoes all of them."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file; nothing can be read or written afterwards."""
        with self._lock:
            self._connection.close()
