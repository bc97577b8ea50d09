"""MySQL and MariaDB: their connections, errors, tables, and whether a source reads a table.

A statement locks the definitions of all tables that it uses before it begins: below views, and in
the stored functions that it calls. So one connection locks the table, and another opens the source.
When that has to wait, the source reads the table.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa

from shoal.engines.database.connection import Connection, SourceOpener, TableName
from shoal.engines.database.dialects.base import CONNECT_TIMEOUT, Dialect, Overlap
from shoal.engines.database.dialects.mysql_values import MariaDBValues, MySQLValues
from shoal.engines.local_files import from_home
from shoal.errors import UserError

_CODES: Mapping[int, str] = MappingProxyType(
    {
        1045: "login-refused",
        1698: "login-refused",
        1049: "no-database",
        1044: "no-permission",
        1142: "no-permission",
        1143: "no-permission",
        1227: "no-permission",
        1290: "no-permission",
        1146: "no-table",
        1050: "table-exists",
        1242: "source-changed",
        1021: "disk-full",
        1114: "disk-full",
        1366: "unstorable-text",
        1205: "database-busy",
        1213: "database-busy",
        1317: "query-stopped",
        1969: "query-stopped",
        3024: "query-stopped",
        1053: "connection-lost",
        1927: "connection-lost",
        2006: "connection-lost",
        2013: "connection-lost",
        2003: "cannot-connect",
        2002: "cannot-connect",
    }
)
"""Our code for an error number."""
_IN_TRANSACTION = """
    SELECT DISTINCT p.id, p.user, p.host FROM information_schema.processlist p
    JOIN information_schema.innodb_trx t ON t.trx_mysql_thread_id = p.id
    WHERE p.id NOT IN ({waiting}, connection_id())
"""
_CONNECTED = """
    SELECT id, user, host FROM information_schema.processlist
    WHERE command <> 'Daemon' AND id NOT IN ({waiting}, connection_id())
"""
_REMOTE_ENGINES = "('FEDERATED', 'CONNECT', 'SPIDER')"
"""Engines of tables whose records are in other tables or on other servers."""
_PATIENCE = 1
"""Seconds that the source may wait for a lock; without one it is open at once."""


class MySQL(Dialect):
    """MySQL by PyMySQL. Making a table ends the transaction; one RENAME TABLE publishes it."""

    name = "mysql"
    title = "MySQL"
    schemes: tuple[str, ...] = ("mysql",)
    driver = "mysql+pymysql"
    module = "pymysql"
    values = MySQLValues()
    number_query = "SELECT connection_id()"
    lock_queries = (_IN_TRANSACTION, _CONNECTED)
    """Who holds a lock is not to be seen, but who has a transaction, or at least a connection: it
    is one of them."""
    joins_by_index = True
    no_limit = 2**64 - 1
    select_prefix = "STRAIGHT_JOIN"
    """The classes last, by their index."""

    def connect_arguments(self, url: sa.URL) -> dict[str, Any]:
        """The passwords of the usual client: ~/.my.cnf and MYSQL_PWD."""
        arguments: dict[str, Any] = {"charset": "utf8mb4"}
        if "connect_timeout" not in url.query:
            arguments["connect_timeout"] = CONNECT_TIMEOUT
        settings = from_home("~/.my.cnf")
        if settings.is_file():
            arguments["read_default_file"] = str(settings)
        if url.password is None and "MYSQL_PWD" in os.environ:
            arguments["password"] = os.environ["MYSQL_PWD"]
        return arguments

    def prepare(self, engine: sa.Engine) -> None:
        """Limit the time for connecting."""
        sa.event.listen(engine, "do_connect", _connect_in_time)

    def settings(self, lock_wait: int) -> tuple[str, ...]:
        """Times in UTC, and the limits of waiting for locks."""
        return (
            "SET time_zone = '+00:00'",
            f"SET lock_wait_timeout = {lock_wait}, innodb_lock_wait_timeout = {lock_wait}",
        )

    def cancel(self, driver: Any, engine: sa.Engine) -> None:
        """KILL QUERY over another connection."""
        with engine.connect() as other:
            other.exec_driver_sql(f"KILL QUERY {int(driver.thread_id())}")

    def driver_error(self) -> type[Exception]:
        """All errors of PyMySQL."""
        import pymysql

        return pymysql.MySQLError

    def error_code(self, error: BaseException) -> str | None:
        """By the number of the error."""
        number = self.error_number(error)
        return _CODES.get(number, "database-error") if isinstance(number, int) else None

    def error_number(self, error: BaseException) -> object:
        """The first argument of the driver's errors."""
        return error.args[0] if error.args and isinstance(error.args[0], int) else None

    def is_table(self, connection: Connection, name: TableName) -> bool:
        """By the information schema."""
        table = connection.sql(sa.literal(name.table))
        schema = "database()" if name.schema is None else connection.sql(sa.literal(name.schema))
        kinds = (
            "SELECT table_type FROM information_schema.tables"
            f" WHERE table_schema = {schema} AND table_name = {table}"
        )
        own = "table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')"
        return bool(connection.rows(f"{kinds} AND {own}"))

    def create_as(
        self, connection: Connection, table: str, query: str, shape: str, types: Mapping[str, str]
    ) -> None:
        """The empty table first: of the query itself it would take the types of expressions."""
        connection.run(f"CREATE TABLE {table} AS {shape}")
        connection.run(f"INSERT INTO {table} {query}")

    def put_in_place(
        self,
        connection: Connection,
        staged: TableName,
        target: TableName,
        away: TableName,
        *,
        replace: bool,
    ) -> None:
        """One RENAME TABLE for the new table and the old one."""
        new, old, aside = (name.sql(connection) for name in (staged, target, away))
        if not replace or not connection.has_table(target):
            connection.run(f"RENAME TABLE {new} TO {old}")
            return
        connection.run(f"RENAME TABLE {old} TO {aside}, {new} TO {old}")
        with contextlib.suppress(UserError):  # the release is there; `shoal clean` finds the rest
            connection.run(f"DROP TABLE {aside}")

    def overlap(self, source: SourceOpener, output: Connection | None, table: TableName) -> Overlap:
        """By locking the table, and seeing whether the source waits."""
        if output is not None and _same_server(source, output):
            try:
                output.run(f"LOCK TABLES {table.sql(output)} WRITE")
            except UserError as error:
                if error.code != "no-permission":
                    raise
                return Overlap(unknown="the user may not LOCK TABLES, which is needed to find out")
            try:
                waits = _waits(source)
            finally:
                output.run("UNLOCK TABLES")
            if waits:
                with source.opened():
                    return Overlap(reads=True)
        if any(_reads(source, each) for each in _remote_tables(source)):
            return Overlap(unknown="the source has a table whose records are elsewhere")
        return Overlap()


