"""The audit log: who did what, and when. Rows are added, never changed; no values of data."""

from __future__ import annotations

import time
from dataclasses import dataclass

from shoal.web.store import Store

SCHEMA = """
CREATE TABLE IF NOT EXISTS audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, user TEXT NOT NULL,
    action TEXT NOT NULL, subject TEXT NOT NULL
);
CREATE TRIGGER IF NOT EXISTS audit_is_never_changed BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER IF NOT EXISTS audit_is_never_shortened BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
"""


@dataclass(frozen=True)
class AuditEntry:
    """One thing that somebody did."""

    number: int
    at: float
    user: str
    action: str
    subject: str


class Audit:
    """The audit log in the store."""

    def __init__(self, store: Store) -> None:
        store.define(SCHEMA)
        self._store = store

    def record(self, user: str, action: str, subject: str = "") -> None:
        """Add an entry. `subject` names a project, job or request by its id, never by its data."""
        self._store.write(
            "INSERT INTO audit (at, user, action, subject) VALUES (?, ?, ?, ?)",
            (time.time(), user, action, subject),
        )

    def latest(self, count: int = 100, before: int | None = None) -> list[AuditEntry]:
        """The latest entries, newest first; with `before` those with smaller numbers."""
        rows = self._store.read(
            "SELECT * FROM audit WHERE number < ? ORDER BY number DESC LIMIT ?",
            (before if before is not None else 2**62, count),
        )
        return [AuditEntry(*row) for row in rows]
