"""The columns of a table, view or query: their names, kinds, and types in Arrow."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from shoal.engines.failures import check_names

if TYPE_CHECKING:
    from shoal.engines.database.session import Session

TEXT, BOOLEAN, INTEGER, DECIMAL = "text", "boolean", "integer", "decimal"
SINGLE, REAL = "single", "real"
DATE, TIME, TIMESTAMP, INSTANT = "date", "time", "timestamp", "instant"
OTHER = "other"
"""Kinds of columns: what decides how a value is spelled. An instant is a time with a zone."""


@dataclass(frozen=True)
class Field:
    """A column as the database describes it.

    `exact` is its type with digits or a length, where an expression of it would lose them;
    `declared` is SQLite's own word for the type, or BLANK_PADDED. A `padded` number is displayed
    otherwise than as a number.
    """

    name: str
    kind: str
    precision: int | None = None
    scale: int | None = None
    unsigned: bool = False
    exact: sa.types.TypeEngine[Any] | None = None
    declared: str = ""
    padded: bool = False

    def arrow(self) -> pa.DataType:
        """The Arrow type that holds all its values; text where there is none."""
        if self.kind == DECIMAL and self.precision and self.precision <= 38:
            return pa.decimal128(self.precision, self.scale or 0)
        if self.kind == INTEGER and self.unsigned:
            return pa.uint64()
        return _ARROW.get(self.kind, pa.string())


_ARROW: Mapping[str, pa.DataType] = MappingProxyType(
    {
        BOOLEAN: pa.bool_(),
        INTEGER: pa.int64(),
        SINGLE: pa.float32(),
        REAL: pa.float64(),
        DATE: pa.date32(),
        TIMESTAMP: pa.timestamp("us"),
        INSTANT: pa.timestamp("us", "UTC"),
    }
)

_POSTGRES: Mapping[int, str] = MappingProxyType(
    {
        **dict.fromkeys((18, 19, 25, 705, 1042, 1043), TEXT),
        **dict.fromkeys((20, 21, 23, 26), INTEGER),
        16: BOOLEAN,
        700: SINGLE,
        701: REAL,
        1700: DECIMAL,
        1082: DATE,
        1083: TIME,
        1114: TIMESTAMP,
        1184: INSTANT,
    }
)
"""The kind for the number of a type in PostgreSQL; the numbers never change."""
_CHAR, _VARCHAR = 1042, 1043
BLANK_PADDED = "bpchar"
"""PostgreSQL's type of texts whose spaces at the end mean nothing."""

_MYSQL: Mapping[int, str] = MappingProxyType(
    {
        **dict.fromkeys((15, 245, 247, 248, 249, 250, 251, 252, 253, 254), TEXT),
        **dict.fromkeys((1, 2, 3, 8, 9, 13, 16), INTEGER),
        0: DECIMAL,
        246: DECIMAL,
        4: SINGLE,
        5: REAL,
        7: TIMESTAMP,
        12: TIMESTAMP,
        10: DATE,
        14: DATE,
        11: TIME,
    }
)
"""The kind for the number of a type in the protocol of MySQL and MariaDB."""
_TINY, _YEAR, _BIT = 1, 13, 16
_BINARY, _UNSIGNED, _ZEROFILL = 63, 32, 64

_PYTHON: Mapping[Any, str] = MappingProxyType(
    {
        str: TEXT,
        bool: BOOLEAN,
        int: INTEGER,
        decimal.Decimal: DECIMAL,
        float: REAL,
        datetime.date: DATE,
        datetime.time: TIME,
        datetime.datetime: TIMESTAMP,
    }
)
"""The kind for what other drivers say of a column: the Python type of its values."""


