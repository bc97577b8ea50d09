"""The requests in SQLite: the only place that reads or writes these tables.

A state changes by one UPDATE that names the states it may leave, so of two changes at the same time
one wins and the other sees that it did not.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from shoal.web.mart.model import MartRequest

if TYPE_CHECKING:
    from shoal.web.store import Store

SCHEMA = """
CREATE TABLE IF NOT EXISTS mart_requests (
    id TEXT PRIMARY KEY, asker TEXT NOT NULL, state TEXT NOT NULL, body TEXT NOT NULL,
    created REAL NOT NULL, changed REAL NOT NULL, sent REAL, decided REAL, decided_by TEXT,
    reason TEXT, problem TEXT, job TEXT, preview TEXT
);
CREATE INDEX IF NOT EXISTS mart_requests_of_asker ON mart_requests (asker, created);
CREATE TABLE IF NOT EXISTS mart_estimates (asker TEXT NOT NULL, at REAL NOT NULL);
"""
COLUMNS = (
    *("id", "asker", "state", "body", "created", "changed", "sent", "decided", "decided_by"),
    *("reason", "problem", "job", "preview"),
)
_IN_JSON = ("body", "problem")
SHOWN = 500
"""So many requests a list has at most, the newest of them."""


class RequestTable:
    """The rows of all requests, and of the estimates of the last day."""

    def __init__(self, store: Store) -> None:
        store.define(SCHEMA)
        self._store = store

    def add(self, request: MartRequest) -> None:
        """Add a new request."""
        values = [_stored(column, getattr(request, column)) for column in COLUMNS]
        marks = ", ".join("?" * len(COLUMNS))
        self._store.write(
            f"INSERT INTO mart_requests ({', '.join(COLUMNS)}) VALUES ({marks})", values
        )

    def get(self, id: str) -> MartRequest | None:
        """The request with this id, whoever sent it: the caller checks whose it is."""
        rows = self._store.read("SELECT * FROM mart_requests WHERE id = ?", (id,))
        return _request(rows[0]) if rows else None

    def of(self, asker: str) -> list[MartRequest]:
        """The requests of one asker, the newest first."""
        rows = self._store.read(
            "SELECT * FROM mart_requests WHERE asker = ? ORDER BY created DESC, id LIMIT ?",
            (asker, SHOWN),
        )
        return [_request(row) for row in rows]

    def number(self, asker: str) -> int:
        """How many requests an asker has."""
        query = "SELECT count(*) FROM mart_requests WHERE asker = ?"
        return int(self._store.read(query, (asker,))[0][0])

    def everyone(self) -> list[MartRequest]:
        """The requests of all askers that were sent, the newest first."""
        rows = self._store.read(
            "SELECT * FROM mart_requests WHERE state != 'draft' AND sent IS NOT NULL"
            " ORDER BY sent DESC, id LIMIT ?",
            (SHOWN,),
        )
        return [_request(row) for row in rows]

    def change(self, id: str, before: Collection[str], **values: Any) -> bool:
        """Change a request that is in one of these states; False where it is not, by then."""
        values = {"changed": time.time(), **values}
        sets = ", ".join(f"{column} = ?" for column in values)
        marks = ", ".join("?" * len(before))
        stored = [_stored(column, value) for column, value in values.items()]
        changed = self._store.write(
            f"UPDATE mart_requests SET {sets} WHERE id = ? AND state IN ({marks})",
            (*stored, id, *before),
        )
        return changed == 1

    def delete_draft(self, id: str) -> bool:
        """Delete a request that was never sent."""
        query = "DELETE FROM mart_requests WHERE id = ? AND state = 'draft'"
        return self._store.write(query, (id,)) == 1

    def add_estimate(self, asker: str, *, most: int, since: float) -> bool:
        """Note an estimate; False where the asker has had so many since then."""
        with self._store.transaction() as connection:
            connection.execute("DELETE FROM mart_estimates WHERE at < ?", (since,))
            query = "SELECT count(*) FROM mart_estimates WHERE asker = ?"
            if connection.execute(query, (asker,)).fetchone()[0] >= most:
                return False
            connection.execute("INSERT INTO mart_estimates VALUES (?, ?)", (asker, time.time()))
        return True


def _stored(column: str, value: Any) -> Any:
    return json.dumps(value) if column in _IN_JSON and value is not None else value


def _request(row: sqlite3.Row) -> MartRequest:
    values = {column: row[column] for column in COLUMNS}
    for column in _IN_JSON:
        if values[column] is not None:
            values[column] = json.loads(values[column])
    return MartRequest(**values)
