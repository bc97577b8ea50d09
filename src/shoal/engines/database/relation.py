"""A table, view or query as an expression, with its columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.sql.elements import quoted_name

from shoal.engines.base import Column
from shoal.engines.database.fields import Field, Kind
from shoal.engines.failures import check_names, unknown_column

if TYPE_CHECKING:
    from shoal.engines.database.connection import TableName
    from shoal.engines.database.dialects.values import Expression, Spelling, Values
    from shoal.engines.database.session import Session


@dataclass(frozen=True)
class Relation:
    """What is counted and recoded: `source` in statements, `fields` its columns in order.

    A `stored` one is read by what is stored in it, as a verifier does.
    """

    name: str
    values: Values
    source: sa.FromClause
    fields: tuple[Field, ...]
    stored: bool = False

    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        return tuple(
            Column(field.name, field.kind == Kind.TEXT, field.arrow()) for field in self.fields
        )

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
        value = self.column(name) if grouped is None else grouped
        texts = self.values.stored if self.stored else self.values
        return texts.raw(value, self.field(name))

    def settled(self, name: str) -> Expression:
        """A column's value in its own type, the same for values that have one text."""
        return self.values.settled(self.column(name), self.field(name))

    def without_missing(self, name: str, *, settled: bool = False) -> Expression:
        """A column's value in its own type, `settled` or as it is; empty text and NaN are null."""
        value = self.settled(name) if settled else self.column(name)
        return self.values.without_missing(value, self.field(name))

    def streamed_text(self, name: str) -> Expression:
        """The text of a column's value, raw where that is spelled again; null for an empty one."""
        text = self.values.streamed_text(self.column(name), self.field(name))
        return sa.func.nullif(text, self.values.literal(""))

    def streamed_spelling(self, name: str) -> Spelling | None:
        """How the texts of a stream are spelled; None when they are so already."""
        return self.values.streamed_spelling(self.field(name))

    def is_spelled(self, name: str) -> bool:
        """Whether the texts of a column are others than its raw texts."""
        return self.stored or self.values.spelling(self.field(name)) is not None

    def spelled(self, name: str, raws: Collection[str]) -> dict[str, str | None]:
        """The text of each of these raw texts of a column."""
        if self.stored:
            return {**self.values.stored.labels(self.field(name), raws)}
        spell = self.values.spelling(self.field(name))
        return {raw: raw if spell is None else spell(raw) for raw in raws}

    def distinct_raws(self, session: Session, name: str) -> list[str]:
        """The distinct raw texts of a column."""
        rows = session.rows(sa.select(self.raw(name)).distinct())
        return [_decoded(row[0]) for row in rows if row[0] is not None]

    def raws(self, session: Session, name: str, texts: Collection[str]) -> dict[str, str]:
        """The raw texts of a column that spell one of these texts, each with that text.

        Where raw texts are spelled again, the distinct ones are asked of the database.
        """
        if not texts or not self.is_spelled(name):
            return {text: text for text in texts}
        found = self.spelled(name, self.distinct_raws(session, name))
        return {raw: text for raw, text in found.items() if text is not None and text in texts}

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
        literals = [self.values.literal(token) for token in sorted(tokens)]
        field = self.field(name)
        if not self.stored and (tokens or self.values.may_be_empty(field)):
            literals.append(self.values.raw_of_label(field, ""))
        return none | text.in_(literals) if literals else none


def table_relation(
    session: Session, table: TableName, name: str, *, stored: bool = False
) -> Relation:
    """A table or view; `stored` reads it by what is stored, as a verifier does."""
    fields = _described(session, table.clause())
    source = table.clause()
    for field in fields:
        source.append_column(_column(field))
    return Relation(name, session.dialect.values, source.alias("source"), fields, stored)


def query_relation(session: Session, query: str, name: str) -> Relation:
    """A query; a comment at its end and a semicolon do no harm."""
    text = sa.text(query.strip().rstrip(";").replace(":", r"\:") + "\n")
    fields = _described(session, text.columns().subquery("source"))
    source = text.columns(*(_column(field) for field in fields)).subquery("source")
    return Relation(name, session.dialect.values, source, fields)


def _described(session: Session, source: sa.FromClause) -> tuple[Field, ...]:
    """The columns of a source, asked of the database by a query that gives no rows.

    LIMIT 0 runs nothing; a condition that is never true would let MariaDB run a whole view first.
    """
    values = session.dialect.values
    empty: sa.Select[Any] = sa.select(sa.literal_column("*")).select_from(source).limit(0)
    fields = session.describe(
        session.sql(empty), lambda cursor: () if cursor is None else values.described(cursor)
    )
    check_names([field.name for field in fields], session.name)
    return values.declared(session, source, fields)


def _column(field: Field) -> sa.ColumnClause[Any]:
    return sa.column(quoted_name(field.name, True))


def _decoded(text: Any) -> str:
    """A raw text as the driver gave it."""
    return text.decode() if isinstance(text, bytes) else str(text)
