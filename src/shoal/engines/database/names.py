"""Names of tables: schemas, quotes, the names of staged tables, and which of these are orphaned."""

from __future__ import annotations

import secrets
from contextlib import closing

from shoal.engines.database.connection import TableName
from shoal.engines.database.session import Session
from shoal.engines.local_files import is_left, owned
from shoal.engines.options import name_parts, without_password
from shoal.errors import BadData, BadOutput, did_you_mean, quoted

STAGED = "shoal_staged_"
"""How the name of a table begins that nobody should see yet."""
REPLACED = "shoal_replaced_"
"""How the name of an old table begins in the moment before it is dropped."""


def parse_name(session: Session, text: str) -> TableName:
    """What a definition means by a name.

    A table whose whole name this is comes first; otherwise a dot separates schema and table, and
    what is in quotes is one part.
    """
    whole = TableName(text)
    if session.has_table(whole):
        return whole
    parts = name_parts(text)
    return TableName(parts[-1], ".".join(parts[:-1]) or None) if parts else whole


def existing_name(session: Session, text: str) -> TableName:
    """The table or view of a definition; an error with the nearest name when there is none."""
    name = parse_name(session, text)
    if session.has_table(name):
        return name
    _check_schema(session, name)
    known = _tables(session, name.schema)
    raise BadData(
        f"no table {text!r} in {session.name}{did_you_mean(name.table, known)}",
        code="no-table",
        hint=f"there are {quoted(known)}" if known else "there are no tables",
    )


def new_name(session: Session, text: str) -> TableName:
    """The table to be made; an error when its schema is not there or its name is too long."""
    name = parse_name(session, text)
    _check_schema(session, name)
    check_length(session, name.table)
    return name


def check_length(session: Session, name: str) -> None:
    """Refuse a name that the database would cut off."""
    most = session.connection.dialect.max_identifier_length
    if len(name.encode()) > most or not name:
        raise BadOutput(
            f"the name {name!r} is longer than the {most} bytes that {session.dialect.name} allows",
            code="name-too-long",
            hint="choose a shorter name",
        )


def staged_name(target: TableName) -> TableName:
    """A name that nobody has, with the process and the host it belongs to."""
    return target.beside(f"{owned(STAGED)}{secrets.token_hex(4)}".replace("-", "_"))


def leftover_tables(url: str) -> list[str]:
    """The staged tables of a database whose processes ran on this host and are gone.

    Those of other hosts may be in use, so they are not among them.
    """
    with closing(Session(url, without_password(url))) as session:
        return _orphans(session)


def remove_leftovers(url: str) -> list[str]:
    """Drop what `leftover_tables` names; gives the names."""
    with closing(Session(url, without_password(url))) as session:
        found = _orphans(session)
        for name in found:
            session.run(f"DROP TABLE {name}")
        session.commit()
        return found


def _orphans(session: Session) -> list[str]:
    every = session.inspect(
        lambda inspector: [
            TableName(table, schema)
            for schema in inspector.get_schema_names()
            for table in inspector.get_table_names(schema)
        ]
    )
    prefixes = (STAGED, REPLACED)
    return [
        name.sql(session)
        for name in every
        if any(is_left(name.table, prefix) for prefix in prefixes)
    ]


def _tables(session: Session, schema: str | None) -> list[str]:
    """The tables and views of a schema."""
    return session.inspect(
        lambda inspector: sorted(
            [*inspector.get_table_names(schema), *inspector.get_view_names(schema)]
        )
    )


def _check_schema(session: Session, name: TableName) -> None:
    if name.schema is None:
        return
    known = session.inspect(lambda inspector: inspector.get_schema_names())
    if name.schema not in known:
        raise BadData(
            f"no schema {name.schema!r} in {session.name}{did_you_mean(name.schema, known)}",
            code="no-schema",
            hint=f'where the dot is part of the name, quote it: "{name.schema}.{name.table}"',
        )