def describe(session: Session, source: sa.FromClause) -> tuple[Field, ...]:
    """The columns of a source, asked of the database by a query that gives no rows.

    LIMIT 0 runs nothing; a condition that is never true would let MariaDB run a whole view first.
    """
    empty: sa.Select[Any] = sa.select(sa.literal_column("*")).select_from(source).limit(0)
    text = session.sql(empty)
    with session.working():
        found = session.attend(lambda: session.connection.exec_driver_sql(text))
        cursor = found.cursor
        if cursor is None:
            fields: tuple[Field, ...] = ()
        elif session.system == "postgresql":
            fields = tuple(_of_postgres(each) for each in cursor.description or ())
        elif session.system in ("mysql", "mariadb"):
            fields = tuple(_of_mysql(each) for each in cursor._result.fields)
        else:
            described = cursor.description or ()
            fields = tuple(Field(each[0], _PYTHON.get(each[1], OTHER)) for each in described)
        found.close()
    check_names([field.name for field in fields], session.name)
    return _of_sqlite(session, source, fields) if session.system == "sqlite" else fields


def _of_postgres(column: Any) -> Field:
    """An expression forgets the digits and lengths of a type, so they are noted."""
    kind = _POSTGRES.get(column.type_code, OTHER)
    exact: sa.types.TypeEngine[Any] | None = None
    if kind == DECIMAL and column.precision is not None:
        exact = sa.Numeric(column.precision, column.scale)
    elif column.type_code in (_CHAR, _VARCHAR) and column.display_size is not None:
        made = sa.CHAR if column.type_code == _CHAR else sa.VARCHAR
        exact = made(column.display_size)
    declared = BLANK_PADDED if column.type_code == _CHAR else ""
    return Field(column.name, kind, column.precision, column.scale, exact=exact, declared=declared)


def _of_mysql(column: Any) -> Field:
    """TINYINT(1) is how MySQL spells BOOLEAN; a text without a character set is binary."""
    kind = _MYSQL.get(column.type_code, OTHER)
    unsigned = bool(column.flags & _UNSIGNED) or column.type_code == _BIT
    padded = bool(column.flags & _ZEROFILL) or column.type_code in (_YEAR, _BIT)
    if kind == TEXT and column.charsetnr == _BINARY:
        return Field(column.name, OTHER)
    if column.type_code == _TINY and column.length == 1:
        return Field(column.name, BOOLEAN)
    if kind == DECIMAL:
        digits = column.length - (not unsigned) - (column.scale > 0)
        return Field(column.name, kind, digits, column.scale, padded=padded)
    return Field(column.name, kind, unsigned=unsigned, padded=padded)


def _of_sqlite(
    session: Session, source: sa.FromClause, fields: tuple[Field, ...]
) -> tuple[Field, ...]:
    """SQLite tells declared types of tables and views alone, so the source becomes a view."""
    view = "shoal_described"
    every = session.sql(sa.select(sa.literal_column("*")).select_from(source))
    session.run(f"CREATE TEMP VIEW {view} AS {every}")
    described = session.rows(f"PRAGMA temp.table_info({view})")
    session.run(f"DROP VIEW temp.{view}")
    return tuple(
        _declared(field.name, str(row[2])) for field, row in zip(fields, described, strict=True)
    )


def _declared(name: str, declared: str) -> Field:
    """The kind of a declared type, by SQLite's own rules of affinity and the usual names."""
    word = declared.upper()
    numbers = [int(number) for number in re.findall(r"\d+", word.partition("(")[2])]
    if re.match(r"(DEC|NUMERIC)", word) and numbers:
        return Field(name, DECIMAL, numbers[0], (*numbers, 0)[1], declared=declared)
    kind = next((kind for pattern, kind in _SQLITE if re.search(pattern, word)), OTHER)
    return Field(name, kind, declared=declared)


_SQLITE = (
    ("BOOL", BOOLEAN),
    ("INT", INTEGER),
    ("CHAR|CLOB|TEXT", TEXT),
    ("REAL|FLOA|DOUB", REAL),
    ("^(DATETIME|TIMESTAMP)", TIMESTAMP),
    ("^DATE$", DATE),
    ("^TIME$", TIME),
)
