"""A column of a table, view or query: its name, its kind, and its type in Arrow.

The kind decides how a value is spelled as text. Each dialect finds it in its own way, see
`Values.described` in `dialects/values.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import sqlalchemy as sa


class Kind(StrEnum):
    """What a column holds. An instant is a timestamp with a time zone."""

    TEXT = "text"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    SINGLE = "single"
    REAL = "real"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    INSTANT = "instant"
    OTHER = "other"


@dataclass(frozen=True)
class Field:
    """A column as the database describes it.

    `exact` is its type with digits or a length, where an expression of it would lose them;
    `declared` is the database's own name of the type, where the dialect needs it. A `padded` number
    is displayed in another form than as a number.
    """

    name: str
    kind: Kind
    precision: int | None = None
    scale: int | None = None
    unsigned: bool = False
    exact: sa.types.TypeEngine[Any] | None = None
    declared: str = ""
    padded: bool = False

    def arrow(self) -> pa.DataType:
        """The Arrow type that holds all its values; text where there is none."""
        if self.kind == Kind.DECIMAL and self.precision and self.precision <= 38:
            return pa.decimal128(self.precision, self.scale or 0)
        if self.kind == Kind.INTEGER and self.unsigned:
            return pa.uint64()
        return _ARROW.get(self.kind, pa.string())


_ARROW: Mapping[Kind, pa.DataType] = MappingProxyType(
    {
        Kind.BOOLEAN: pa.bool_(),
        Kind.INTEGER: pa.int64(),
        Kind.SINGLE: pa.float32(),
        Kind.REAL: pa.float64(),
        Kind.DATE: pa.date32(),
        Kind.TIMESTAMP: pa.timestamp("us"),
        Kind.INSTANT: pa.timestamp("us", "UTC"),
    }
)
