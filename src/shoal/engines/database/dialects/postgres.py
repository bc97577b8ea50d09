"""PostgreSQL: its connections, errors, tables, and which tables a source reads.

PostgreSQL locks every table that a query may read when it looks up its names and plans it, below
views, rules and parents too, and keeps the locks to the end of the transaction. So `pg_locks` lists
what a source reads, and the list is whole once the query has run, functions included.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shoal.engines.database.connection import Connection, SourceOpener, TableName
from shoal.engines.database.dialects.base import CONNECT_TIMEOUT, Dialect, Overlap
from shoal.engines.database.dialects.postgres_copy import copy_in, copy_out
from shoal.engines.database.dialects.postgres_values import PostgresValues

if TYPE_CHECKING:
    import pyarrow as pa

_NO_COMPILING = "SELECT set_config('jit', 'off', false) FROM pg_settings WHERE name = 'jit'"
_MORE_MEMORY = """
    SELECT set_config('work_mem', '64MB', false) FROM pg_settings
    WHERE name = 'work_mem' AND setting::bigint < 65536
"""
_CODES: Mapping[str, str] = MappingProxyType(
    {
        "28P01": "login-refused",
        "28000": "login-refused",
        "3D000": "no-database",
        "3F000": "no-schema",
        "42501": "no-permission",
        "25006": "no-permission",
        "42P01": "no-table",
        "42P07": "table-exists",
        "2BP01": "table-in-use",
        "53100": "disk-full",
        "22021": "unstorable-text",
        "55P03": "database-busy",
        "40001": "database-busy",
        "40P01": "database-busy",
        "57014": "query-stopped",
    }
)
"""Our code for an SQLSTATE."""

_BLOCKING = """
    SELECT pid, usename, application_name FROM pg_stat_activity
    WHERE pid = ANY(pg_blocking_pids({waiting}))
"""
_OWN_DATABASE = "SELECT oid::bigint FROM pg_database WHERE datname = current_database()"
_LOCKED = f"""
    SELECT relation::bigint FROM pg_locks
    WHERE pid = pg_backend_pid() AND locktype = 'relation' AND database = ({_OWN_DATABASE})
"""
_READ = f"""
    WITH RECURSIVE read(oid) AS (
        {_LOCKED} UNION
        SELECT refobjid::bigint FROM read
        JOIN pg_rewrite ON ev_class = read.oid AND ev_type = '1'
        JOIN pg_depend ON classid = 'pg_rewrite'::regclass AND objid = pg_rewrite.oid
            AND refclassid = 'pg_class'::regclass
    )
    SELECT oid FROM read
"""
"""Also what materialized views were made from: they read it when they are refreshed."""
_FAMILY = """
    WITH RECURSIVE
    below(oid) AS (
        SELECT {table} UNION SELECT inhrelid FROM pg_inherits JOIN below ON inhparent = below.oid
    ),
    above(oid) AS (
        SELECT {table} UNION SELECT inhparent FROM pg_inherits JOIN above ON inhrelid = above.oid
    )
    SELECT oid::bigint FROM below UNION SELECT oid::bigint FROM above
"""
"""A table, its partitions, which are dropped with it, and the tables that it is a part of."""
_FOREIGN = f"SELECT 1 FROM pg_class WHERE relkind = 'f' AND oid IN ({_LOCKED})"
_FUNCTIONS = f"""
    SELECT coalesce(extname, '') FROM pg_rewrite
    JOIN pg_depend used ON used.classid = 'pg_rewrite'::regclass AND used.objid = pg_rewrite.oid
    JOIN pg_proc ON used.refclassid = 'pg_proc'::regclass AND pg_proc.oid = used.refobjid
    LEFT JOIN pg_depend member ON member.classid = 'pg_proc'::regclass
        AND member.objid = pg_proc.oid AND member.deptype = 'e'
    LEFT JOIN pg_extension ON pg_extension.oid = member.refobjid
    JOIN pg_class view ON view.oid = pg_rewrite.ev_class AND view.relkind = 'v'
    WHERE view.oid IN ({_LOCKED})
        AND provolatile <> 'i' AND coalesce(extname, 'dblink') = 'dblink'
