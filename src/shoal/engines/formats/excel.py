"""Workbooks of Excel (.xlsx): read row by row with openpyxl, written cell by cell as text.

A release is written by hand: every cell is a text, so none is ever taken for a formula,
nothing shows who made the file and when, and the same records give the same bytes.
"""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.engines.formats.csv import no_header_row
from shoal.engines.formats.decimals import Decimals
from shoal.engines.formats.registry import BATCH
from shoal.errors import BadData, BadOutput, MissingExtra, did_you_mean, quoted

MOST_ROWS = 1_048_576
MOST_COLUMNS = 16_384
LONGEST = 32_767
"""What a sheet can hold: rows, columns, and characters in a cell."""
SHEET = "release"
SMALL, MOST_UNPACKED = 100_000_000, 200
"""A workbook with more bytes than this unpacks to at most so many times its size."""

_NOT_IN_SHEETS = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class ExcelReader:
    """Workbooks of Excel: the first sheet or the one named; its first row has the names.

    `header` names another row, or is `false` where no row has names. `decimal` is the mark before
    decimals in cells with text; cells with numbers need none.
    """

    endings = (".xlsx",)
    takes = ("sheet", "header", "decimal")

    def check(self) -> None:
        """Refuse to begin where openpyxl is not installed."""
        if find_spec("openpyxl") is None:
            raise MissingExtra(
                "Excel files need openpyxl, which is not installed",
                code="missing-driver",
                hint="install it: pip install 'shoal[excel]'",
            )

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        """The rows under the header, without those that have nothing in any cell."""
        return _batches(self._rows(path, options), path, self._layout(path, options))

    def read_stored(self, path: Path, options: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        """The same; in columns with cells of several kinds, each text begins with its kind."""
        layout = self._layout(path, options)
        kinds: dict[int, set[str]] = {}
        for row in islice(self._rows(path, options), layout.first_record, None):
            for position, cell in enumerate(row):
                if cell.value is not None:
                    kinds.setdefault(position, set()).add(_kind(cell.value))
        mixed = {position for position, found in kinds.items() if len(found) > 1}
        return _batches(self._rows(path, options), path, layout, mixed)

    def _layout(self, path: Path, options: Mapping[str, str]) -> _Layout:
        """What the options say; where no row has names, the widest row says how many there are."""
        decimal, header = options.get("decimal"), options.get("header", "true")
        if decimal not in (None, ",", ".") or not re.fullmatch(
            "true|false|[1-9][0-9]{0,6}", header
        ):
            raise _unknown_layout(path)
        decimals = None if decimal is None else Decimals(decimal)
        if header == "false":
            widths = (_width(row) for row in self._rows(path, options))
            return _Layout(None, decimals, max(widths, default=0))
        return _Layout(1 if header == "true" else int(header), decimals)

    def _rows(self, path: Path, options: Mapping[str, str]) -> Iterator[Sequence[Any]]:
        self.check()
        import openpyxl

        check_unpacked_size(path)
        with path.open("rb") as file:
            try:
                book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            except Exception:
                raise _unreadable(path) from None
            try:
                yield from _rows(book, path, options.get("sheet"))
            finally:
                book.close()


@dataclass(frozen=True)
class _Layout:
    """The number of the row with the names, None where the columns, `width` many, have none."""

    header: int | None
    decimals: Decimals | None
    width: int = 0

    @property
    def first_record(self) -> int:
        """How many rows are above the first record."""
        return self.header or 0

    def names(self, rows: Iterator[Sequence[Any]], path: Path) -> list[str]:
        """The names of the columns; `rows` goes on with the first record."""
        if self.header is None:
            return [f"column{i + 1}" for i in range(self.width)]
        names = _header(next(islice(rows, self.header - 1, None), ()), path)
        if self.header > 1 and not any(name.strip() for name in names):
            raise no_header_row(path, self.header)
        return names

    def text(self, cell: Any, path: Path) -> str | None:
        """A value as text; numbers in text with points for their decimals."""
        text = _text(cell, path)
        is_text = text is not None and isinstance(cell.value, str)
        return self.decimals.canonical(text) if self.decimals and text and is_text else text


def _width(row: Sequence[Any]) -> int:
    """How many cells a row has, up to the last that has a value."""
    return max((i + 1 for i, cell in enumerate(row) if cell.value is not None), default=0)


def _rows(book: Any, path: Path, sheet: str | None) -> Iterator[Sequence[Any]]:
    names = [each.title for each in book.worksheets]
    if not names or sheet not in (None, *names):
        raise BadData(
            f"no sheet {sheet!r} in {path}{did_you_mean(sheet or '', names)}",
            code="no-sheet",
            hint=f"its sheets are {quoted(names)}",
        )
    found = book.worksheets[0] if sheet is None else book[sheet]
    found.reset_dimensions()
    try:
        yield from found.iter_rows()
    except BadData:
        raise
    except Exception:
        raise _unreadable(path) from None


def _batches(
    rows: Iterator[Sequence[Any]], path: Path, layout: _Layout, mixed: Collection[int] = ()
) -> Iterator[pa.RecordBatch]:
    names = layout.names(rows, path)
    schema = pa.schema([(name, pa.string()) for name in names])
    batch: list[list[str | None]] = []
    for row in chain(rows, [None]):
        if row is None or len(batch) == BATCH:
            columns = list(zip(*batch, strict=True)) or [()] * len(names)
            arrays = [pa.array(column, pa.string()) for column in columns]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)
            batch = []
        if row is not None and any(cell.value is not None for cell in row):
            batch.append(_record(row, len(names), path, layout, mixed))


