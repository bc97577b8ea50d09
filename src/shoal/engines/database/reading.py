"""The rows of a query as Arrow: by COPY from PostgreSQL, else by a cursor that streams."""

from __future__ import annotations

import datetime
import decimal
import io
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import csv

from shoal.engines.database.writing import BATCH
from shoal.errors import BadData

if TYPE_CHECKING:
    import sqlalchemy as sa

    from shoal.engines.database.session import Session


def read(
    session: Session, query: sa.Select[Any], schema: pa.Schema
) -> Generator[pa.RecordBatch, None, None]:
    """The rows of a query in batches, with the names and types of the schema."""
    batches = _copied if session.system == "postgresql" else _fetched
    with session.working():
        rows = batches(session, query, schema)
        while (batch := session.attend(lambda: next(rows, None))) is not None:
            yield batch


def _copied(session: Session, query: sa.Select[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """PostgreSQL writes CSV, Arrow reads it; an empty text is quoted, a null is not."""
    statement = f"COPY ({session.sql(query)}) TO STDOUT (FORMAT csv)" % ()
    names = [f"c{i}" for i in range(len(schema))]
    types = dict(zip(names, schema.types, strict=True))
    with session.driver.cursor() as cursor, cursor.copy(statement) as copy:
        blocks = iter(copy)
        first = next(blocks, None)
        if first is None:
            return
        rows = csv.open_csv(
            _Blocks(bytes(first), blocks),
            csv.ReadOptions(use_threads=False, block_size=1 << 24, column_names=names),
            csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            csv.ConvertOptions(
                column_types=types,
                null_values=[""],
                true_values=["t"],
                false_values=["f"],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        for batch in rows:
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)


class _Blocks(io.RawIOBase):
    """Blocks of bytes as a file."""

    def __init__(self, first: bytes, rest: Iterator[Any]) -> None:
        self._block = memoryview(first)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer as far as the blocks reach; 0 only at the end."""
        filled = 0
        while filled < len(buffer):
            if not self._block:
                block = next(self._rest, None)
                if block is None:
                    break
                self._block = memoryview(block)
            part = self._block[: len(buffer) - filled]
            buffer[filled : filled + len(part)] = part
            self._block = self._block[len(part) :]
            filled += len(part)
        return filled


def _fetched(
    session: Session, query: sa.Select[Any], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Rows of the driver, many at once; the cursor stays on the server where there is one."""
    connection = session.connection.execution_options(stream_results=True, max_row_buffer=BATCH)
    with connection.exec_driver_sql(session.sql(query)) as found:
        for rows in found.partitions(BATCH):
            columns = zip(*rows, strict=True)
            arrays = [_array(values, field) for values, field in zip(columns, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


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


def _day(value: Any) -> datetime.date:
    return value if isinstance(value, datetime.date) else datetime.date.fromisoformat(value)


def _moment(value: Any) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value
    return datetime.datetime.fromisoformat(value)


_CONVERSIONS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[Any], Any]], ...] = (
    (pa.types.is_string, _text),
    (pa.types.is_boolean, _boolean),
    (pa.types.is_date, _day),
    (pa.types.is_timestamp, _moment),
    (pa.types.is_decimal, lambda value: decimal.Decimal(str(value))),
)
"""How the values of SQLite and MySQL become those of an Arrow type, where it is not by itself."""
