"""Parquet files: their columns, and tables of many files in folders named `column=value`.

Hive, Spark and others read such folders too. The values of such columns are in the names of the
folders alone, spelled as in a URL. They are text; a missing one has the name that Hive gives it.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.failures import LONGEST_DECIMAL, check_names
from shoal.engines.local_files import from_home
from shoal.errors import BadData

if TYPE_CHECKING:
    from shoal.engines.options import FileTarget

MISSING = "__HIVE_DEFAULT_PARTITION__"
"""What a missing value is in the name of a folder."""


def schema_of(path: Path) -> pa.Schema:
    """The columns of a Parquet file and their types."""
    try:
        schema = pq.read_schema(path).remove_metadata()
    except (pa.ArrowInvalid, OSError):
        raise BadData(
            f"{path} is not a Parquet file",
            code="unreadable-data",
            hint="check that the file is whole; or state its format:"
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


def parquet_below(folder: Path) -> list[Path]:
    """The Parquet files of a folder and those below it, sorted; hidden ones are left out."""
    found = (path for path in folder.rglob("*.parquet") if path.is_file())
    return sorted(
        path
        for path in found
        if not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    )


def fixed_folder(pattern: str) -> Path:
    """The folder under which partitions are looked for: a glob up to its first magic character."""
    path = from_home(pattern)
    if path.is_dir():
        return path
    fixed = [part for part in (path, *path.parents) if not glob.has_magic(str(part))]
    return path.parent if path.exists() else fixed[0]


def partitions_of(path: Path, root: Path) -> Mapping[str, str | None]:
    """The columns that the folders between a root and a file name, None for missing."""
    pairs = (part.partition("=") for part in path.relative_to(root).parts[:-1] if "=" in part)
    return {
        unquote(name): None if value in (MISSING, "") else unquote(value)
        for name, _, value in pairs
        if name
    }


def write_folder(rows: pa.RecordBatchReader, folder: Path, target: FileTarget) -> None:
    """Write records in their order to as many files as the target asks for.

    Records that share the values of the partition columns must come together, and these columns be
    text. A file is full when it has reached the size: a batch is never split for it. Without any
    record there is one file, with all columns.
    """
    written = False
    kept = [name for name in rows.schema.names if name not in target.partition_by]
    schema = pa.schema([rows.schema.field(name) for name in kept])
    with closing(_Files(folder, schema, target.file_size)) as files:
        for batch in rows:
            for start, stop in _runs(batch, target.partition_by):
                part = batch.slice(start, stop - start)
                values = [part.column(name)[0].as_py() for name in target.partition_by]
                files.write(_folder_of(target.partition_by, values), part.select(kept))
                written = True
    if not written:
        pq.write_table(rows.schema.empty_table(), folder / _file_name(0), compression="zstd")


class _Files:
    """The file that is being written, and the next ones."""

    def __init__(self, root: Path, schema: pa.Schema, size: int | None) -> None:
        self._root, self._schema, self._size = root, schema, size
        self._folder: Path | None = None
        self._number = 0
        self._file: Any = None
        self._writer: pq.ParquetWriter | None = None

    def write(self, folder: Path, records: pa.RecordBatch) -> None:
        """Write records that belong to a folder; the folders come one after the other."""
        if folder != self._folder:
            self.close()
            self._folder, self._number = folder, 0
        if self._writer is None:
            (self._root / folder).mkdir(parents=True, exist_ok=True)
            path = self._root / folder / _file_name(self._number)
            self._file = pa.OSFile(str(path), "wb")
            self._writer = pq.ParquetWriter(self._file, self._schema, compression="zstd")
        self._writer.write_batch(records)
        if self._size is not None and self._file.tell() >= self._size:
            self.close()
            self._number += 1

    def close(self) -> None:
        """End the file that is being written, if there is one."""
        if self._writer is not None:
            self._writer.close()
            self._file.close()
            self._writer = None


def _file_name(number: int) -> str:
    return f"part-{number:05}.parquet"


def _folder_of(names: Sequence[str], values: Sequence[str | None]) -> Path:
    pairs = zip(names, values, strict=True)
    return Path(*(f"{quote(n, safe=' ')}={_spelled(value)}" for n, value in pairs))


def _spelled(value: str | None) -> str:
    return MISSING if value is None else quote(value, safe=" ,;+@")


def _runs(batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where runs of records with equal values begin and end."""
    changes = np.zeros(max(len(batch) - 1, 0), dtype=bool)
    for name in names:
        codes = batch.column(name).dictionary_encode(null_encoding="encode").indices.to_numpy()
        changes |= codes[1:] != codes[:-1]
    bounds = [0, *(np.flatnonzero(changes) + 1).tolist(), len(batch)]
    return pairwise(bounds) if len(batch) else iter(())
