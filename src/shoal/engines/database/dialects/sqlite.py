"""SQLite: its files, errors, locks, tables, and which tables a source reads.

SQLite asks its authorizer for leave to read each table while it prepares a statement, below views
too, and by the tables' own names. That is how the tables of a source are found.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa

from shoal.engines.database.connection import Connection, OpenSource, SourceOpener, TableName
from shoal.engines.database.dialects.base import Dialect, Overlap
from shoal.engines.database.dialects.sqlite_values import SQLiteValues, add_functions
from shoal.engines.local_files import is_same_file, sqlite_file
from shoal.errors import quoted

_PARAMETERS = ("uri", "timeout", "mode", "cache", "immutable", "nolock", "psow", "vfs")
"""What may follow the `?` of a URL; the driver ignores all else without a word."""
_CODES: Mapping[str, str] = MappingProxyType(
    {
        "SQLITE_BUSY": "database-busy",
        "SQLITE_LOCKED": "database-busy",
        "SQLITE_READONLY": "no-permission",
        "SQLITE_PERM": "no-permission",
        "SQLITE_FULL": "disk-full",
        "SQLITE_CANTOPEN": "cannot-connect",
        "SQLITE_NOTADB": "cannot-connect",
        "SQLITE_CORRUPT": "cannot-connect",
        "SQLITE_INTERRUPT": "query-stopped",
    }
)
"""Our code for the beginning of an error name."""
_MOST_HOLDERS = 5
"""So many processes that hold locks are named."""
_VIRTUAL = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'"


class SQLite(Dialect):
    """SQLite by Python's own driver. It locks its file as a whole."""

    name = "sqlite"
    title = "SQLite"
    schemes = ("sqlite",)
    driver = "sqlite"
    module = "sqlite3"
    values = SQLiteValues()
    is_server = False
    has_snapshots = False
    """None are needed: nobody else's commit comes in between."""
    has_transactional_tables = True
    joins_by_index = True
    no_limit = -1

    def url_fault(self, url: sa.URL) -> str:
        """Only a file can be meant."""
        if url.host or url.username or url.port is not None:
            return "write three slashes before the path of the file: sqlite:///patients.db"
        if url.database in (None, "", ":memory:"):
            return "name the file of the database: sqlite:///patients.db"
        if "uri" in url.query and not str(url.database).startswith("file:"):
            return "leave out `uri`, or begin the path with file: (sqlite:///file:patients.db?uri=true)"
        unknown = [name for name in url.query if name not in _PARAMETERS]
        return f"leave out {quoted(unknown)}, which SQLite does not know" if unknown else ""

    def file(self, url: sa.URL) -> Path | None:
        """The file; None for a database in memory."""
        return sqlite_file(url.database, url.query)

    def same_database(self, one: sa.URL, other: sa.URL) -> bool:
        """Whether both lead to one file, by whatever path or link."""
        first, second = self.file(one), self.file(other)
        if first is None or second is None:
            return first is second
        return is_same_file(first, second)

    def connect_arguments(self, url: sa.URL) -> dict[str, Any]:
        """Transactions are ours, and statements run in threads of their own."""
        return {"check_same_thread": False, "isolation_level": None}

    def prepare(self, engine: sa.Engine) -> None:
        """Add functions of ours, and begin transactions."""
        sa.event.listen(engine, "connect", add_functions)
        sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))

    def settings(self, lock_wait: int) -> tuple[str, ...]:
        """Rename a table even while a view of the replaced one exists.

        The driver waits for a lock for five seconds, or for `timeout` of the URL.
        """
        return ("PRAGMA legacy_alter_table = ON",)

    def cancel(self, driver: Any, engine: sa.Engine) -> None:
        """SQLite runs in this process."""
        driver.interrupt()

    def after_rollback(self, driver: Any) -> None:
        """Look at the file: after a full disk SQLite undoes what it wrote only then."""
        driver.execute("SELECT 1 FROM sqlite_master").close()

    def driver_error(self) -> type[Exception]:
        """All errors of sqlite3."""
        return sqlite3.Error

    def error_code(self, error: BaseException) -> str | None:
        """By the name of the error, and its text where the name says too little."""
        name = self.error_number(error)
        if not name:
            return None
        if "user-defined function raised exception" in str(error):
            return "source-changed"
        if "no such table" in str(error):
            return "no-table"
        known = (code for start, code in _CODES.items() if str(name).startswith(start))
        return next(known, "database-error")

    def error_number(self, error: BaseException) -> object:
        """The name of the error."""
        return getattr(error, "sqlite_errorname", None)

    def lock_holders(self, url: sa.URL) -> tuple[str, ...]:
        """The processes that have locks on the file, where Linux lists them.

        The file itself is not touched: to open and close it would end our own locks.
        """
        file = self.file(url)
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
        return tuple(names)[:_MOST_HOLDERS]

    def is_table(self, connection: Connection, name: TableName) -> bool:
        """By SQLite's own list."""
        table = connection.sql(sa.literal(name.table))
        master = TableName("sqlite_master", name.schema).sql(connection)
        kinds = f"SELECT type FROM {master} WHERE name = {table} COLLATE NOCASE"
        return bool(connection.rows(f"{kinds} AND type = 'table'"))

    def create_as(
        self, connection: Connection, table: str, query: str, shape: str, types: Mapping[str, str]
    ) -> None:
        """The empty table first, with the declared types, which no query has."""
        columns = (f"{connection.quote(column)} {kind}" for column, kind in types.items())
        connection.run(f"CREATE TABLE {table} ({', '.join(columns)})")
        connection.run(f"INSERT INTO {table} {query}")

    def overlap(self, source: SourceOpener, output: Connection | None, table: TableName) -> Overlap:
        """By the tables that SQLite asks for when it prepares the query of the source."""
        with source.opened() as opened:
            if output is None or not self.same_database(opened.connection.url, output.url):
                return Overlap()
            read = _tables_read(opened)
            virtual = {_folded(str(name)) for (name,) in opened.connection.rows(_VIRTUAL)}
        if _folded(table.table) in read:
            return Overlap(reads=True)
        if read & virtual:
            return Overlap(
                unknown="the source has a virtual table, whose records may be in other tables"
            )
        return Overlap()

    def locks_out(self, source: SourceOpener, one: sa.URL, other: sa.URL) -> bool:
        """Without a write-ahead log, a reader of a file keeps all others from writing to it."""
        if not self.same_database(one, other):
            return False
        with source.connected() as connection:
            return connection.rows("PRAGMA journal_mode") != [("wal",)]


def _tables_read(opened: OpenSource) -> set[str]:
    """The tables that the query of a source reads, by their folded names."""
    read: set[str] = set()

    def note(action: int, table: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_READ and table:
            read.add(_folded(table))
        return sqlite3.SQLITE_OK

    driver = opened.connection.driver
    driver.set_authorizer(note)
    try:
        opened.connection.rows(f"EXPLAIN {opened.query}")
    finally:
        driver.set_authorizer(None)
    return read


def _folded(name: str) -> str:
    """A name as SQLite compares it: only the letters from A to Z are equal to those from a to z."""
    return name.encode(errors="surrogateescape").lower().decode(errors="surrogateescape")
