"""Which tables a source of PostgreSQL reads: those that its transaction has locked.

PostgreSQL locks every table that a query may read when it looks up its names and plans it, below
views, rules and parents too, and keeps the locks to the end of the transaction. So `pg_locks` is
the list, and it is whole once the query has run, functions included.
"""

from __future__ import annotations

import secrets
from contextlib import closing
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shoal.engines.database.names import regclass
from shoal.engines.database.source import open_table

if TYPE_CHECKING:
    from shoal.engines.base import DatabaseOptions
    from shoal.engines.database.names import TableName
    from shoal.engines.database.session import Session

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
"""A table, its partitions, which go when it goes, and the tables that it is a part of."""
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
list of dependencies, and those of extensions work on what they are given."""
_PROBE = "shoal_source"


def tell(options: DatabaseOptions, output: Session, table: TableName) -> tuple[bool, str]:
    """Whether the source reads a table of the output's session, and what keeps that hidden."""
    with closing(open_table(options)) as source:
        session = source.session
        query = session.sql(sa.select(sa.literal_column("*")).select_from(source.relation.source))
        session.run(f"CREATE TEMP VIEW {_PROBE} AS {query}")
        session.rows(f"SELECT * FROM pg_temp.{_PROBE} LIMIT 0")
        is_here = output.system == "postgresql" and _same_database(session, output)
        if is_here and {row[0] for row in session.rows(_READ)} & _family(output, table):
            return True, ""
        if session.rows(_FOREIGN):
            return False, "the source has a foreign table, whose records are elsewhere"
        functions = session.rows(_FUNCTIONS)
        if ("dblink",) in functions or (is_here and functions):
            return False, "the source calls a function, which may read any table"
    return False, ""


def has_read(session: Session, table: TableName) -> bool:
    """Whether the transaction of the session has read a table."""
    return bool({row[0] for row in session.rows(_LOCKED)} & _family(session, table))


def _family(session: Session, table: TableName) -> set[int]:
    return {row[0] for row in session.rows(_FAMILY.format(table=regclass(session, table)))}


def _same_database(one: Session, other: Session) -> bool:
    """Whether two sessions see one database, by whatever host, port, pool or user.

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
