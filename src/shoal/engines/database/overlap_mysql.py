"""Whether a source of MySQL or MariaDB reads a table: it waits when the table is locked.

A statement locks the definitions of all tables that it uses before it begins: below views, and in
the stored functions that it calls. So one connection locks the table, and the other opens the
source. When that has to wait, the source reads the table.
"""

from __future__ import annotations

import secrets
from contextlib import closing
from typing import TYPE_CHECKING

from shoal.engines.base import without_password
from shoal.engines.database.names import TableName
from shoal.engines.database.session import Session
from shoal.engines.database.source import open_table
from shoal.errors import UserError

if TYPE_CHECKING:
    from shoal.engines.base import DatabaseOptions

_ELSEWHERE = "('FEDERATED', 'CONNECT', 'SPIDER')"
"""Engines of tables whose records are in other tables or on other servers."""
_PATIENCE = 1
"""Seconds that the source may wait: without a lock it is open in no time."""


def tell(options: DatabaseOptions, output: Session, table: TableName) -> tuple[bool, str]:
    """Whether the source reads a table of the output's session, and what keeps that hidden."""
    if output.system in ("mysql", "mariadb") and _same_server(options, output):
        try:
            output.run(f"LOCK TABLES {table.sql(output)} WRITE")
        except UserError as error:
            if error.code != "no-permission":
                raise
            return False, "the user may not LOCK TABLES, which would tell it"
        try:
            waits = _waits(options)
        finally:
            output.run("UNLOCK TABLES")
        if waits:
            open_table(options).close()
            return True, ""
    if any(_reads(options, each) for each in _tables_of_elsewhere(options)):
        return False, "the source has a table whose records are elsewhere"
    return False, ""


def _waits(options: DatabaseOptions) -> bool:
    """Whether the source cannot be opened while a table is locked."""
    try:
        open_table(options, lock_wait=_PATIENCE).close()
    except UserError as error:
        if error.code == "database-busy":
            return True
        raise
    return False


def _same_server(options: DatabaseOptions, output: Session) -> bool:
    """Whether a named lock of the one is seen by the other: names are one space on a server."""
    lock = f"shoal {secrets.token_hex(16)}"
    with closing(Session(options.url, without_password(options.url))) as session:
        session.rows(f"SELECT GET_LOCK('{lock}', 0)")
        return output.rows(f"SELECT IS_USED_LOCK('{lock}')") != [(None,)]


def _tables_of_elsewhere(options: DatabaseOptions) -> list[TableName]:
    """The tables of such engines; none is looked for where the server has no such engine."""
    engines = (
        "SELECT 1 FROM information_schema.engines WHERE support IN ('YES', 'DEFAULT')"
        f" AND engine IN {_ELSEWHERE}"
    )
    tables = (
        f"SELECT table_name, table_schema FROM information_schema.tables WHERE engine IN"
        f" {_ELSEWHERE}"
    )
    with closing(Session(options.url, without_password(options.url))) as session:
        found = session.rows(tables) if session.rows(engines) else []
    return [TableName(str(table), str(schema)) for table, schema in found]


def _reads(options: DatabaseOptions, table: TableName) -> bool:
    """Whether the source reads a table of its own server; so it seems where it cannot be locked."""
    with closing(Session(options.url, without_password(options.url))) as holder:
        try:
            holder.run(f"LOCK TABLES {table.sql(holder)} WRITE")
        except UserError:
            return True
        return _waits(options)
