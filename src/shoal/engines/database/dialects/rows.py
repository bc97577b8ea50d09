"""Rows by the driver's cursor: a query as Arrow batches, and Arrow batches by INSERT."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from shoal.errors import BadData

if TYPE_CHECKING:
    from shoal.engines.database.connection import Connection

BATCH = 50_000
"""Rows that are sent at once."""


def fetch(
    connection: Connection, query: sa.Select[Any], schema: pa.Schema
) -> Generator[pa.RecordBatch, None, None]:
    """The rows of a query, many at once; the cursor stays on the server where there is one."""
    streaming = connection.connection.execution_options(stream_results=True, max_row_buffer=BATCH)
    with streaming.exec_driver_sql(connection.sql(query)) as found:
        for rows in found.partitions(BATCH):
            columns = zip(*rows, strict=True)
            arrays = [_array(values, field) for values, field in zip(columns, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def insert(connection: Connection, table: sa.Table, batches: Iterable[pa.RecordBatch]) -> None:
    """One INSERT for many rows; the names of the parameters are ours."""
    keys = [f"p{i}" for i in range(len(table.columns))]
    values = {
        column: sa.bindparam(key, type_=column.type)
        for column, key in zip(table.columns, keys, strict=True)
    }
    statement = sa.insert(table).values(values)
    for part in sliced(batches):
        columns = [column.to_pylist() for column in part.columns]
        rows = [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
        connection.interruptible(
            lambda rows=rows: connection.connection.execute(statement, rows)  # type: ignore[misc]
        )


def sliced(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches in parts of at most BATCH rows."""
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH):
            yield batch.slice(start, BATCH)


def _array(values: tuple[Any, ...], field: pa.Field) -> pa.Array:
    """Values of a driver as an Arrow array of a type."""
    convert = next((made for test, made in _CONVERSIONS if test(field.type)), None)
    try:
        if convert is None:
            return pa.array(values, field.type)
        return pa.array([None if v is None else convert(v) for v in values], field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, ValueError, TypeError, decimal.InvalidOperation):
        raise BadData(
            f"column {field.name!r} holds values that are no {field.type}",
            code="mixed-types",
            hint="give a query that casts it to text",
        ) from None


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    return str(value)


def _boolean(value: Any) -> bool:
    if value not in (0, 1):
        raise ValueError
    return bool(value)


def _date(value: Any) -> datetime.date:
    return value if isinstance(value, datetime.date) else datetime.date.fromisoformat(value)


def _timestamp(value: Any) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value
    return datetime.datetime.fromisoformat(value)


_CONVERSIONS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[Any], Any]], ...] = (
    (pa.types.is_string, _text),
    (pa.types.is_boolean, _boolean),
    (pa.types.is_date, _date),
    (pa.types.is_timestamp, _timestamp),
    (pa.types.is_decimal, lambda value: decimal.Decimal(str(value))),
)
"""How a driver's value becomes one of an Arrow type, where Arrow does not convert it itself."""
