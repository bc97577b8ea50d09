"""Names of tables: schemas, quotes, and the names that staged tables get."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.sql.elements import quoted_name

from shoal.engines.leftovers import owned
from shoal.errors import BadData, BadOutput, did_you_mean, quoted

if TYPE_CHECKING:
    from shoal.engines.database.session import Session

STAGED = "shoal_staged_"
"""How the name of a table begins that nobody should see yet."""
REPLACED = "shoal_replaced_"
"""How the name of an old table begins in the moment before it is dropped."""

_PART = re.compile(r'(?:"((?:[^"]|"")+)"|`((?:[^`]|``)+)`|\[([^\]]+)\]|([^.]+))(?:\.(?=.)|$)')
"""A part of a name, in quotes of any system or without, and the dot or the end after it."""


@dataclass(frozen=True)
class TableName:
    """A table and its schema, None for the schema that the connection uses."""

    table: str
    schema: str | None = None

    def clause(self) -> sa.TableClause:
        """The table in a statement; its name is always quoted."""
        schema = None if self.schema is None else quoted_name(self.schema, True)
        return sa.table(quoted_name(self.table, True), schema=schema)

    def sql(self, session: Session) -> str:
        """The name as a statement writes it."""
        quote = session.connection.dialect.identifier_preparer.quote_identifier
        parts = (self.table,) if self.schema is None else (self.schema, self.table)
        return ".".join(quote(part) for part in parts)

    def beside(self, table: str) -> TableName:
        """Another table of the same schema."""
        return TableName(table, self.schema)


def name_of(session: Session, text: str) -> TableName:
    """What a definition means by a name.

    A table whose whole name this is wins; otherwise dots part schema and table, and what stands in
    quotes is one part.
    """
    whole = TableName(text)
    if exists(session, whole):
        return whole
    parts = []
    for match in _PART.finditer(text):
        double, back, bracketed, plain = match.groups()
        inner = double and double.replace('""', '"'), back and back.replace("``", "`")
        parts.append(next(filter(None, (*inner, bracketed, plain))))
    return TableName(parts[-1], ".".join(parts[:-1]) or None) if parts else whole


def exists(session: Session, name: TableName) -> bool:
    """Whether there is such a table or view."""
    with session.working():
        return session.attend(
            lambda: sa.inspect(session.connection).has_table(name.table, schema=name.schema)
        )


def is_table(session: Session, name: TableName) -> bool:
    """Whether a name is that of a table with records of its own, as opposed to a view.

    A foreign table and a sequence have none either.
    """
    if session.system == "postgresql":
        kinds = f"SELECT relkind FROM pg_class WHERE oid = {regclass(session, name)}"
        return bool(session.rows(f"{kinds} AND relkind IN ('r', 'p')"))
    table = session.sql(sa.literal(name.table))
    if session.system == "sqlite":
        master = TableName("sqlite_master", name.schema).sql(session)
        kinds = f"SELECT type FROM {master} WHERE name = {table} COLLATE NOCASE"
        return bool(session.rows(f"{kinds} AND type = 'table'"))
    if session.system in ("mysql", "mariadb"):
        schema = "database()" if name.schema is None else session.sql(sa.literal(name.schema))
        kinds = (
            "SELECT table_type FROM information_schema.tables"
            f" WHERE table_schema = {schema} AND table_name = {table}"
        )
        return bool(session.rows(f"{kinds} AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')"))
    with session.working():
        return session.attend(
            lambda: name.table not in sa.inspect(session.connection).get_view_names(name.schema)
        )


def regclass(session: Session, name: TableName) -> str:
    """The number of a relation of PostgreSQL in a statement, by its rules of names and schemas."""
    parts = (name.table,) if name.schema is None else (name.schema, name.table)
    whole = ".".join('"' + part.replace('"', '""') + '"' for part in parts)
    return f"to_regclass({session.sql(sa.literal(whole))})::oid"


def located(session: Session, name: TableName) -> TableName:
    """An existing table with the schema it is in, where PostgreSQL looks for it in several.

    Otherwise a new table would come into the first of them, while the old one goes from another.
    """
    if session.system != "postgresql" or name.schema is not None:
        return name
    query = "SELECT relname, nspname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace"
    ((table, schema),) = session.rows(f"{query} WHERE pg_class.oid = {regclass(session, name)}")
    return TableName(str(table), str(schema))


def existing(session: Session, text: str) -> TableName:
    """The table or view of a definition; an error with the nearest name when there is none."""
    name = name_of(session, text)
    if exists(session, name):
        return name
    _check_schema(session, name)
    known = tables(session, name.schema)
    raise BadData(
        f"no table {text!r} in {session.name}{did_you_mean(name.table, known)}",
        code="no-table",
        hint=f"there are {quoted(known)}" if known else "there are no tables",
    )


def future(session: Session, text: str) -> TableName:
    """The table to be made; an error when its schema is not there or its name is too long."""
    name = name_of(session, text)
    _check_schema(session, name)
    check_length(session, name.table)
    return name


def check_length(session: Session, name: str) -> None:
    """Refuse a name that the database would cut off."""
    most = session.connection.dialect.max_identifier_length
    if len(name.encode()) > most or not name:
        raise BadOutput(
            f"the name {name!r} is longer than the {most} bytes that {session.system} allows",
            code="name-too-long",
            hint="choose a shorter name",
        )


def staged_name(target: TableName) -> TableName:
    """A name that nobody has, which tells the process and the host it belongs to."""
    return target.beside(f"{owned(STAGED)}{secrets.token_hex(4)}".replace("-", "_"))


def tables(session: Session, schema: str | None) -> list[str]:
    """The tables and views of a schema."""

    def names() -> list[str]:
        inspector = sa.inspect(session.connection)
        return [*inspector.get_table_names(schema), *inspector.get_view_names(schema)]

    with session.working():
        return sorted(session.attend(names))


def _check_schema(session: Session, name: TableName) -> None:
    if name.schema is None:
        return
    with session.working():
        known = session.attend(lambda: sa.inspect(session.connection).get_schema_names())
    if name.schema not in known:
        raise BadData(
            f"no schema {name.schema!r} in {session.name}{did_you_mean(name.schema, known)}",
            code="no-schema",
            hint=f'where the dot is part of the name, quote it: "{name.schema}.{name.table}"',
        )
