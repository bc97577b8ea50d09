"""The text of a value in each system: an expression that tells values apart, and its spelling.

A *raw* text is what a simple expression of the system gives; different values have different raw
texts, and it is compared byte by byte, whatever the column's collation ignores. Where a system
spells a value in a way of its own, the few distinct raw texts are spelled anew in Python, and a
recoding looks labels up by raw text. So no system has to do more than a cast for a record.
"""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import mssql

from shoal.engines.database.failures import STOP
from shoal.engines.database.fields import (
    BOOLEAN,
    DATE,
    DECIMAL,
    INSTANT,
    INTEGER,
    REAL,
    SINGLE,
    TEXT,
    TIME,
    TIMESTAMP,
    Field,
)

if TYPE_CHECKING:
    Expression = sa.ColumnElement[Any]

Spelling = Callable[[str], str | None]
"""From a raw text to the text of the value, None for a missing one."""


def raw(system: str, value: Expression, field: Field) -> Expression:
    """The raw text of a value: null for null, and otherwise told apart byte by byte."""
    return _RAW.get(system, _postgres)(value, field.kind)


def _postgres(value: Expression, kind: str) -> Expression:
    if kind in (REAL, SINGLE, DECIMAL):
        value = sa.func.nullif(value, sa.literal_column("'NaN'"))
    return sa.collate(sa.cast(value, sa.Text), "C")


def _mysql(value: Expression, kind: str) -> Expression:
    """Bytes: every collation of text ignores trailing spaces, and most ignore case.

    FLOAT as text has six digits; as DOUBLE it has all of them.
    """
    if kind == SINGLE:
        value = sa.cast(value, sa.Double)
    if kind != TEXT:
        value = sa.cast(value, sa.CHAR)
    return sa.cast(sa.func.convert(value.op("USING")(sa.literal_column("utf8mb4"))), sa.BINARY)


def _sqlite(value: Expression, kind: str) -> Expression:
    """SQLite's own text of a real number has 15 digits, which is too few to tell them apart."""
    text: Expression = sa.cast(value, sa.Text)
    if kind == REAL:
        text = sa.case(
            (sa.func.typeof(value) == "real", sa.func.printf("%!.17g", value)), else_=text
        )
    return sa.collate(text, "BINARY")


def _sql_server(value: Expression, kind: str) -> Expression:
    """Bytes of UTF-16: even binary collations ignore trailing spaces."""
    style = {DATE: 23, TIMESTAMP: 121, REAL: 3, SINGLE: 3}.get(kind)
    text: Expression = sa.cast(value, sa.NVARCHAR(4000))
    if style is not None:
        text = sa.func.convert(
            sa.literal_column("nvarchar(4000)"), value, sa.literal_column(f"{style}")
        )
    return sa.cast(text, mssql.VARBINARY(8000))  # type: ignore[no-untyped-call]


def _oracle(value: Expression, kind: str) -> Expression:
    pattern = {DATE: "YYYY-MM-DD", TIMESTAMP: "YYYY-MM-DD HH24:MI:SS.FF6"}.get(kind)
    if kind == TEXT or pattern is None:
        return sa.func.to_char(value)
    return sa.func.to_char(value, pattern)


_RAW: Mapping[str, Callable[[Expression, str], Expression]] = MappingProxyType(
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
    return raw(system, sa.literal(text, sa.String), Field("", TEXT))


def encoded(system: str, text: str) -> str | bytes:
    """A raw text as the driver takes it."""
    if system in ("mysql", "mariadb"):
        return text.encode()
    return text.encode("utf-16-le") if system == "mssql" else text


def value(system: str, column: Expression, field: Field) -> Expression:
    """A value in its own type; empty text and NaN are null."""
    if field.kind == TEXT or (field.kind == "other" and system == "sqlite"):
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
    if field.kind in (REAL, SINGLE):
        single = field.kind == SINGLE and system != "postgresql"
        return _single if single else _real
    if system == "postgresql":
        return None
    if field.kind == BOOLEAN:
        return lambda text: {"0": "false", "1": "true"}.get(text, text)
    if field.kind in (TIMESTAMP, TIME):
        return lambda text: re.sub(r"(:\d\d)(?:\.0*|(\.\d*[1-9])0*)$", r"\1\2", text)
    if system == "sqlite" and field.kind == DECIMAL:
        return lambda text: _fixed(text, field.scale or 0)
    return None


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


def _fixed(text: str, scale: int) -> str:
    """A decimal with the digits its column declares, where it has no more than these."""
    try:
        number = decimal.Decimal(text)
        fixed = number.quantize(decimal.Decimal(1).scaleb(-scale))
    except decimal.InvalidOperation:
        return text
    return f"{fixed:f}" if fixed == number else text