class MariaDB(MySQL):
    """MariaDB, which differs from MySQL in its name and its decimals."""

    name = "mariadb"
    title = "MariaDB"
    schemes = ("mariadb",)
    driver = "mariadb+pymysql"
    values = MariaDBValues()


def _connect_in_time(
    dialect: sa.Dialect, _: object, arguments: Any, parameters: dict[str, Any]
) -> Any:
    """PyMySQL would wait for the greeting of a silent server for ever; queries may take as long."""
    timeout = int(parameters["connect_timeout"])
    connection = dialect.connect(*arguments, **{"read_timeout": timeout, **parameters})
    connection._read_timeout = parameters.get("read_timeout")
    return connection


def _waits(source: SourceOpener) -> bool:
    """Whether the source cannot be opened while a table is locked."""
    try:
        with source.opened(lock_wait=_PATIENCE):
            return False
    except UserError as error:
        if error.code == "database-busy":
            return True
        raise


def _same_server(source: SourceOpener, output: Connection) -> bool:
    """Whether a named lock of the one is seen by the other: names are one space on a server."""
    lock = f"shoal {secrets.token_hex(16)}"
    with source.connected() as connection:
        connection.rows(f"SELECT GET_LOCK('{lock}', 0)")
        return output.rows(f"SELECT IS_USED_LOCK('{lock}')") != [(None,)]


def _remote_tables(source: SourceOpener) -> list[TableName]:
    """The tables of such engines; none is looked for where the server has no such engine."""
    engines = (
        "SELECT 1 FROM information_schema.engines WHERE support IN ('YES', 'DEFAULT')"
        f" AND engine IN {_REMOTE_ENGINES}"
    )
    tables = (
        "SELECT table_name, table_schema FROM information_schema.tables"
        f" WHERE engine IN {_REMOTE_ENGINES}"
    )
    with source.connected() as connection:
        found = connection.rows(tables) if connection.rows(engines) else []
    return [TableName(str(table), str(schema)) for table, schema in found]


def _reads(source: SourceOpener, table: TableName) -> bool:
    """Whether the source reads a table of its own server; True where it cannot be locked."""
    with source.connected() as connection:
        try:
            connection.run(f"LOCK TABLES {table.sql(connection)} WRITE")
        except UserError:
            return True
        return _waits(source)