def _header(row: Sequence[Any], path: Path) -> list[str]:
    names = [_text(cell, path) or "" for cell in row]
    while names and not names[-1]:
        names.pop()
    return names


def _record(
    row: Sequence[Any], width: int, path: Path, layout: _Layout, mixed: Collection[int]
) -> list[str | None]:
    """A row as texts; a record of missing values alone is an empty text in the first cell."""
    if row[0].value == "" and all(cell.value is None for cell in row[1:]):
        return [None] * width
    values = [layout.text(cell, path) for cell in row]
    for position in mixed:
        if position < len(row) and values[position] is not None:
            values[position] = f"{_kind(row[position].value)} {values[position]}"
    for cell, value in zip(row[width:], values[width:], strict=True):
        if value:
            raise BadData(
                f"the cell {cell.coordinate} of {path} has a value, but its column has no name",
                code="unnamed-column",
                hint="name the column in the row of the names, or empty it; `header: 3` says that"
                " the third row has the names",
            )
    return [*values[:width], *[None] * (width - len(values))]


def _kind(value: Any) -> str:
    """The kind of value that a cell holds."""
    if isinstance(value, str | bool):
        return "text" if isinstance(value, str) else "boolean"
    return "number" if isinstance(value, int | float) else "time"


def _text(cell: Any, path: Path) -> str | None:
    """A value as text, as DuckDB writes those of its type; whole numbers without a fraction."""
    value = cell.value
    if value is None or cell.data_type == "e":
        _refuse_error(cell, path)
        return None
    if isinstance(value, str):
        return _ESCAPE.sub(_character, value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime):
        is_day = value.time() == datetime.time()
        return str(value.date() if is_day else value)
    return str(value)


def _refuse_error(cell: Any, path: Path) -> None:
    """#N/A says that there is no value; the other errors say that a formula is wrong."""
    if cell.value not in (None, "#N/A"):
        raise BadData(
            f"the cell {cell.coordinate} of {path} has the error {cell.value}",
            code="error-cell",
            hint="correct its formula, or empty the cell",
        )


def _character(escape: re.Match[str]) -> str:
    """The character behind `_xHHHH_`, by which sheets hold what XML cannot."""
    code = int(escape[1], 16)
    return escape[0] if 0xD800 <= code < 0xE000 else chr(code)


