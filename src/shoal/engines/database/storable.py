"""What a table of a database holds of an Arrow column: a type of its own, or text.

A type is taken only where it holds every value of the column as it is. What none does is stored as
the text that was counted: decimals and unsigned numbers that SQLite would make doubles, times with
a zone where the database has none, lists. A single value that the type cannot hold is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from shoal.engines.database.writing import MYSQL, text_type
from shoal.engines.duckdb.session import Session as Duck
from shoal.errors import BadOutput

LONGEST_DECIMALS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"sqlite": (15, 15), "mysql": (65, 30), "mariadb": (65, 38), "postgresql": (1000, 1000)}
)
"""The most digits of a decimal, and after the point; SQLite has doubles, which hold 15 digits."""
_FIRST, _AFTER_LAST = -719162, 2932897
"""Days from 1970-01-01 to 0001-01-01, and to 10000-01-01: the years that all databases have."""
OTHER_YEARS = "dates outside of the years 1 to 9999"


def column_type(system: str, kind: pa.DataType) -> sa.types.TypeEngine[Any]:
    """The type of a column for an Arrow type; text where there is none that holds every value."""
    return _type(system, kind) or text_type(system)


def _type(system: str, kind: pa.DataType) -> sa.types.TypeEngine[Any] | None:
    if pa.types.is_boolean(kind):
        return sa.Boolean()
    if pa.types.is_uint64(kind):
        large: dict[str, sa.types.TypeEngine[Any]] = {"postgresql": sa.Numeric(20, 0)}
        return large.get(system) or (mysql.BIGINT(unsigned=True) if system in MYSQL else None)
    if pa.types.is_integer(kind):
        return sa.BigInteger()
    if pa.types.is_decimal(kind):
        digits, scale = LONGEST_DECIMALS.get(system, (38, 38))
        fits = kind.precision <= digits and 0 <= kind.scale <= min(scale, kind.precision)
        return sa.Numeric(kind.precision, kind.scale) if fits else None
    if pa.types.is_float64(kind):
        return sa.Double()
    if pa.types.is_floating(kind):
        single = mysql.FLOAT() if system in MYSQL else sa.REAL()
        return sa.Double() if system == "sqlite" else single
    return _type_of_times(system, kind)


def _type_of_times(system: str, kind: pa.DataType) -> sa.types.TypeEngine[Any] | None:
    if pa.types.is_date(kind):
        return sa.Date()
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return sa.DateTime(timezone=True) if system in ("postgresql", "mssql", "oracle") else None
    if pa.types.is_timestamp(kind):
        return mysql.DATETIME(fsp=6) if system in MYSQL else sa.DateTime()
    if pa.types.is_time(kind):
        return mysql.TIME(fsp=6) if system in MYSQL else sa.Time()
    return None


def storable(system: str, name: str, rows: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """The batches in types that the database has; `name` is what messages call the table."""
    with closing(Duck()) as duck:
        for batch in rows:
            columns = [
                _column(system, name, field, column, duck)
                for field, column in zip(batch.schema, batch.columns, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _column(system: str, name: str, field: pa.Field, column: pa.Array, duck: Duck) -> pa.Array:
    kind = field.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    if _type(system, kind) is None:
        return _texts(duck, column)
    if pa.types.is_floating(kind):
        if system in MYSQL and pc.any(pc.is_inf(column)).as_py():
            raise unstorable(field.name, name, "infinite numbers")
        # The double with the same shortest text; SQLite has no singles.
        return column if system != "sqlite" or pa.types.is_float64(kind) else _widened(column)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        _check_years(column, field.name, name)
    if pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        return _in_microseconds(column, field.name, name)
    return column


def _texts(duck: Duck, column: pa.Array) -> pa.Array:
    """The texts that DuckDB gives the values, which are those that every engine counts by."""
    duck.register("shoal_column", pa.table({"c": column}))
    return duck.table("SELECT CAST(c AS VARCHAR) FROM shoal_column").column(0).combine_chunks()


def _widened(column: pa.Array) -> pa.Array:
    """Singles as the doubles that have the same shortest decimals."""
    return column.cast(pa.float32()).cast(pa.string()).cast(pa.float64())


def _check_years(column: pa.Array, name: str, table: str) -> None:
    days = pc.cast(column, pa.date32(), safe=False).view(pa.int32())
    least, greatest = pc.min_max(days).values()
    if least.is_valid and not _FIRST <= least.as_py() <= greatest.as_py() < _AFTER_LAST:
        raise unstorable(name, table, OTHER_YEARS)


def _in_microseconds(column: pa.Array, name: str, table: str) -> pa.Array:
    kind = column.type
    if kind.unit != "ns":
        return column
    whole = pa.time64("us") if pa.types.is_time(kind) else pa.timestamp("us", kind.tz)
    try:
        return column.cast(whole)
    except pa.ArrowInvalid:
        raise unstorable(name, table, "nanoseconds") from None


def unstorable(column: str, table: str, what: str, code: str = "unstorable-value") -> BadOutput:
    """The error for values that a column of the output cannot hold."""
    return BadOutput(
        f"column {column!r} has {what}, which {table} cannot hold",
        code=code,
        hint="make the column text in the source, drop it, or write to another kind of output",
    )