"""
"""Functions of users, and of dblink, that may read tables: those of the server itself are in no
list of dependencies, and those of extensions work on their arguments."""
_PROBE = "shoal_source"
"""The name of a temporary view of the source."""


class Postgres(Dialect):
    """PostgreSQL by psycopg. Tables are made, verified and renamed in one transaction."""

    name = "postgresql"
    title = "PostgreSQL"
    schemes = ("postgresql", "postgres")
    driver = "postgresql+psycopg"
    module = "psycopg"
    values = PostgresValues()
    has_transactional_tables = True
    optional_settings = ("SET client_connection_check_interval = '2s'",)
    """Stops the query of a killed process, where the server's version and system can."""
    number_query = "SELECT pg_backend_pid()"
    lock_queries = (_BLOCKING,)

    most_inline_texts = 16
    plain_prefix = "UNLOGGED"
    """Parallel workers cannot read temporary tables."""
    analyzes = True
    sorts_before_labels = True
    grouping_settings = (("SET LOCAL enable_sort = off", "SET LOCAL enable_sort = on"),)
    """Group by hashing: PostgreSQL takes the texts to be longer than they are, and the groups not
    to fit into memory."""
    recoding_settings = ("SET LOCAL enable_nestloop = off", "SET LOCAL join_collapse_limit = 1")
    """Join small tables one by one, as the query says: PostgreSQL has wrong estimates for codes
    that it has to compute first."""

    def connect_arguments(self, url: sa.URL) -> dict[str, Any]:
        """libpq reads PGPASSWORD and ~/.pgpass by itself."""
        timeout = {} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_TIMEOUT}
        return {"application_name": "shoal", "client_encoding": "utf8", **timeout}

    def settings(self, lock_wait: int) -> tuple[str, ...]:
        """One text for one value; also wait while the search goes on, and work in memory.

        Compiling a query takes longer than it saves.
        """
        return (
            "SET DateStyle = ISO",
            "SET TimeZone = 'UTC'",
            "SET extra_float_digits = 1",
            "SET idle_in_transaction_session_timeout = 0",
            _NO_COMPILING,
            _MORE_MEMORY,
            f"SET lock_timeout = '{lock_wait}s'",
        )

    def cancel(self, driver: Any, engine: sa.Engine) -> None:
        """Ask the server over a connection of its own."""
        driver.cancel_safe(timeout=5)

    def driver_error(self) -> type[Exception]:
        """All errors of psycopg."""
        import psycopg

        return psycopg.Error

    def error_code(self, error: BaseException) -> str | None:
        """Without a state the connection itself failed; a refused login has none either."""
        if not hasattr(error, "sqlstate"):
            return None
        state, message = error.sqlstate, str(error)
        if state is None:
            if "password" in message or "authentication" in message:
                return "login-refused"
            if "database" in message and "does not exist" in message:
                return "no-database"
            return "cannot-connect" if type(error).__name__ != "DataError" else "unstorable-text"
        if state.startswith(("08", "57P")):
            return "connection-lost"
        return _CODES.get(state, "database-error")

    def error_number(self, error: BaseException) -> object:
        """The SQLSTATE."""
        return getattr(error, "sqlstate", None)

    def is_table(self, connection: Connection, name: TableName) -> bool:
        """A foreign table and a sequence have no records of their own either."""
        kinds = f"SELECT relkind FROM pg_class WHERE oid = {_oid(connection, name)}"
        return bool(connection.rows(f"{kinds} AND relkind IN ('r', 'p')"))

    def located(self, connection: Connection, name: TableName) -> TableName:
        """The table in the schema of the search path that has it.

        Otherwise a new table would be made in the first schema, while the old one is in another.
        """
        if name.schema is not None:
            return name
        query = "SELECT relname, nspname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace"
        ((table, schema),) = connection.rows(
            f"{query} WHERE pg_class.oid = {_oid(connection, name)}"
        )
        return TableName(str(table), str(schema))

    def create_as(
        self, connection: Connection, table: str, query: str, shape: str, types: Mapping[str, str]
    ) -> None:
        """One statement, which may run in parallel; its columns have the types of the source."""
        connection.run(f"CREATE TABLE {table} AS {query}")

    def fetch(
        self, connection: Connection, query: sa.Select[Any], schema: pa.Schema
    ) -> Generator[pa.RecordBatch, None, None]:
        """By COPY."""
        return copy_out(connection, query, schema)

    def insert(
        self, connection: Connection, table: sa.Table, batches: Iterable[pa.RecordBatch]
    ) -> None:
        """By COPY."""
        copy_in(connection, table, batches)

    def overlap(self, source: SourceOpener, output: Connection | None, table: TableName) -> Overlap:
        """By the locks of a transaction that has planned and begun the query of the source."""
        with source.opened() as opened:
            connection = opened.connection
            connection.run(f"CREATE TEMP VIEW {_PROBE} AS {opened.query}")
            connection.rows(f"SELECT * FROM pg_temp.{_PROBE} LIMIT 0")
            is_here = output is not None and _same_database(connection, output)
            if output is not None and is_here:
                read = {row[0] for row in connection.rows(_READ)}
                if read & _family(output, table):
                    return Overlap(reads=True)
            if connection.rows(_FOREIGN):
                return Overlap(
                    unknown="the source has a foreign table, whose records are elsewhere"
                )
            functions = connection.rows(_FUNCTIONS)
            if ("dblink",) in functions or (is_here and functions):
                return Overlap(unknown="the source calls a function, which may read any table")
        return Overlap()

    def has_read(self, connection: Connection, table: TableName) -> bool:
        """By its locks."""
        return bool({row[0] for row in connection.rows(_LOCKED)} & _family(connection, table))


def _oid(connection: Connection, name: TableName) -> str:
    """The number of a relation in a statement, by PostgreSQL's rules of names and schemas."""
    parts = (name.table,) if name.schema is None else (name.schema, name.table)
    whole = ".".join('"' + part.replace('"', '""') + '"' for part in parts)
    return f"to_regclass({connection.sql(sa.literal(whole))})::oid"


def _family(connection: Connection, table: TableName) -> set[int]:
    return {row[0] for row in connection.rows(_FAMILY.format(table=_oid(connection, table)))}


def _same_database(one: Connection, other: Connection) -> bool:
    """Whether two connections see one database, by whatever host, port, pool or user.

    A lock of the one that the other sees proves that there is one server.
    """
    if one.rows(_OWN_DATABASE) != other.rows(_OWN_DATABASE):
        return False
    first, second = secrets.randbelow(2**31), secrets.randbelow(2**31)
    one.rows(f"SELECT pg_advisory_xact_lock({first}, {second})::text")
    return bool(
        other.rows(
            "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2"
            f" AND classid = {first} AND objid = {second}"
        )
    )
