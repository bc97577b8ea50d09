"""Which tables a source of SQLite reads: SQLite asks for leave to read each of them.

It asks while it prepares a statement, for the tables below views too, and by the names they have.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shoal.engines.base import without_password
from shoal.engines.database.address import address, same_file
from shoal.engines.database.session import Session
from shoal.engines.database.source import open_table

if TYPE_CHECKING:
    from shoal.engines.base import DatabaseOptions, DatabaseTarget
    from shoal.engines.database.names import TableName
    from shoal.engines.database.source import DatabaseSource

_VIRTUAL = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'"


def tell(options: DatabaseOptions, output: Session, table: TableName) -> tuple[bool, str]:
    """Whether the source reads a table of the output's session, and what keeps that hidden."""
    with closing(open_table(options)) as source:
        if output.system != "sqlite" or not same_file(source.session.url, output.url):
            return False, ""
        read = _tables_read(source)
        virtual = {_folded(str(name)) for (name,) in source.session.rows(_VIRTUAL)}
    if _folded(table.table) in read:
        return True, ""
    if read & virtual:
        return False, "the source has a virtual table, whose records may be in other tables"
    return False, ""


def locks_out(options: DatabaseOptions, target: DatabaseTarget) -> bool:
    """Whether a source that stays open keeps the output from being written.

    Without a write-ahead log, whoever reads a file of SQLite keeps all others from writing to it.
    """
    one, other = address(options.url), address(target.url)
    if not one.get_backend_name() == other.get_backend_name() == "sqlite":
        return False
    if not same_file(one, other):
        return False
    with closing(Session(options.url, without_password(options.url))) as session:
        return session.rows("PRAGMA journal_mode") != [("wal",)]


def _tables_read(source: DatabaseSource) -> set[str]:
    """The tables that SQLite asks for when it prepares the query of the source."""
    read: set[str] = set()

    def note(action: int, table: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_READ and table:
            read.add(_folded(table))
        return sqlite3.SQLITE_OK

    session = source.session
    query = session.sql(sa.select(sa.literal_column("*")).select_from(source.relation.source))
    session.driver.set_authorizer(note)
    try:
        session.rows(f"EXPLAIN {query}")
    finally:
        session.driver.set_authorizer(None)
    return read


def _folded(name: str) -> str:
    """A name as SQLite compares it: letters from A to Z are those from a to z, and no others."""
    return name.encode(errors="surrogateescape").lower().decode(errors="surrogateescape")
