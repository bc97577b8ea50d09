"""Values of PostgreSQL: kinds, texts as they are counted, and texts as they are stored.

Values that PostgreSQL stores in several ways, though nobody means another value by them (1.0 and
1.00 as `numeric`, spaces at the end of `bpchar`), are made one before they become a raw text and
before they are released: see `settled`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa

from shoal.engines.database.dialects.stored import StoredTexts
from shoal.engines.database.dialects.values import (
    STOP,
    ColumnType,
    Expression,
    Spelling,
    Values,
    shortest_double,
)
from shoal.engines.database.fields import Field, Kind

_KINDS: Mapping[int, Kind] = MappingProxyType(
    {
        **dict.fromkeys((18, 19, 25, 705, 1042, 1043), Kind.TEXT),
        **dict.fromkeys((20, 21, 23, 26), Kind.INTEGER),
        16: Kind.BOOLEAN,
        700: Kind.SINGLE,
        701: Kind.REAL,
        1700: Kind.DECIMAL,
        1082: Kind.DATE,
        1083: Kind.TIME,
        1114: Kind.TIMESTAMP,
        1184: Kind.INSTANT,
    }
)
"""The kind for the number of a built-in type; the numbers never change."""
_CHAR, _VARCHAR = 1042, 1043
_BLANK_PADDED = "bpchar"
"""The type of texts whose spaces at the end mean nothing."""
_FIRST_DAY, _AFTER_LAST_DAY = "'0001-01-01'", "'10000-01-01'"
"""The first day that every reader of a release has, and the first that few have."""
_COMPARABLE = (Kind.BOOLEAN, Kind.INTEGER, Kind.DATE, Kind.TIME, Kind.TIMESTAMP, Kind.INSTANT)
"""Kinds whose values are equal exactly when their texts are: grouping may come before the cast."""


class StoredInPostgres(StoredTexts):
    """PostgreSQL casts different values to different texts, but for the spaces of `bpchar`."""

    def raw(self, value: Expression, field: Field) -> Expression:
        """The cast to text; `format` keeps the spaces at the end that the cast would drop."""
        if field.declared == _BLANK_PADDED:
            shown = sa.func.format("%s", value)
            return sa.collate(sa.case((value.is_(None), sa.null()), else_=shown), "C")
        return sa.collate(sa.cast(value, sa.Text), "C")

    def label(self, field: Field, raw: str) -> str:
        """The text itself; floating numbers as Python writes them."""
        if field.kind in (Kind.REAL, Kind.SINGLE):
            return repr(float(raw))
        return raw.rstrip(" ") if field.declared == _BLANK_PADDED else raw


class PostgresValues(Values):
    """Values of PostgreSQL."""

    stored = StoredInPostgres()
    holds_nul = False
    longest_decimal = (1000, 1000)
    unsigned_type = sa.Numeric(20, 0)
    instant_type = sa.DateTime(timezone=True)

    def described(self, cursor: Any) -> tuple[Field, ...]:
        """The columns by the numbers of their types."""
        return tuple(_field(column) for column in cursor.description or ())

    def fits(self, value: Expression, field: Field) -> Expression | None:
        """Dates and times can be infinite, and before or after the years that others have."""
        if field.kind not in (Kind.DATE, Kind.TIMESTAMP, Kind.INSTANT):
            return None
        is_first_or_later = value >= sa.literal_column(_FIRST_DAY)
        return is_first_or_later & (value < sa.literal_column(_AFTER_LAST_DAY))

    def raw(self, value: Expression, field: Field) -> Expression:
        """The cast to text of the settled value; NaN is null."""
        return sa.collate(sa.cast(self.settled(_without_nan(value, field), field), sa.Text), "C")

    def settled(self, value: Expression, field: Field) -> Expression:
        """Without zeros at the end of a `numeric` and spaces at the end of a `bpchar`.

        A type with digits or a length settles them by itself.
        """
        if field.exact is not None:
            return value
        if field.kind == Kind.DECIMAL:
            return sa.func.trim_scale(value)
        if field.declared == _BLANK_PADDED:
            return sa.cast(value, sa.Text).op("::")(sa.literal_column(_BLANK_PADDED))
        return value

    def without_missing(self, column: Expression, field: Field) -> Expression:
        """A value in its own type; empty text and NaN are null."""
        return super().without_missing(_without_nan(column, field), field)

    def spelling(self, field: Field) -> Spelling | None:
        """Floating numbers as Python writes them."""
        return shortest_double if field.kind in (Kind.REAL, Kind.SINGLE) else None

    def groups_natively(self, field: Field) -> bool:
        """Grouping by numbers is much faster than by texts."""
        return field.kind in _COMPARABLE

    def stop(self, text: str) -> Expression:
        """A cast that fails, with a message of ours."""
        return sa.literal_column(f"CAST('{STOP}' || left({text}, 0) AS integer)", sa.Integer)

    def tie_break(self, value: Expression, field: Field) -> Expression | None:
        """The texts of -0 and 0, and of 1.0 and 1.00 in a `numeric` without a scale."""
        floats = (Kind.REAL, Kind.SINGLE)
        if field.kind in floats or (field.kind == Kind.DECIMAL and field.exact is None):
            return sa.collate(sa.cast(value, sa.Text), "C")
        return None

    def nulls_last(self, expression: Expression) -> Sequence[Expression]:
        """PostgreSQL sorts nulls last by itself."""
        return (expression,)

    def raw_type(self, longest: int) -> ColumnType:
        """Text that is compared byte by byte."""
        return sa.Text(collation="C")


def _field(column: Any) -> Field:
    """An expression forgets the digits and lengths of a type, so they are noted."""
    kind = _KINDS.get(column.type_code, Kind.OTHER)
    exact: ColumnType | None = None
    if kind == Kind.DECIMAL and column.precision is not None:
        exact = sa.Numeric(column.precision, column.scale)
    elif column.type_code in (_CHAR, _VARCHAR) and column.display_size is not None:
        made = sa.CHAR if column.type_code == _CHAR else sa.VARCHAR
        exact = made(column.display_size)
    declared = _BLANK_PADDED if column.type_code == _CHAR else ""
    return Field(column.name, kind, column.precision, column.scale, exact=exact, declared=declared)


def _without_nan(value: Expression, field: Field) -> Expression:
    if field.kind in (Kind.REAL, Kind.SINGLE, Kind.DECIMAL):
        return sa.func.nullif(value, sa.literal_column("'NaN'"))
    return value
