"""Jobs and their events in SQLite: the only place that reads or writes these tables.

A state changes by one UPDATE that names the state it leaves, so of two changes at the same time
one wins and the other sees that it did not.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.web.jobs.model import Job, JobEvent

if TYPE_CHECKING:
    from shoal.web.store import Store

SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, project TEXT, task TEXT NOT NULL,
    arguments TEXT NOT NULL, state TEXT NOT NULL, created REAL NOT NULL, started REAL, ended REAL,
    progress TEXT NOT NULL DEFAULT '{}', problem TEXT, attempts INTEGER NOT NULL DEFAULT 0,
    resumable INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS jobs_of_owner ON jobs (owner, created);
CREATE INDEX IF NOT EXISTS jobs_in_state ON jobs (state, created);
CREATE INDEX IF NOT EXISTS jobs_of_owner_in_state ON jobs (owner, state);
CREATE INDEX IF NOT EXISTS jobs_of_owner_by_start ON jobs (owner, started);
CREATE TABLE IF NOT EXISTS job_events (
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE, number INTEGER NOT NULL,
    name TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (job, number)
) WITHOUT ROWID;
"""
SHOWN = "id, owner, project, task, state, created, started, ended, progress, problem"
MOST_EVENTS = 5000
"""More events of one job are not stored, but for those that say that its state changed."""


@dataclass(frozen=True)
class Order:
    """A job that is to be run: what the worker needs to know."""

    id: str
    task: str
    arguments: str
    attempt: int
    resumable: bool


class JobTable:
    """The rows of all jobs."""

    def __init__(self, store: Store) -> None:
        store.define(SCHEMA)
        self._store = store

    def add(self, job: Job, arguments: str, *, resumable: bool, most: int) -> bool:
        """Add a waiting job; False where its owner already has so many that have not ended."""
        with self._store.transaction() as connection:
            unfinished = connection.execute(
                "SELECT count(*) FROM jobs WHERE owner = ? AND state IN ('waiting', 'running')",
                (job.owner,),
            ).fetchone()[0]
            if unfinished >= most:
                return False
            connection.execute(
                "INSERT INTO jobs (id, owner, project, task, arguments, state, created, resumable)"
                " VALUES (?, ?, ?, ?, ?, 'waiting', ?, ?)",
                (job.id, job.owner, job.project, job.task, arguments, job.created, resumable),
            )
        return True

    def get(self, id: str, owner: str) -> Job | None:
        """The job, where it is this owner's."""
        rows = self._store.read(f"SELECT {SHOWN} FROM jobs WHERE id = ? AND owner = ?", (id, owner))
        return _job(rows[0]) if rows else None

    def arguments(self, id: str) -> str:
        """What a job was submitted with, as JSON."""
        return str(self._store.read("SELECT arguments FROM jobs WHERE id = ?", (id,))[0][0])

    def of(self, owner: str, project: str | None, most: int) -> list[Job]:
        """The owner's jobs, the newest first; a negative number for all of them."""
        rows = self._store.read(
            f"SELECT {SHOWN} FROM jobs WHERE owner = ? AND (? IS NULL OR project = ?)"
            " ORDER BY created DESC, id LIMIT ?",
            (owner, project, project, most),
        )
        return [_job(row) for row in rows]

    def next_order(self) -> Order | None:
        """Begin the next waiting job: that of the user with the fewest running, then the oldest.

        Users with as many take turns: the one whose last job began longest ago is next.
        """
        with self._store.transaction() as connection:
            row = connection.execute(
                "SELECT id, task, arguments, attempts, resumable FROM jobs AS job"
                " WHERE state = 'waiting' ORDER BY"
                " (SELECT count(*) FROM jobs WHERE owner = job.owner AND state = 'running'),"
                " (SELECT coalesce(max(started), 0) FROM jobs WHERE owner = job.owner),"
                " created, id LIMIT 1"
            ).fetchone()
            if row is None:
                return None
            connection.execute(
                "UPDATE jobs SET state = 'running', started = ?, attempts = attempts + 1"
                " WHERE id = ?",
                (time.time(), row["id"]),
            )
        attempt = row["attempts"] + 1
        return Order(row["id"], row["task"], row["arguments"], attempt, bool(row["resumable"]))

    def running(self) -> list[Order]:
        """Jobs that are running, or were when the server ended."""
        rows = self._store.read(
            "SELECT id, task, arguments, attempts, resumable FROM jobs WHERE state = 'running'"
        )
        return [
            Order(row["id"], row["task"], row["arguments"], row["attempts"], bool(row["resumable"]))
            for row in rows
        ]

    def change(
        self,
        id: str,
        before: str,
        state: str,
        problem: Mapping[str, Any] | None = None,
    ) -> bool:
        """Change the state from `before`; False where it was another one by then."""
        ended = None if state in ("waiting", "running") else time.time()
        changed = self._store.write(
            "UPDATE jobs SET state = ?, ended = ?, problem = ? WHERE id = ? AND state = ?",
            (state, ended, None if problem is None else json.dumps(problem), id, before),
        )
        return changed == 1

    def say(self, id: str, said: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Append events; the last of them is the job's progress. A deleted job has none."""
        with self._store.transaction() as connection:
            if not connection.execute("SELECT 1 FROM jobs WHERE id = ?", (id,)).fetchone():
                return
            number = connection.execute(
                "SELECT coalesce(max(number), 0) FROM job_events WHERE job = ?", (id,)
            ).fetchone()[0]
            kept = [each for each in said if number < MOST_EVENTS or each[0] == "state"]
            for name, data in kept:
                number += 1
                connection.execute(
                    "INSERT INTO job_events VALUES (?, ?, ?, ?)",
                    (id, number, name, json.dumps(data)),
                )
            name, data = said[-1]
            connection.execute(
                "UPDATE jobs SET progress = ? WHERE id = ?",
                (json.dumps({"event": name, **data}), id),
            )

    def events(self, id: str, after: int) -> list[JobEvent]:
        """The events after this number."""
        rows = self._store.read(
            "SELECT number, name, data FROM job_events WHERE job = ? AND number > ?"
            " ORDER BY number",
            (id, after),
        )
        return [JobEvent(row["number"], row["name"], json.loads(row["data"])) for row in rows]

    def ended_before(self, moment: float) -> list[str]:
        """The jobs that ended before a moment."""
        rows = self._store.read("SELECT id FROM jobs WHERE ended < ?", (moment,))
        return [row["id"] for row in rows]

    def delete(self, id: str) -> None:
        """Forget a job and its events."""
        self._store.write("DELETE FROM jobs WHERE id = ?", (id,))

    def ids(self) -> set[str]:
        """The ids of all jobs."""
        return {row["id"] for row in self._store.read("SELECT id FROM jobs")}

    def counts(self) -> dict[str, int]:
        """How many jobs there are in each state."""
        rows = self._store.read("SELECT state, count(*) AS jobs FROM jobs GROUP BY state")
        return {row["state"]: row["jobs"] for row in rows}


def _job(row: sqlite3.Row) -> Job:
    values = dict(row)
    values["progress"] = json.loads(values["progress"])
    values["problem"] = None if values["problem"] is None else json.loads(values["problem"])
    return Job(**values)
