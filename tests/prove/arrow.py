"""Random tables in Arrow and as frames of pandas and polars, and how to read them again."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import polars
import pyarrow as pa

from prove.tables import SERIAL, Column, Grid, Table


def read_arrow(table: pa.Table) -> Grid:
    columns = [column.to_pylist() for column in table.columns]
    return Grid(tuple(table.column_names), tuple(zip(*columns, strict=True)))


ARROW: dict[str, list[pa.DataType]] = {
    "integer": [pa.int64(), pa.float64(), pa.decimal128(20, 0)],
    "number": [pa.float64(), pa.float32()],
    "decimal": [pa.decimal128(10, 2), pa.decimal256(40, 2), pa.float64()],
    "truth": [pa.bool_()],
    "day": [pa.date32(), pa.timestamp("us")],
    "moment": [pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("us", tz="UTC")],
    "text": [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())],
}


def arrow(rng: Random, table: Table) -> pa.Table:
    """The table in Arrow, each column in one of the types that fit its kind."""
    arrays = [_array(rng, column) for column in table.columns]
    return pa.table(arrays, names=[column.name for column in table.columns])


def _array(rng: Random, column: Column) -> pa.Array:
    kind = pa.int64() if column.name == SERIAL else rng.choice(ARROW[column.kind])
    values: list[Any] = list(column.values)
    if pa.types.is_timestamp(kind) and column.kind == "day":
        return pa.array(values, pa.date32()).cast(kind)
    if pa.types.is_floating(kind):
        values = [None if cell is None else float(cell) for cell in values]
    if pa.types.is_dictionary(kind):
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, kind)


def frame(rng: Random, table: Table) -> Any:
    """A frame of pandas, polars or Arrow."""
    made = arrow(rng, table)
    makers: list[Callable[[pa.Table], Any]] = [
        lambda it: it,
        lambda it: polars.from_arrow(_narrow(it)),
        pa.Table.to_pandas,
        lambda it: it.to_pandas(types_mapper=pd.ArrowDtype),
        lambda it: it.to_pandas().convert_dtypes(),
    ]
    return rng.choice(makers)(made)


def _narrow(table: pa.Table) -> pa.Table:
    """The table without the decimals of 256 bits, which polars does not have."""
    wide = [f.with_type(pa.decimal128(38, 2)) if pa.types.is_decimal256(f.type) else f
            for f in table.schema]  # fmt: skip
    return table.cast(pa.schema(wide))


def read_frame(frame: Any) -> Grid:
    if isinstance(frame, pd.DataFrame):
        columns = [frame[name].tolist() for name in frame.columns]
        return Grid(tuple(frame.columns), tuple(zip(*columns, strict=True)))
    if isinstance(frame, polars.DataFrame):
        return Grid(tuple(frame.columns), tuple(frame.rows()))
    return read_arrow(frame)
