"""Staged tables that killed processes left behind, found by their names."""

from __future__ import annotations

import sqlalchemy as sa

from shoal.engines.base import without_password
from shoal.engines.database.names import REPLACED, STAGED, TableName
from shoal.engines.database.session import Session
from shoal.engines.leftovers import is_left


def leftover_tables(url: str) -> list[str]:
    """The staged tables of a database whose processes ran on this host and are gone.

    Those of other hosts may be in use, so they are not among them.
    """
    session = Session(url, without_password(url))
    try:
        return [name.sql(session) for name in _found(session)]
    finally:
        session.close()


def remove_leftovers(url: str) -> list[str]:
    """Drop what `leftover_tables` names; gives the names."""
    session = Session(url, without_password(url))
    try:
        found = [name.sql(session) for name in _found(session)]
        for name in found:
            session.run(f"DROP TABLE {name}")
        session.commit()
        return found
    finally:
        session.close()


def _found(session: Session) -> list[TableName]:
    def names() -> list[TableName]:
        inspector = sa.inspect(session.connection)
        return [
            TableName(table, schema)
            for schema in inspector.get_schema_names()
            for table in inspector.get_table_names(schema)
        ]

    with session.working():
        every = session.attend(names)
    return [name for name in every if is_left(name.table, STAGED) or is_left(name.table, REPLACED)]
