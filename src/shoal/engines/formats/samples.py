"""A bounded part of a file: its first bytes, a few more from further down, and the cells in them.

What is guessed about a file is guessed from this alone, so it takes as long for a large file as for
a small one. The cells of each column are counted as texts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.formats.csv import rows_in, whole_lines
from shoal.engines.formats.table_form import Row, filled
from shoal.engines.formats.workbook import SheetName, Workbook

if TYPE_CHECKING:
    from shoal.engines.formats.sheet_rows import Row as Cells

HEAD = 1 << 20
"""Bytes that are read from the beginning of a file."""
WINDOWS, WINDOW = 8, 1 << 15
"""Further samples of a large file: how many, and bytes of each."""
RECORDS = 5_000
"""Records that are looked at in formats that are read record by record."""
FEW_ROWS, SHEET_ROWS, MOST_SHEETS = 60, 2_000, 30
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}

Columns: TypeAlias = Mapping[str, Mapping[str | None, int]]


def first_bytes(path: Path) -> list[bytes]:
    """The first bytes of a file, unpacked, and of a large one some from further down."""
    with path.open("rb") as file:
        magic = file.read(4)
    packing = next((name for mark, name in _PACKED.items() if magic.startswith(mark)), None)
    with pa.input_stream(str(path), compression=packing) as stream:
        samples = [stream.read(HEAD)]
    size = path.stat().st_size
    if packing is None and size > HEAD + WINDOWS * WINDOW:
        with path.open("rb") as file:
            for number in range(1, WINDOWS + 1):
                file.seek(HEAD + (size - HEAD - WINDOW) * number // WINDOWS)
                samples.append(file.read(WINDOW))
    return samples


def cells_by_column(rows: Iterable[Row], names: Row) -> Columns:
    """The texts of rows as wide as the names, counted by column."""
    width = len(names)
    counted: list[Counter[str | None]] = [Counter() for _ in names]
    for row in rows:
        if filled(row) and len(row) in (width, width + 1):
            for position in range(width):
                counted[position][row[position] or None] += 1
    return {
        f"{i} {name}": found for i, (name, found) in enumerate(zip(names, counted, strict=True))
    }


def rows_further_down(
    samples: Sequence[bytes], encoding: str, delimiter: str, quote: str
) -> Iterator[Row]:
    """Rows of the later samples, without those that the sample cuts."""
    for sample in samples[1:]:
        text = whole_lines(sample.decode(encoding, errors="replace"))
        yield from rows_in(text.partition("\n")[2], delimiter, quote)


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """The objects at the beginning of a text of JSON: one array, or one after the other."""
    decoder = json.JSONDecoder()
    position = 0
    for _ in range(RECORDS):
        while position < len(text) and text[position] in " \t\r\n[,\ufeff":
            position += 1
        try:
            found, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        if not isinstance(found, dict):
            return
        yield found


def columns_of_json(text: str) -> Columns:
    """The texts of the fields of the first objects."""
    columns: dict[str, Counter[str | None]] = {}
    for found in json_objects(text):
        for name, value in found.items():
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                columns.setdefault(name, Counter())[str(value)] += 1
    return columns


def columns_of_batches(batches: Iterable[pa.RecordBatch]) -> Columns:
    """The values of the columns of text and numbers in the first batches."""
    columns: dict[str, Counter[str | None]] = {}
    seen = 0
    for batch in batches:
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            kind = column.type
            if pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_number(kind):
                values = column.slice(0, RECORDS).to_pylist()
                texts = (None if value is None else str(value) for value in values)
                columns.setdefault(name, Counter()).update(texts)
        seen += batch.num_rows
        if seen >= RECORDS:
            break
    return columns


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def columns_of_parquet(path: Path) -> Columns:
    """The first records of the first row group."""
    with pq.ParquetFile(path) as file:
        return columns_of_batches(islice(file.iter_batches(batch_size=RECORDS), 1))


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook: its name, whether it is shown, and its first rows."""

    name: str
    is_shown: bool
    rows: Sequence[Cells]

    @property
    def cells(self) -> int:
        """Cells with a value in the rows that have at least two."""
        counts = (filled(row) for row in self.texts())
        return sum(count for count in counts if count > 1)

    def texts(self) -> list[Row]:
        """The rows as texts."""
        return [[cell and cell.text for cell in row] for row in self.rows]

    def only_texts(self) -> list[Row]:
        """The rows with those cells alone that hold a text in the workbook."""
        return [
            [cell.text if cell and cell.kind == "text" else None for cell in row]
            for row in self.rows
        ]


def sheets_of(path: Path, choose: Callable[[Sequence[Sheet]], str]) -> list[Sheet]:
    """The sheets of a workbook with a few rows each, and with many rows the one that is chosen."""
    with Workbook(path) as book:
        names = book.sheets[:MOST_SHEETS]
        found = [_sheet(book, each, FEW_ROWS) for each in names]
        chosen = choose(found)
        return [
            _sheet(book, name, SHEET_ROWS) if name.name == chosen else sheet
            for name, sheet in zip(names, found, strict=True)
        ]


def _sheet(book: Workbook, sheet: SheetName, most: int) -> Sheet:
    return Sheet(sheet.name, sheet.is_shown, list(islice(book.rows(sheet), most)))


def text_of(samples: Sequence[bytes], encoding: str) -> str:
    """The first sample as text without a mark; a line that is cut is left out."""
    text = samples[0].decode(encoding, errors="replace").removeprefix("\ufeff")
    return whole_lines(text) if len(samples[0]) == HEAD else text
