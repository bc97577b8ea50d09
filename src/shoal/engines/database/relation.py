"""A table, view or query as an expression, with its columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.sql.elements import quoted_name

from shoal.engines.base import Column
from shoal.engines.database.fields import TEXT, Field, describe
from shoal.engines.database.texts import (
    encoded,
    literal,
    raw,
    spelling,
    value,
)
from shoal.engines.database.writing import text_type
from shoal.errors import BadData, did_you_mean, quoted

if TYPE_CHECKING:
    from shoal.engines.database.names import TableName
    from shoal.engines.database.session import Session

    Expression = sa.ColumnElement[Any]


@dataclass(frozen=True)
class Relation:
    """What is counted and recoded: `source` in statements, `fields` its columns in order.

    `table` is None for a query.
    """

    name: str
    system: str
    source: sa.FromClause
    fields: tuple[Field, ...]
    table: TableName | None = None

    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        return tuple(Column(field.name, field.kind == TEXT) for field in self.fields)

    def field(self, name: str) -> Field:
        """A column by its name; an error that lists the columns when there is none."""
        for field in self.fields:
            if field.name == name:
                return field
        names = [field.name for field in self.fields]
        raise BadData(
            f"no column {name!r} in {self.name}{did_you_mean(name, names)}",
            code="unknown-column",
            hint=f"its columns are {quoted(names)}",
        )

    def column(self, name: str) -> Expression:
        """A column in a statement, in its own type."""
        return self.source.c[self.field(name).name]

    def raw(self, name: str) -> Expression:
        """The raw text of a column's value."""
        return raw(self.system, self.column(name), self.field(name))

    def value(self, name: str) -> Expression:
        """A column's value in its own type; empty text and NaN are null."""
        return value(self.system, self.column(name), self.field(name))

    def raws(self, session: Session, name: str, texts: Collection[str]) -> dict[str, str]:
        """The raw texts of a column that spell one of these texts, each with that text.

        Where raw texts are spelled anew, the distinct ones are asked of the database.
        """
        spell = spelling(self.system, self.field(name))
        if spell is None:
            return {text: text for text in texts}
        distinct = sa.select(self.raw(name)).distinct()
        found = (decoded(row[0]) for row in session.rows(distinct) if row[0] is not None)
        return {each: text for each in found if (text := spell(each)) in texts and text is not None}

    def is_missing(
        self, session: Session, name: str, missing: Sequence[str], text: Expression | None = None
    ) -> Expression:
        """True where a column has no value, empty text or one of the `missing` texts.

        `text` is its raw text, where a query has it already.
        """
        tokens = self.raws(session, name, {token for token in missing if token})
        text = self.raw(name) if text is None else text
        none = text.is_(None)
        if not tokens and not self.may_be_empty(name):
            return none
        return none | text.in_([literal(self.system, token) for token in sorted({"", *tokens})])

    def may_be_empty(self, name: str) -> bool:
        """Whether empty text can stand in a column."""
        return self.field(name).kind in (TEXT, "other")

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


def table_relation(session: Session, table: TableName, name: str) -> Relation:
    """A table or view."""
    fields = describe(session, table.clause())
    source = table.clause()
    for field in fields:
        source.append_column(_column(field))
    return Relation(name, session.system, source.alias("source"), fields, table)


def query_relation(session: Session, query: str, name: str) -> Relation:
    """A query; a comment at its end and a semicolon do no harm."""
    text = sa.text(query.strip().rstrip(";").replace(":", r"\:") + "\n")
    fields = describe(session, text.columns().subquery("source"))
    source = text.columns(*(_column(field) for field in fields)).subquery("source")
    return Relation(name, session.system, source, fields)


def _column(field: Field) -> sa.ColumnClause[Any]:
    return sa.column(quoted_name(field.name, True))
