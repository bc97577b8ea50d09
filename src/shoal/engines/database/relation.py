"""A table, view or query as an expression, with its columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.sql.elements import quoted_name

from shoal.engines.base import Column
from shoal.engines.database.fields import TEXT, Field, describe
from shoal.engines.database.stored import SYSTEMS, stored_labels, stored_raw
from shoal.engines.database.texts import (
    Spelling,
    encoded,
    literal,
    raw,
    raw_of_label,
    settled,
    spelling,
    text_in_sqlite,
    value,
)
from shoal.engines.database.writing import text_type
from shoal.engines.failures import unknown_column

if TYPE_CHECKING:
    from shoal.engines.database.names import TableName
    from shoal.engines.database.session import Session

    Expression = sa.ColumnElement[Any]


@dataclass(frozen=True)
class Relation:
    """What is counted and recoded: `source` in statements, `fields` its columns in order.

    `table` is None for a query. A `stored` one is read by what is stored in it, as a verifier does.
    """

    name: str
    system: str
    source: sa.FromClause
    fields: tuple[Field, ...]
    table: TableName | None = None
    stored: bool = False

    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        return tuple(Column(field.name, field.kind == TEXT, field.arrow()) for field in self.fields)

    def field(self, name: str) -> Field:
        """A column by its name; an error that lists the columns when there is none."""
        for field in self.fields:
            if field.name == name:
                return field
        names = [field.name for field in self.fields]
        raise unknown_column(name, self.name, names)

    def column(self, name: str) -> Expression:
        """A column in a statement, in its own type."""
        return self.source.c[self.field(name).name]

    def raw(self, name: str, grouped: Expression | None = None) -> Expression:
        """The raw text of a column's value, which a query may have `grouped` by already."""
        given = self.column(name) if grouped is None else grouped
        if self.tells_stored:
            return stored_raw(self.system, given, self.field(name))
        return raw(self.system, given, self.field(name))

    @property
    def tells_stored(self) -> bool:
        """Whether texts are those of what is stored."""
        return self.stored and self.system in SYSTEMS

    def value(self, name: str, *, settled: bool = False) -> Expression:
        """A column's value in its own type, `settled` or as it is; empty text and NaN are null."""
        column = self.settled(name) if settled else self.column(name)
        return value(self.system, column, self.field(name))

    def settled(self, name: str) -> Expression:
        """A column's value in its own type, the same for values that nobody tells apart."""
        return settled(self.system, self.column(name), self.field(name))

    def streamed_text(self, name: str) -> Expression:
        """The text of a column's value, raw where that is spelled anew; null for an empty one."""
        if self.system == "sqlite":
            text: Expression = text_in_sqlite(self.column(name), self.field(name))
        else:
            text = self.raw(name)
        return sa.func.nullif(text, literal(self.system, ""))

    def streamed_spelling(self, name: str) -> Spelling | None:
        """How the texts of a stream are spelled; None when they are so already."""
        return None if self.system == "sqlite" else spelling(self.system, self.field(name))

    def is_spelled(self, name: str) -> bool:
        """Whether the texts of a column are others than its raw texts."""
        return self.tells_stored or spelling(self.system, self.field(name)) is not None

    def spelled(self, name: str, raws: Collection[str]) -> dict[str, str | None]:
        """The text of each of these raw texts of a column."""
        if self.tells_stored:
            return {**stored_labels(self.system, self.field(name), raws)}
        spell = spelling(self.system, self.field(name))
        return {each: each if spell is None else spell(each) for each in raws}

    def distinct(self, session: Session, name: str) -> list[str]:
        """The distinct raw texts of a column."""
        rows = session.rows(sa.select(self.raw(name)).distinct())
        return [decoded(row[0]) for row in rows if row[0] is not None]

    def raws(self, session: Session, name: str, texts: Collection[str]) -> dict[str, str]:
        """The raw texts of a column that spell one of these texts, each with that text.

        Where raw texts are spelled anew, the distinct ones are asked of the database.
        """
        if not texts or not self.is_spelled(name):
            return {text: text for text in texts}
        found = self.spelled(name, self.distinct(session, name))
        return {each: text for each, text in found.items() if text is not None and text in texts}

    def is_missing(
        self, session: Session, name: str, missing: Sequence[str], text: Expression | None = None
    ) -> Expression:
        """True where a column has no value, empty text or one of the `missing` texts.

        `text` is its raw text, where a query has it already. What is stored is missing only when
        there is nothing.
        """
        tokens = self.raws(session, name, {token for token in missing if token})
        text = self.raw(name) if text is None else text
        none = text.is_(None)
        literals = [literal(self.system, token) for token in sorted(tokens)]
        if not self.tells_stored and (tokens or self.may_be_empty(name)):
            literals.append(raw_of_label(self.system, self.field(name), ""))
        return none | text.in_(literals) if literals else none

    def may_be_empty(self, name: str) -> bool:
        """Whether empty text can stand in a column."""
        return self.system == "sqlite" or self.field(name).kind in (TEXT, "other")

    def encoded(self, text: str) -> str | bytes:
        """A raw text as the driver takes it."""
        return encoded(self.system, text)

    @property
    def is_binary(self) -> bool:
        """Whether raw texts are bytes for the database."""
        return isinstance(self.encoded(""), bytes)

    def raw_type(self, longest: int) -> sa.types.TypeEngine[Any]:
        """The type of a column of raw texts of at most so many bytes."""
        if self.is_binary:
            return sa.VARBINARY(2 * longest) if longest <= 3000 else sa.LargeBinary(longest)
        return sa.Text(collation="C") if self.system == "postgresql" else text_type(self.system)


def decoded(text: Any) -> str:
    """A raw text as the driver gave it."""
    return text.decode() if isinstance(text, bytes) else str(text)


def table_relation(
    session: Session, table: TableName, name: str, *, stored: bool = False
) -> Relation:
    """A table or view; `stored` reads it by what is stored, as a verifier does."""
    fields = describe(session, table.clause())
    source = table.clause()
    for field in fields:
        source.append_column(_column(field))
    return Relation(name, session.system, source.alias("source"), fields, table, stored)


def query_relation(session: Session, query: str, name: str) -> Relation:
    """A query; a comment at its end and a semicolon do no harm."""
    text = sa.text(query.strip().rstrip(";").replace(":", r"\:") + "\n")
    fields = describe(session, text.columns().subquery("source"))
    source = text.columns(*(_column(field) for field in fields)).subquery("source")
    return Relation(name, session.system, source, fields)


def _column(field: Field) -> sa.ColumnClause[Any]:
    return sa.column(quoted_name(field.name, True))
