"""The table of a project as a Parquet file of the server: any rows of it are read at once.

The file is written once, by the task `profile`, files in the order of their rows, tables of a
database as the database gives them. Its row groups are small, so the rows at any offset cost one
or two of them, however long the table is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.web.refusals import TooLarge
from shoal.web.upload_kinds import MOST_COLUMNS, too_wide

if TYPE_CHECKING:
    from shoal.engines.base import Source

TABLE = "table.parquet"
"""The name of the file in the folder of its job."""
ROWS = 16_384
"""Rows of a row group."""
LONGEST = 300
"""Characters of a value that are shown."""


def copy_table(source: Source, path: Path, most: int) -> int:
    """Copy all records of a source to a file, and return how many there are.

    Columns whose values cannot be read are left out. More than `most` records are refused.
    """
    columns = [column.name for column in source.columns() if not column.fault]
    if len(columns) > MOST_COLUMNS:
        raise too_wide(len(columns))
    written = 0
    with (
        source.fetched(columns, {}) as batches,
        pq.ParquetWriter(path, batches.schema, compression="zstd") as writer,
    ):
        for table in _in_groups(batches):
            written += table.num_rows
            if written > most:
                raise too_many_rows(most)
            writer.write_table(table, row_group_size=ROWS)
    return written


def _in_groups(batches: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """The batches, joined to tables of about ROWS rows."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= ROWS:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def read_rows(
    path: Path, offset: int, count: int, columns: Sequence[str] | None = None
) -> list[list[str | None]]:
    """The values of some rows as text, None where missing; long texts are cut."""
    file = pq.ParquetFile(path)
    first, found = 0, []
    for group in range(file.num_row_groups):
        rows = file.metadata.row_group(group).num_rows
        if first < offset + count and offset < first + rows:
            table = file.read_row_group(group, columns=columns)
            start = max(0, offset - first)
            found.append(table.slice(start, offset + count - first - start))
        first += rows
        if first >= offset + count:
            break
    if not found:
        return []
    texts = [[_text(value) for value in column.to_pylist()] for column in pa.concat_tables(found)]
    return [list(row) for row in zip(*texts, strict=True)]


def _text(value: Any) -> str | None:
    if value is None or value == "":
        return None
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\N{HORIZONTAL ELLIPSIS}"


def too_many_rows(most: int) -> TooLarge:
    """A table with more records than the server takes."""
    return TooLarge(
        f"the table has more than the {most:,} records that this server takes",
        "upload fewer records, or ask the administrator for a higher limit",
    )
