"""What the engine asks about the values of one kind of database: types, texts, order.

A *raw* text is what a simple expression of the database gives; different stored values have
different raw texts, and it is compared byte by byte, whatever the column's collation ignores. Where
a database spells a value in a way of its own, the few distinct raw texts are spelled again in
Python, and a recoding looks labels up by raw text. So no database does more than a cast per record.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import sqlalchemy as sa

from shoal.engines.database.fields import Field, Kind

if TYPE_CHECKING:
    from shoal.engines.database.connection import Connection
    from shoal.engines.database.dialects.stored import StoredTexts

Expression: TypeAlias = sa.ColumnElement[Any]
Spelling: TypeAlias = Callable[[str], str | None]
"""From a raw text to the text of the value, None for a missing one."""
ColumnType: TypeAlias = sa.types.TypeEngine[Any]

STOP = "shoal: a value that was not counted"
"""The error text of a query that meets a value nobody counted."""


class Values(ABC):
    """How one kind of database types, spells, compares and holds values."""

    stored: StoredTexts
    """How the verifier reads them."""
    raw_is_bytes = False
    """Whether raw texts are bytes for the database."""
    stores_variants = False
    """Whether values of one text may be stored in several ways; see `representatives`."""
    holds_infinity = True
    holds_negative_zero = True
    holds_nul = True
    """Whether a text may have NUL characters."""
    holds_singles = True
    """Whether there is a type of singles; otherwise they become the doubles of the same digits."""
    longest_decimal = (38, 38)
    """The most digits of a decimal, and after the point."""
    unsigned_type: ColumnType | None = None
    """The type of unsigned numbers of 64 bits; None where they are stored as text."""
    single_type: ColumnType = sa.REAL()
    timestamp_type: ColumnType = sa.DateTime()
    instant_type: ColumnType | None = None
    """The type of timestamps with a time zone; None where they are stored as text."""
    time_type: ColumnType = sa.Time()

    # Columns.

    @abstractmethod
    def described(self, cursor: Any) -> tuple[Field, ...]:
        """The columns of a query that gives no rows, by its open cursor."""

    def declared(
        self, connection: Connection, source: sa.FromClause, fields: tuple[Field, ...]
    ) -> tuple[Field, ...]:
        """The same columns with the types that a table declares, where no cursor knows them."""
        return fields

    def fits(self, value: Expression, field: Field) -> Expression | None:
        """True or null for what fits the Arrow type of its column; None where everything does."""
        return None

    def has_nul(self, value: Expression, field: Field) -> Expression | None:
        """Whether a value is a text with a NUL character; None where none can be."""
        return None

    # Texts.

    @abstractmethod
    def raw(self, value: Expression, field: Field) -> Expression:
        """The raw text of a value: null for null, compared byte by byte."""

    @abstractmethod
    def spelling(self, field: Field) -> Spelling | None:
        """How raw texts of a column are spelled; None when they are the texts already."""

    @abstractmethod
    def stop(self, text: str) -> Expression:
        """An expression that fails when it is evaluated; `text` is a column, not null there.

        It depends on that column, so it cannot be evaluated before such a record is met.
        """

    def literal(self, text: str) -> Expression:
        """A raw text as an expression."""
        return self.raw(sa.literal(text, sa.String), Field("", Kind.TEXT))

    def raw_of_label(self, field: Field, label: str) -> Expression:
        """A raw text, as an expression, that is spelled as this label in a column."""
        return self.literal(label)

    def settled(self, value: Expression, field: Field) -> Expression:
        """A value as it is released: one stored value for what has one text."""
        return value

    def without_missing(self, column: Expression, field: Field) -> Expression:
        """A value in its own type; empty text and NaN are null."""
        if field.kind == Kind.TEXT:
            empty = self.raw(column, field) == self.literal("")
            return sa.case((empty, sa.null()), else_=column)
        return column

    def may_be_empty(self, field: Field) -> bool:
        """Whether a column can have empty text."""
        return field.kind in (Kind.TEXT, Kind.OTHER)

    def groups_natively(self, field: Field) -> bool:
        """Whether grouping by the value itself is as good as by its raw text, and faster."""
        return False

    def representatives(self, raws: Collection[str], field: Field) -> dict[str, str]:
        """The raw texts that share their text with another, each with the one that replaces it."""
        return {}

    def restored(self, raw: Expression, field: Field) -> Expression:
        """The stored value of a raw text; used for `representatives` alone."""
        return raw

    def checksum(self, text: Expression) -> Expression | None:
        """A number of a text to look it up by in a join; None where texts of any length are fast.

        Equal texts have equal numbers.
        """
        return None

    # Streams out of the database, and their order.

    def streamed(self, value: Expression, field: Field) -> Expression:
        """A value in the form in which it leaves the database in its own type."""
        return value

    def streamed_text(self, value: Expression, field: Field) -> Expression:
        """A value in the form in which it leaves the database as text."""
        return self.raw(value, field)

    def streamed_spelling(self, field: Field) -> Spelling | None:
        """How streamed texts are spelled; None when they are the texts already."""
        return self.spelling(field)

    def order(self, value: Expression, field: Field, *, streamed: bool) -> Expression:
        """What to sort released values by: the released value alone decides."""
        return self.raw(value, field) if field.kind in (Kind.TEXT, Kind.OTHER) else value

    def tie_break(self, value: Expression, field: Field) -> Expression | None:
        """What orders released values that are equal but stored differently; None without any."""
        return None

    def nulls_last(self, expression: Expression) -> Sequence[Expression]:
        """The keys of an ascending order with nulls last; most databases have them first."""
        return expression.is_(None), expression

    # Types of new tables.

    def text_type(self, longest: int = 0) -> ColumnType:
        """The type of a column of text; `longest` is its number of characters, 0 if unknown."""
        return sa.Text()

    def raw_type(self, longest: int) -> ColumnType:
        """The type of a column of raw texts of at most so many bytes."""
        return sa.Text()

    def type_of(self, kind: pa.DataType) -> ColumnType | None:
        """The type that holds every value of an Arrow type as it is; None where only text does."""
        if pa.types.is_boolean(kind):
            return sa.Boolean()
        if pa.types.is_uint64(kind):
            return self.unsigned_type
        if pa.types.is_integer(kind):
            return sa.BigInteger()
        if pa.types.is_decimal(kind):
            digits, scale = self.longest_decimal
            fits = kind.precision <= digits and 0 <= kind.scale <= min(scale, kind.precision)
            return sa.Numeric(kind.precision, kind.scale) if fits else None
        if pa.types.is_floating(kind):
            is_double = pa.types.is_float64(kind) or not self.holds_singles
            return sa.Double() if is_double else self.single_type
        if pa.types.is_date(kind):
            return sa.Date()
        if pa.types.is_timestamp(kind):
            return self.timestamp_type if kind.tz is None else self.instant_type
        return self.time_type if pa.types.is_time(kind) else None


def shortest_double(text: str) -> str | None:
    """The shortest decimal that is this double; texts that are no numbers stay as they are."""
    try:
        number = float(text)
    except ValueError:
        return text
    return None if math.isnan(number) else repr(number)


def without_trailing_zeros(moment: str) -> str:
    """A time without the zeros at the end of its fraction."""
    return re.sub(r"(:\d\d)(?:\.0*|(\.\d*[1-9])0*)$", r"\1\2", moment)
