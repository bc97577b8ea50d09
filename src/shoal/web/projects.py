"""Projects: what a custodian has chosen so far, saved as they go, with undo.

A project belongs to one user. To anybody else it does not exist: an unknown id and the id of
another user's project give the same error. Its files are in a private folder named by its id.

Each save names the version that it changes. If another tab has saved since, the save is refused, so
no work is lost silently. Jobs are noted apart from that: a job that starts or ends is no change of
what the custodian chose, so it does not make a save fail.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from shoal.web.refusals import Conflict, NotFound

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from shoal.web.store import Store

SCHEMA = """
CREATE TABLE IF NOT EXISTS projects (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    created REAL NOT NULL,
    changed REAL NOT NULL,
    version INTEGER NOT NULL,
    state INTEGER NOT NULL,
    content TEXT NOT NULL,
    jobs TEXT NOT NULL,
    fingerprints TEXT NOT NULL,
    visited TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS projects_by_owner ON projects (owner, changed);
CREATE TABLE IF NOT EXISTS project_states (
    project TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (project, number)
);
"""
"""A project is at one of its numbered states: undo goes to the one before, redo to the next."""

MOST_STATES = 100
"""So many steps can be undone."""
MOST_NAME = 200
"""Characters of a name."""
FIRST_DEFINITION: Mapping[str, Any] = {"k": 5, "suppression": "5%", "attributes": {}}
"""The definition of a new project."""

_CONTENT = ("source", "reading", "definition", "chosen", "decision")
_UNDONE = ("source", "reading", "definition", "chosen")
_ID = re.compile(r"[0-9a-f]{32}")


class ChangedElsewhere(Conflict):
    """Another tab has saved the project since it was read."""


@dataclass(frozen=True)
class Project:
    """A project as it was read.

    `source` is `{"upload": file name in the project's folder, "label": the user's name for it}` or
    `{"allowed": name}`, None before there is any. `reading` are the options of the source that are
    stated: delimiter, encoding and so on. `definition` has the keys of a definition file, but for
    source and output. `jobs` are the latest jobs by purpose, `fingerprints` what each was made
    from. `chosen` is the node that the custodian chose, None for the optimum. `visited` are the
    steps whose pages were opened: before that, what they hold was guessed and nobody looked at it.
    """

    id: str
    owner: str
    name: str
    created: float
    changed: float
    version: int
    source: Mapping[str, Any] | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    definition: Mapping[str, Any] = field(default_factory=lambda: dict(FIRST_DEFINITION))
    jobs: Mapping[str, str] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    chosen: Mapping[str, int] | None = None
    decision: Mapping[str, Any] | None = None
    visited: frozenset[str] = frozenset()

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes of the definition by their names."""
        found: Mapping[str, Any] = self.definition.get("attributes", {})
        return found

    def role_of(self, column: str) -> str | None:
        """The role of a column, None where it has none yet."""
        found = self.attributes.get(column)
        role = found.get("role") if isinstance(found, Mapping) else found
        return str(role) if role else None


class Projects:
    """All projects, in the store, and their folders below one private folder."""

    def __init__(self, store: Store, folder: Path) -> None:
        store.define(SCHEMA)
        self._store = store
        self._folder = folder / "projects"
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def create(self, owner: str, name: str) -> Project:
        """A new, empty project."""
        now = time.time()
        project = Project(secrets.token_hex(16), owner, shown_name(name), now, now, 1)
        self.folder(project).mkdir(mode=0o700)
        with self._store.transaction() as connection:
            connection.execute(
                "INSERT INTO projects VALUES (?, ?, ?, ?, ?, 1, 0, ?, '{}', '{}', '[]')",
                (project.id, owner, project.name, now, now, _content(project)),
            )
            _keep_state(connection, project, 0)
        return project

    def get(self, project_id: str, owner: str) -> Project:
        """The project, if it is the owner's."""
        if not _ID.fullmatch(project_id):
            raise _none_such()
        rows = self._store.read(
            "SELECT * FROM projects WHERE id = ? AND owner = ?", (project_id, owner)
        )
        if not rows:
            raise _none_such()
        return _project(rows[0])

    def of(self, owner: str) -> list[Project]:
        """The projects of a user, the one that was changed last first."""
        rows = self._store.read(
            "SELECT * FROM projects WHERE owner = ? ORDER BY changed DESC", (owner,)
        )
        return [_project(row) for row in rows]

    def delete(self, project_id: str, owner: str) -> None:
        """Delete the project with all its files."""
        project = self.get(project_id, owner)
        with self._store.transaction() as connection:
            connection.execute("DELETE FROM project_states WHERE project = ?", (project_id,))
            connection.execute(
                "DELETE FROM projects WHERE id = ? AND owner = ?", (project_id, owner)
            )
        shutil.rmtree(self.folder(project), ignore_errors=True)

    def save(self, project: Project, *, amend: bool = False) -> Project:
        """Save what was chosen; ChangedElsewhere if somebody else has saved since it was read.

        Jobs and fingerprints are not saved here, but by `note_job`. A change of the source, the
        reading, the definition or the chosen node can be undone; with `amend` it counts as part of
        the change before.
        """
        with self._store.transaction() as connection:
            row = self._current(connection, project)
            state, former = row["state"], _project(row)
            if _undone(former) != _undone(project):
                state += not amend
                connection.execute(
                    "DELETE FROM project_states WHERE project = ? AND (number >= ? OR number < ?)",
                    (project.id, state, state - MOST_STATES),
                )
                _keep_state(connection, project, state)
            return self._write(connection, project, state)

    def change(self, project: Project, **changes: Any) -> Project:
        """Save the project with other values of some fields."""
        return self.save(replace(project, **changes))

    def note_job(self, project: Project, purpose: str, job: str, fingerprint: str = "") -> Project:
        """Note the latest job of a purpose, and what it was made from; returns the project as is.

        The version stays, so the next save of an open page succeeds.
        """
        with self._store.transaction() as connection:
            row = self._row(connection, project)
            jobs = {**json.loads(row["jobs"]), purpose: job}
            fingerprints = {**json.loads(row["fingerprints"]), purpose: fingerprint}
            connection.execute(
                "UPDATE projects SET jobs = ?, fingerprints = ? WHERE id = ?",
                (json.dumps(jobs), json.dumps(fingerprints), project.id),
            )
            return _project(self._row(connection, project))

    def note_visit(self, project: Project, step: str) -> Project:
        """Note that the custodian opened the page of a step; the version stays."""
        with self._store.transaction() as connection:
            row = self._row(connection, project)
            visited = sorted({*json.loads(row["visited"]), step})
            connection.execute(
                "UPDATE projects SET visited = ? WHERE id = ?", (json.dumps(visited), project.id)
            )
            return _project(self._row(connection, project))

    def undo(self, project: Project) -> Project:
        """The project at the state before; as it is, where there is none."""
        return self._move(project, -1)

    def redo(self, project: Project) -> Project:
        """The project at the state that was undone last; as it is, where there is none."""
        return self._move(project, 1)

    def can_undo(self, project: Project) -> bool:
        """Whether there is a state before."""
        return self._has_state(project, -1)

    def can_redo(self, project: Project) -> bool:
        """Whether there is a state that was undone."""
        return self._has_state(project, 1)

    def folder(self, project: Project) -> Path:
        """The private folder of the project: uploads, and hierarchies in a folder of their own."""
        if not _ID.fullmatch(project.id):
            raise _none_such()
        return self._folder / project.id

    def delete_old(self, seconds: float) -> list[str]:
        """Delete projects that nobody changed for so long, and folders of no project; their ids."""
        limit = time.time() - seconds
        rows = self._store.read("SELECT id, owner FROM projects WHERE changed < ?", (limit,))
        for row in rows:
            self.delete(row["id"], row["owner"])
        known = {row["id"] for row in self._store.read("SELECT id FROM projects", ())}
        for folder in self._folder.iterdir():
            if folder.name not in known and folder.stat().st_mtime < limit:
                shutil.rmtree(folder, ignore_errors=True)
        return [row["id"] for row in rows]

    def _has_state(self, project: Project, step: int) -> bool:
        rows = self._store.read(
            "SELECT 1 FROM projects JOIN project_states ON project = id AND number = state + ?"
            " WHERE id = ? AND owner = ?",
            (step, project.id, project.owner),
        )
        return bool(rows)

    def _move(self, project: Project, step: int) -> Project:
        with self._store.transaction() as connection:
            row = self._current(connection, project)
            state = row["state"] + step
            kept = connection.execute(
                "SELECT content FROM project_states WHERE project = ? AND number = ?",
                (project.id, state),
            ).fetchone()
            if kept is None:
                return _project(row)
            return self._write(connection, replace(project, **json.loads(kept["content"])), state)

    def _write(self, connection: sqlite3.Connection, project: Project, state: int) -> Project:
        """Write a project over the version that it has, and return what was written."""
        connection.execute(
            "UPDATE projects SET name = ?, changed = ?, version = version + 1, state = ?,"
            " content = ? WHERE id = ?",
            (shown_name(project.name), time.time(), state, _content(project), project.id),
        )
        return _project(self._row(connection, project))

    def _current(self, connection: sqlite3.Connection, project: Project) -> sqlite3.Row:
        """The row of the project, if it still has this version."""
        row = self._row(connection, project)
        if row["version"] != project.version:
            raise ChangedElsewhere(
                "this project was changed in another tab or window since this page was opened",
                "load the page again: it then shows what was saved there",
            )
        return row

    def _row(self, connection: sqlite3.Connection, project: Project) -> sqlite3.Row:
        row: sqlite3.Row | None = connection.execute(
            "SELECT * FROM projects WHERE id = ? AND owner = ?", (project.id, project.owner)
        ).fetchone()
        if row is None:
            raise _none_such()
        return row


def shown_name(text: str) -> str:
    """A name for people: one line without control characters, not empty, not too long."""
    words = "".join(each if each.isprintable() else " " for each in text).split()
    return " ".join(words)[:MOST_NAME].strip() or "Untitled project"


def _none_such() -> NotFound:
    return NotFound(
        "there is no such project",
        "it may have been deleted; choose one of your projects on the first page",
    )


def _content(project: Project) -> str:
    return json.dumps({key: getattr(project, key) for key in _CONTENT}, ensure_ascii=False)


def _undone(project: Project) -> str:
    """What undo brings back, as comparable text."""
    return json.dumps({key: getattr(project, key) for key in _UNDONE}, sort_keys=True)


def _keep_state(connection: sqlite3.Connection, project: Project, number: int) -> None:
    kept = {key: getattr(project, key) for key in _UNDONE}
    connection.execute(
        "INSERT INTO project_states VALUES (?, ?, ?)",
        (project.id, number, json.dumps(kept, ensure_ascii=False)),
    )


def _project(row: sqlite3.Row) -> Project:
    return Project(
        id=row["id"],
        owner=row["owner"],
        name=row["name"],
        created=row["created"],
        changed=row["changed"],
        version=row["version"],
        jobs=json.loads(row["jobs"]),
        fingerprints=json.loads(row["fingerprints"]),
        visited=frozenset(json.loads(row["visited"])),
        **json.loads(row["content"]),
    )
