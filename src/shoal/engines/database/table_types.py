"""The columns of a new table for an Arrow stream: a type of the database for each, or text.

A type is taken only where it holds every value of the column as it is. Otherwise the column is
stored as the text that was counted: decimals and unsigned numbers that SQLite would make doubles,
times with a zone where the database has none, lists. A single value that the type cannot hold is an
error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.duckdb.session import Session as DuckSession
from shoal.errors import BadOutput

if TYPE_CHECKING:
    from shoal.engines.database.dialects.values import ColumnType, Values

_FIRST_DAY, _AFTER_LAST_DAY = -719162, 2932897
"""Days from 1970-01-01 to 0001-01-01, and to 10000-01-01: the years that all databases have."""
OTHER_YEARS = "dates outside of the years 1 to 9999"
"""What the error says of such values."""


def column_type(values: Values, kind: pa.DataType) -> ColumnType:
    """The type of a column for an Arrow type; text where there is none that holds every value."""
    return values.type_of(kind) or values.text_type()


def storable(values: Values, name: str, rows: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """The batches in types that the database has; `name` is what messages call the table."""
    with closing(DuckSession()) as duck:
        for batch in rows:
            columns = [
                _column(values, name, field, column, duck)
                for field, column in zip(batch.schema, batch.columns, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def unstorable(column: str, table: str, what: str, code: str = "unstorable-value") -> BadOutput:
    """The error for values that a column of the output cannot hold."""
    return BadOutput(
        f"column {column!r} has {what}, which {table} cannot hold",
        code=code,
        hint="make the column text in the source, drop it, or write to another kind of output",
    )


def _column(
    values: Values, name: str, field: pa.Field, column: pa.Array, duck: DuckSession
) -> pa.Array:
    kind = field.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    if values.type_of(kind) is None:
        return _texts(duck, column)
    if pa.types.is_floating(kind):
        if not values.holds_infinity and pc.any(pc.is_inf(column)).as_py():
            raise unstorable(field.name, name, "infinite numbers")
        return column if values.holds_singles or pa.types.is_float64(kind) else _widened(column)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        _check_years(column, field.name, name)
    if pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        return _in_microseconds(column, field.name, name)
    return column


def _texts(duck: DuckSession, column: pa.Array) -> pa.Array:
    """The texts that DuckDB gives the values, which are those that every engine counts by."""
    duck.register("shoal_column", pa.table({"c": column}))
    return duck.table("SELECT CAST(c AS VARCHAR) FROM shoal_column").column(0).combine_chunks()


def _widened(column: pa.Array) -> pa.Array:
    """Singles as the doubles that have the same shortest decimals."""
    return column.cast(pa.float32()).cast(pa.string()).cast(pa.float64())


def _check_years(column: pa.Array, name: str, table: str) -> None:
    days = pc.cast(column, pa.date32(), safe=False).view(pa.int32())
    least, greatest = pc.min_max(days).values()
    if least.is_valid and not _FIRST_DAY <= least.as_py() <= greatest.as_py() < _AFTER_LAST_DAY:
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
