"""The columns of a Parquet file, and those that DuckDB cannot read as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.base import LONGEST_DECIMAL
from shoal.engines.failures import check_names
from shoal.errors import BadData


def schema_of(path: Path) -> pa.Schema:
    """The columns of a Parquet file and their types."""
    try:
        schema = pq.read_schema(path).remove_metadata()
    except (pa.ArrowInvalid, OSError):
        raise BadData(
            f"{path} is not a Parquet file",
            code="unreadable-data",
            hint="see that the file is whole; or state its format:"
            f" source: {{path: {path}, format: csv}}",
        ) from None
    check_names(schema.names, str(path))
    return schema


def faults(schema: pa.Schema, paths: Sequence[Path]) -> dict[str, str]:
    """By name why columns of files with this schema cannot be read as they are."""
    found = {field.name: what for field in schema if (what := _fault(field.type))}
    for path in paths:
        for name in _cut_times(path, schema):
            found[name] = "its times (INT96) have nanoseconds, and microseconds can be read"
    return found


def _cut_times(path: Path, schema: pa.Schema) -> Iterator[str]:
    """The columns of times in an old type of Parquet of which DuckDB would cut nanoseconds."""
    times = [field.name for field in schema if field.type == pa.timestamp("ns")]
    if not times:
        return
    with pq.ParquetFile(path) as file:
        leaves = map(file.schema.column, range(len(file.schema)))
        stored = {leaf.path: leaf.physical_type for leaf in leaves}
        for name in times:
            batches = file.iter_batches(columns=[name]) if stored.get(name) == "INT96" else ()
            numbers = (batch.column(0).cast(pa.int64()) for batch in batches)
            if any(np.any(each.drop_null().to_numpy() % 1000) for each in numbers):
                yield name


def _fault(kind: pa.DataType) -> str:
    """Why DuckDB cannot read values of a type in a Parquet file as they are; empty if it can."""
    if pa.types.is_decimal(kind) and kind.precision > LONGEST_DECIMAL:
        return f"its decimals have up to {kind.precision} digits, and {LONGEST_DECIMAL} can be read"
    inner = (kind.field(i).type for i in range(kind.num_fields))
    return next(filter(None, map(_fault, inner)), "")
