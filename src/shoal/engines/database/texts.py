"""The text of a value in each system: an expression that tells values apart, and its spelling.

A *raw* text is what a simple expression of the system gives; different stored values have different
raw texts, and it is compared byte by byte, whatever the column's collation ignores. Where a system
spells a value in a way of its own, the few distinct raw texts are spelled anew in Python, and a
recoding looks labels up by raw text. So no system has to do more than a cast for a record.

Values that PostgreSQL stores in several ways, though nobody means another value by them (1.0 and
1.00 as `numeric`, spaces at the end of `bpchar`), are made one before they are a raw text and
before they are released: see `settled`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import mssql

from shoal.engines.database.failures import STOP
from shoal.engines.database.fields import (
    BLANK_PADDED,
    BOOLEAN,
    DATE,
    DECIMAL,
    INSTANT,
    INTEGER,
    OTHER,
    REAL,
    SINGLE,
    TEXT,
    TIME,
    TIMESTAMP,
    Field,
)
from shoal.engines.database.storage import as_raw, raw_text, text_of, trimmed, value_of

if TYPE_CHECKING:
    Expression = sa.ColumnElement[Any]

Spelling = Callable[[str], str | None]
"""From a raw text to the text of the value, None for a missing one."""


def raw(system: str, value: Expression, field: Field) -> Expression:
    """The raw text of a value: null for null, and otherwise told apart byte by byte."""
    return _RAW.get(system, _postgres)(value, field)


def _postgres(value: Expression, field: Field) -> Expression:
    if field.kind in (REAL, SINGLE, DECIMAL):
        value = sa.func.nullif(value, sa.literal_column("'NaN'"))
    return sa.collate(sa.cast(settled("postgresql", value, field), sa.Text), "C")


def settled(system: str, value: Expression, field: Field) -> Expression:
    """A value as it is released: one stored value for what has one text."""
    if system != "postgresql" or field.exact is not None:
        return value
    if field.kind == DECIMAL:
        return sa.func.trim_scale(value)
    if field.declared == BLANK_PADDED:
        return sa.cast(value, sa.Text).op("::")(sa.literal_column(BLANK_PADDED))
    return value


def _mysql(value: Expression, field: Field) -> Expression:
    """Bytes: every collation of text ignores trailing spaces, and most ignore case.

    FLOAT as text has six digits; as DOUBLE it has all of them. What is displayed with zeros in
    front is a number all the same. What has no character set is told by its bytes.
    """
    if field.kind == SINGLE:
        value = sa.cast(value, sa.Double)
    if field.kind == OTHER:
        value = sa.func.concat("\\x", sa.func.lower(sa.func.hex(value)))
    elif field.kind != TEXT:
        value = sa.cast(number(value, field), sa.CHAR)
    return sa.cast(sa.func.convert(value.op("USING")(sa.literal_column("utf8mb4"))), sa.BINARY)


def number(value: Expression, field: Field) -> Expression:
    """A value that MySQL displays in a form of its own, such as BIT, as the number that it is."""
    return value + 0 if field.padded else value


def _sqlite(value: Expression, field: Field) -> Expression:
    return raw_text(value, field.kind)


def text_in_sqlite(value: Expression, field: Field) -> Expression:
    """The text of a value, spelled in SQLite itself by a function of ours."""
    spelled: Expression = sa.func.shoal_text(value, field.kind, field.scale or 0)
    if field.kind in (TEXT, OTHER):
        spelled = sa.case((sa.func.typeof(value) == "text", value), else_=spelled)
    return sa.collate(spelled, "BINARY")


def _sql_server(value: Expression, field: Field) -> Expression:
    """Bytes of UTF-16: even binary collations ignore trailing spaces."""
    style = {DATE: 23, TIMESTAMP: 121, REAL: 3, SINGLE: 3}.get(field.kind)
    text: Expression = sa.cast(value, sa.NVARCHAR(4000))
    if style is not None:
        text = sa.func.convert(
            sa.literal_column("nvarchar(4000)"), value, sa.literal_column(f"{style}")
        )
    return sa.cast(text, mssql.VARBINARY(8000))  # type: ignore[no-untyped-call]


def _oracle(value: Expression, field: Field) -> Expression:
    pattern = {DATE: "YYYY-MM-DD", TIMESTAMP: "YYYY-MM-DD HH24:MI:SS.FF6"}.get(field.kind)
    if field.kind == TEXT or pattern is None:
        return sa.func.to_char(value)
    return sa.func.to_char(value, pattern)


_RAW: Mapping[str, Callable[[Expression, Field], Expression]] = MappingProxyType(
    {
        "postgresql": _postgres,
        "mysql": _mysql,
        "mariadb": _mysql,
        "sqlite": _sqlite,
        "mssql": _sql_server,
        "oracle": _oracle,
    }
)


def literal(system: str, text: str) -> Expression:
    """A raw text as an expression."""
    if system == "sqlite":
        return sa.literal(text, sa.String)
    return raw(system, sa.literal(text, sa.String), Field("", TEXT))


def raw_of_label(system: str, field: Field, label: str) -> Expression:
    """A raw text, as an expression, that is spelled as this label in a column."""
    return literal(system, as_raw(label, field.kind) if system == "sqlite" else label)


def encoded(system: str, text: str) -> str | bytes:
    """A raw text as the driver takes it."""
    if system in ("mysql", "mariadb"):
        return text.encode()
    return text.encode("utf-16-le") if system == "mssql" else text


def value(system: str, column: Expression, field: Field) -> Expression:
    """A value in its own type; empty text and NaN are null."""
    if system == "sqlite":
        return sa.case((sa.collate(column, "BINARY") == "", sa.null()), else_=column)
    if field.kind == TEXT:
        empty = raw(system, column, field) == literal(system, "")
        return sa.case((empty, sa.null()), else_=column)
    if system == "postgresql" and field.kind in (REAL, SINGLE, DECIMAL):
        return sa.func.nullif(column, sa.literal_column("'NaN'"))
    return column


def stop(system: str, text: str) -> Expression:
    """An expression that fails when it is evaluated; `text` names a column that is not null there.

    It depends on that column, so no system can evaluate it before it meets such a record.
    """
    if system == "sqlite":
        return sa.func.shoal_stop()
    if system == "postgresql":
        return sa.literal_column(f"CAST('{STOP}' || left({text}, 0) AS integer)", sa.Integer)
    two_rows = f"(SELECT ascii({text}) UNION ALL SELECT ascii({text}))"
    return sa.literal_column(two_rows, sa.Integer)


NATIVE = (BOOLEAN, INTEGER, DATE, TIME, TIMESTAMP, INSTANT)
"""Kinds whose values are equal exactly when their texts are: grouping may come before the cast."""


def groups_natively(system: str, field: Field) -> bool:
    """Whether grouping by the value itself is as good as by its raw text, and faster."""
    return system == "postgresql" and field.kind in NATIVE


def spelling(system: str, field: Field) -> Spelling | None:
    """How raw texts of a column are spelled; None when they are the texts already."""
    if system == "sqlite":
        return lambda text: text_of(value_of(text, field.kind), field)
    if field.kind in (REAL, SINGLE):
        single = field.kind == SINGLE and system != "postgresql"
        return _single if single else _real
    if system == "postgresql":
        return None
    if field.kind == BOOLEAN:
        return lambda text: {"0": "false", "1": "true"}.get(text, text)
    return trimmed if field.kind in (TIMESTAMP, TIME) else None


def _real(text: str) -> str | None:
    """The shortest decimal that is this double; texts that are no numbers stay as they are."""
    try:
        number = float(text)
    except ValueError:
        return text
    return None if math.isnan(number) else repr(number)


def _single(text: str) -> str | None:
    """The shortest decimal that is this single."""
    import numpy as np

    return _real(str(np.float32(text)))
