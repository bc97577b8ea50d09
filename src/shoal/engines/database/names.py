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


def is_view(session: Session, name: TableName) -> bool:
    """Whether a name is that of a view."""
    with session.working():
        return session.attend(
            lambda: name.table in sa.inspect(session.connection).get_view_names(name.schema)
        )


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
