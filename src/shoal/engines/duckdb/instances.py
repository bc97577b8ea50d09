"""Idle DuckDB instances of this process, kept for its next sessions.

To start an instance takes DuckDB some 20 ms, mostly to register its functions; a release of a small
table opens four. A session has an instance for itself while it is open. When it closes, a new
session may take the instance over, and finds it as if it had just been started:

- Tables and views are in a database of the session, which is detached, and so are databases that
  the session attached; temporary tables and registered frames belong to its connection, which is
  closed.
- The settings that a session changes are set again by the next one, or reset here.
- What DuckDB keeps of the files that it read is dropped, so that a replaced file is read again.

An instance is not kept after an error, nor after a query so long that the start of another one does
not count; then all its memory is given back.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeAlias

import duckdb

Config: TypeAlias = Mapping[str, str | bool | int]

MOST = 4
"""So many idle instances are kept: what one release has open at the same time."""

DATABASE = "of_session"
"""The database in which a session has its tables."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A running DuckDB, and what it was started with."""

    config: Config
    root: duckdb.DuckDBPyConnection

    def connect(self, temporary_folder: str) -> duckdb.DuckDBPyConnection:
        """A connection to an empty database, which spills to this folder; "" spills nothing."""
        connection = self.root.cursor()
        folder = temporary_folder.replace("'", "''")
        connection.execute(f"SET temp_directory = '{folder}'")
        connection.execute(f"ATTACH ':memory:' AS {DATABASE}")
        connection.execute(f"USE {DATABASE}")
        return connection

    def clear(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Remove all that the connection's session left; an error of DuckDB if that cannot be."""
        connection.execute("USE memory")
        connection.close()
        attached = "SELECT database_name FROM duckdb_databases() WHERE NOT internal"
        for (name,) in self.root.execute(attached).fetchall():
            if name != "memory":
                self.root.execute(f'DETACH "{name}"')
        self.root.execute("RESET disabled_optimizers")
        self.root.execute("SET enable_external_file_cache = false")
        self.root.execute("SET enable_external_file_cache = true")


@dataclass(frozen=True, eq=False)
class Connected:
    """An instance that one session uses, by this connection."""

    instance: Instance
    connection: duckdb.DuckDBPyConnection

    def close(self) -> None:
        """End the instance, and give back its memory."""
        self.connection.close()
        self.instance.root.close()


@dataclass(frozen=True, eq=False)
class Instances:
    """Those that no session uses; safe for threads."""

    idle: list[Instance] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def connect(self, config: Config, temporary_folder: str) -> Connected:
        """A connection to an instance with this configuration, for the caller alone.

        An instance that has spilled refuses another folder; it is closed, and a new one started.
        """
        if (kept := self._taken(config)) is not None:
            try:
                return Connected(kept, kept.connect(temporary_folder))
            except duckdb.Error:
                kept.root.close()
        started = Instance(config, duckdb.connect(config=dict(config)))
        return Connected(started, started.connect(temporary_folder))

    def _taken(self, config: Config) -> Instance | None:
        with self.lock:
            for number, instance in enumerate(self.idle):
                if instance.config == config:
                    return self.idle.pop(number)
        return None

    def give_back(self, used: Connected) -> None:
        """Keep an instance for later, once it is empty; the oldest goes when there are many."""
        try:
            used.instance.clear(used.connection)
        except duckdb.Error:
            used.instance.root.close()
            return
        with self.lock:
            self.idle.append(used.instance)
            oldest = self.idle.pop(0) if len(self.idle) > MOST else None
        if oldest is not None:
            oldest.root.close()

    def close_idle(self) -> None:
        """Close them all: a forked process would get them without their threads."""
        with self.lock:
            closed, self.idle[:] = list(self.idle), []
        for instance in closed:
            instance.root.close()


OF_PROCESS = Instances()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=OF_PROCESS.close_idle)
