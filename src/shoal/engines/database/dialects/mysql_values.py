"""Values of MySQL and MariaDB: kinds, texts as they are counted, and texts as they are stored.

Raw texts are bytes: every collation of text ignores spaces at the end, and most ignore case.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from shoal.engines.database.dialects.stored import StoredTexts, moment, truth
from shoal.engines.database.dialects.values import (
    ColumnType,
    Expression,
    Spelling,
    Values,
    shortest_double,
    without_trailing_zeros,
)
from shoal.engines.database.fields import Field, Kind

_KINDS: Mapping[int, Kind] = MappingProxyType(
    {
        **dict.fromkeys((15, 245, 247, 248, 249, 250, 251, 252, 253, 254), Kind.TEXT),
        **dict.fromkeys((1, 2, 3, 8, 9, 13, 16), Kind.INTEGER),
        0: Kind.DECIMAL,
        246: Kind.DECIMAL,
        4: Kind.SINGLE,
        5: Kind.REAL,
        7: Kind.TIMESTAMP,
        12: Kind.TIMESTAMP,
        10: Kind.DATE,
        14: Kind.DATE,
        11: Kind.TIME,
    }
)
"""The kind for the number of a type in the protocol."""
_TINY, _YEAR, _BIT = 1, 13, 16
_BINARY, _UNSIGNED, _ZEROFILL = 63, 32, 64
_LONGEST_VARCHAR, _LONGEST_VARBINARY = 1000, 3000
"""The longest texts, in characters and in bytes, that an index can hold."""


class StoredInMySQL(StoredTexts):
    """The bytes: those of the character set for a text, hexadecimal ones for what has none."""

    def raw(self, value: Expression, field: Field) -> Expression:
        """A cast that keeps all digits and bytes."""
        if field.kind == Kind.TEXT:
            text: Expression = sa.func.convert(value.op("USING")(sa.literal_column("utf8mb4")))
        elif field.kind == Kind.OTHER:
            text = sa.func.hex(value)
        elif field.kind == Kind.SINGLE:
            text = sa.cast(sa.cast(value, sa.Double), sa.CHAR)
        else:
            text = sa.cast(value + 0 if field.padded else value, sa.CHAR)
        return sa.cast(text, sa.BINARY)

    def label(self, field: Field, raw: str) -> str:
        """The text of the value, by its kind."""
        if field.kind == Kind.OTHER:
            return f"\\x{raw.lower()}"
        return _STORED.get(field.kind, str)(raw)


def _stored_single(text: str) -> str:
    """The shortest decimal that is this single, which the raw text has with a double's digits."""
    number = float(text)
    as_single = struct.pack("f", number)
    rounded = (float(f"{number:.{digits}g}") for digits in range(1, 10))
    return repr(next((r for r in rounded if struct.pack("f", r) == as_single), number))


_STORED: Mapping[Kind, Callable[[str], str]] = MappingProxyType(
    {
        Kind.BOOLEAN: truth,
        Kind.TIMESTAMP: moment,
        Kind.TIME: moment,
        Kind.REAL: lambda text: repr(float(text)),
        Kind.SINGLE: _stored_single,
    }
)
"""How the raw text of a stored value becomes its text, where it is not the text itself."""