def check_unpacked_size(path: Path) -> None:
    """Refuse a workbook that unpacks to far more than it is: it would fill the memory.

    What is read of a part never exceeds the size that the archive states for it.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise _unreadable(path) from None
    if unpacked > max(SMALL, MOST_UNPACKED * path.stat().st_size):
        raise BadData(
            f"{path} unpacks to {unpacked:,} bytes, far more than a workbook of its size has",
            code="unreadable-data",
            hint="open it in a spreadsheet and save it again, or give the table as CSV",
        )


def _unknown_layout(path: Path) -> BadData:
    return BadData(
        f"the options of {path} are not those of a workbook",
        code="unknown-option",
        hint='`header` is true, false or the number of a row, `decimal` is "," or "."',
    )


def _unreadable(path: Path) -> BadData:
    return BadData(
        f"{path} is not a workbook that can be read",
        code="unreadable-data",
        hint="check that the file is whole; an .xls file must be saved as .xlsx",
    )


class ExcelWriter:
    """Workbooks of Excel: one sheet, every cell a text and never a formula."""

    endings = (".xlsx",)
    takes = ("sheet",)
    most = MOST_ROWS - 1

    def write(self, batches: pa.RecordBatchReader, path: Path, options: Mapping[str, str]) -> None:
        """Row by row into the archive, whose parts all have the same date."""
        sheet = _checked_sheet(options.get("sheet", SHEET))
        names = batches.schema.names
        if len(names) > MOST_COLUMNS:
            raise _beyond(f"{len(names):,} columns, but a sheet has {MOST_COLUMNS:,}")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in _PARTS.items():
                archive.writestr(_part(name), text.format(sheet=sheet))
            with archive.open(_part("xl/worksheets/sheet1.xml"), "w", force_zip64=True) as part:
                part.write(_SHEET_BEGIN.encode())
                part.write(_row(names, names).encode())
                rows = 1
                for batch in batches:
                    rows += batch.num_rows
                    if rows > MOST_ROWS:
                        raise _beyond(f"more than {MOST_ROWS - 1:,} records")
                    lines = (_row(values, names) for values in _records(batch))
                    part.write("".join(lines).encode())
                part.write(_SHEET_END.encode())


def _records(batch: pa.RecordBatch) -> Iterator[tuple[str | None, ...]]:
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _row(values: Sequence[str | None], names: Sequence[str]) -> str:
    """A row of cells; a record without any value has an empty text, so that it is still a row."""
    cells = "".join(
        "<c/>" if value is None else f'<c t="inlineStr"><is>{_cell(value, name)}</is></c>'
        for value, name in zip(values, names, strict=True)
    )
    if all(value is None for value in values):
        cells = '<c t="inlineStr"><is><t></t></is></c>'
    return f"<row>{cells}</row>\n"


def _cell(value: str, name: str) -> str:
    if len(value) > LONGEST:
        raise _beyond(f"a value of {len(value):,} characters in {name!r}")
    text = re.sub("_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", value)
    text = _NOT_IN_SHEETS.sub(lambda found: f"_x{ord(found[0]):04X}_", text).replace(
        "\r", "_x000D_"
    )
    return f'<t xml:space="preserve">{text.translate(_ESCAPED)}</t>'


def _checked_sheet(name: str) -> str:
    if (
        not 0 < len(name) <= 31
        or re.search(r"[\[\]:*?/\\{}<>&\"']", name)
        or not name.isprintable()
    ):
        raise BadOutput(
            f"{name!r} is no name of a sheet",
            code="unknown-option",
            hint="give at most 31 letters, digits and blanks",
        )
    return name


def _beyond(what: str) -> BadOutput:
    return BadOutput(
        f"the release has {what}, which a sheet of Excel cannot hold",
        code="too-many-records",
        hint="write CSV or Parquet",
    )


def _part(name: str) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    found.compress_type = zipfile.ZIP_DEFLATED
    return found


_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels"'
    ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/>'
    "</Types>",
    "_rels/.rels": f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_DOCUMENT}/officeDocument" Target="xl/workbook.xml"/>'
    "</Relationships>",
    "xl/workbook.xml": f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_DOCUMENT}">'
    '<sheets><sheet name="{sheet}" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_DOCUMENT}/worksheet" Target="worksheets/sheet1.xml"/>'
    "</Relationships>",
}
_SHEET_BEGIN = f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>\n'
_SHEET_END = "</sheetData></worksheet>\n"