class MySQLValues(Values):
    """Values of MySQL. A value is stored in one way."""

    stored = StoredInMySQL()
    raw_is_bytes = True
    holds_infinity = False
    holds_negative_zero = False
    longest_decimal = (65, 30)
    unsigned_type = mysql.BIGINT(unsigned=True)
    single_type = mysql.FLOAT()
    timestamp_type = mysql.DATETIME(fsp=6)
    time_type = mysql.TIME(fsp=6)

    def described(self, cursor: Any) -> tuple[Field, ...]:
        """The columns as the protocol describes them."""
        return tuple(_field(column) for column in cursor._result.fields)

    def fits(self, value: Expression, field: Field) -> Expression | None:
        """BOOLEAN holds other numbers too, and dates may have a year, month or day 0."""
        if field.kind == Kind.BOOLEAN:
            return value.in_([0, 1])
        if field.kind in (Kind.DATE, Kind.TIMESTAMP):
            parts = (sa.func.year(value), sa.func.month(value), sa.func.dayofmonth(value))
            return sa.and_(*(part > 0 for part in parts))
        return None

    def has_nul(self, value: Expression, field: Field) -> Expression | None:
        """A NUL byte in the raw text."""
        if field.kind != Kind.TEXT:
            return None
        return sa.func.instr(self.raw(value, field), sa.literal_column("X'00'")) > 0

    def raw(self, value: Expression, field: Field) -> Expression:
        """The bytes of the text in UTF-8.

        FLOAT as text has six digits; as DOUBLE it has all of them. What has no character set is
        told by its bytes.
        """
        if field.kind == Kind.SINGLE:
            value = sa.cast(value, sa.Double)
        if field.kind == Kind.OTHER:
            value = sa.func.concat("\\x", sa.func.lower(sa.func.hex(value)))
        elif field.kind != Kind.TEXT:
            value = sa.cast(self.streamed(value, field), sa.CHAR)
        return sa.cast(sa.func.convert(value.op("USING")(sa.literal_column("utf8mb4"))), sa.BINARY)

    def spelling(self, field: Field) -> Spelling | None:
        """Numbers as Python writes them, booleans as words, times without zeros at the end."""
        if field.kind == Kind.REAL:
            return shortest_double
        if field.kind == Kind.SINGLE:
            return _shortest_single
        if field.kind == Kind.BOOLEAN:
            return lambda text: {"0": "false", "1": "true"}.get(text, text)
        return without_trailing_zeros if field.kind in (Kind.TIMESTAMP, Kind.TIME) else None

    def checksum(self, text: Expression) -> Expression:
        """An index holds numbers, but no long texts."""
        return sa.func.crc32(text)

    def stop(self, text: str) -> Expression:
        """A query of two rows where one value is needed."""
        two_rows = f"(SELECT ascii({text}) UNION ALL SELECT ascii({text}))"
        return sa.literal_column(two_rows, sa.Integer)

    def streamed(self, value: Expression, field: Field) -> Expression:
        """A number that is displayed in a form of its own, such as BIT, as the number it is."""
        return value + 0 if field.padded else value

    def text_type(self, longest: int = 0) -> ColumnType:
        """Text of any character that is compared byte by byte."""
        if 0 < longest <= _LONGEST_VARCHAR:
            return mysql.VARCHAR(longest, charset="utf8mb4", collation="utf8mb4_bin")
        return mysql.LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin")

    def raw_type(self, longest: int) -> ColumnType:
        """Bytes, in a type that an index takes where they are few."""
        if longest <= _LONGEST_VARBINARY:
            return sa.VARBINARY(longest)
        return sa.LargeBinary(longest)


class MariaDBValues(MySQLValues):
    """Values of MariaDB, whose decimals are longer."""

    longest_decimal = (65, 38)


def _field(column: Any) -> Field:
    """TINYINT(1) is how MySQL spells BOOLEAN; a text without a character set is binary."""
    kind = _KINDS.get(column.type_code, Kind.OTHER)
    unsigned = bool(column.flags & _UNSIGNED) or column.type_code == _BIT
    padded = bool(column.flags & _ZEROFILL) or column.type_code in (_YEAR, _BIT)
    if kind == Kind.TEXT and column.charsetnr == _BINARY:
        return Field(column.name, Kind.OTHER)
    if column.type_code == _TINY and column.length == 1:
        return Field(column.name, Kind.BOOLEAN)
    if kind == Kind.DECIMAL:
        digits = column.length - (not unsigned) - (column.scale > 0)
        return Field(column.name, kind, digits, column.scale, padded=padded)
    return Field(column.name, kind, unsigned=unsigned, padded=padded)


def _shortest_single(text: str) -> str | None:
    """The shortest decimal that is this single."""
    import numpy as np

    return shortest_double(str(np.float32(text)))
