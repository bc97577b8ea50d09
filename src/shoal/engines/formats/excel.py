"""Workbooks of Excel (.xlsx): read row by row, written cell by cell as text.

A release is written by hand: every cell is a text, so none is ever taken for a formula,
nothing shows who made the file and when, and the same records give the same bytes.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path

import pyarrow as pa

from shoal.engines.formats.csv import no_header_row
from shoal.engines.formats.decimals import Decimals
from shoal.engines.formats.registry import BATCH
from shoal.engines.formats.sheet_rows import MOST_COLUMNS, MOST_ROWS, Cell, Row, coordinate
from shoal.engines.formats.workbook import Workbook
from shoal.errors import BadData, BadOutput, did_you_mean, quoted

LONGEST = 32_767
"""How many characters a cell can hold."""
SHEET = "release"

_MOST_CACHED = 1 << 16
_NOT_IN_SHEETS = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class ExcelReader:
    """Workbooks of Excel: the first sheet or the one named; its first row has the names.

    `header` names another row, or is `false` where no row has names. `decimal` is the mark before
    decimals in cells with text; cells with numbers need none.
    """

    endings = (".xlsx",)
    takes = ("sheet", "header", "decimal")

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        """The rows under the header, without those that have nothing in any cell."""
        return _batches(_rows(path, options), path, _layout(path, options))

    def read_stored(self, path: Path, options: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        """The same; in columns with cells of several kinds, each text begins with its kind."""
        layout = _layout(path, options)
        kinds: dict[int, set[str]] = {}
        for row in islice(_rows(path, options), layout.first_record, None):
            for position, cell in enumerate(row):
                if cell is not None:
                    kinds.setdefault(position, set()).add(cell.kind)
        mixed = {position for position, found in kinds.items() if len(found) > 1}
        return _batches(_rows(path, options), path, layout, mixed)


def _rows(path: Path, options: Mapping[str, str]) -> Iterator[Row]:
    """The rows of the sheet that the options name."""
    with Workbook(path) as book:
        stated, names = options.get("sheet"), [sheet.name for sheet in book.sheets]
        if not names or stated not in (None, *names):
            raise BadData(
                f"no sheet {stated!r} in {path}{did_you_mean(stated or '', names)}",
                code="no-sheet",
                hint=f"its sheets are {quoted(names)}",
            )
        yield from book.rows(book.sheets[0 if stated is None else names.index(stated)])


def _layout(path: Path, options: Mapping[str, str]) -> _Layout:
    """What the options say; where no row has names, the widest row says how many there are."""
    decimal, header = options.get("decimal"), options.get("header", "true")
    if decimal not in (None, ",", ".") or not re.fullmatch("true|false|[1-9][0-9]{0,6}", header):
        raise BadData(
            f"the options of {path} are not those of a workbook",
            code="unknown-option",
            hint='`header` is true, false or the number of a row, `decimal` is "," or "."',
        )
    canonical = None if decimal is None else lru_cache(_MOST_CACHED)(Decimals(decimal).canonical)
    if header == "false":
        return _Layout(None, canonical, max(map(_width, _rows(path, options)), default=0))
    return _Layout(1 if header == "true" else int(header), canonical)


def _width(row: Row) -> int:
    """How many cells a row has, up to the last that has a value."""
    return max((i + 1 for i, cell in enumerate(row) if cell is not None), default=0)


@dataclass(frozen=True)
class _Layout:
    """The number of the row with the names, None where the columns, `width` many, have none.

    `canonical` gives a number in text a point for its decimals.
    """

    header: int | None
    canonical: Callable[[str], str] | None
    width: int = 0

    @property
    def first_record(self) -> int:
        """How many rows are above the first record."""
        return self.header or 0

    def names(self, rows: Iterator[Row], path: Path) -> list[str]:
        """The names of the columns; `rows` goes on with the first record."""
        if self.header is None:
            return [f"column{i + 1}" for i in range(self.width)]
        row = next(islice(rows, self.header - 1, None), ())
        _refuse_errors(row, self.header, path)
        names = ["" if cell is None else cell.text for cell in row]
        while names and not names[-1]:
            names.pop()
        if self.header > 1 and not any(name.strip() for name in names):
            raise no_header_row(path, self.header)
        return names

    def text(self, cell: Cell | None) -> str | None:
        """A value as text; numbers in text with points for their decimals."""
        if cell is None:
            return None
        return self.canonical(cell.text) if self.canonical and cell.kind == "text" else cell.text


def _batches(
    rows: Iterator[Row], path: Path, layout: _Layout, mixed: Collection[int] = ()
) -> Iterator[pa.RecordBatch]:
    names = layout.names(rows, path)
    schema = pa.schema([(name, pa.string()) for name in names])
    batch: list[list[str | None]] = []
    for number, row in enumerate(chain(rows, [None]), layout.first_record + 1):
        if row is None or len(batch) == BATCH:
            columns = list(zip(*batch, strict=True)) or [()] * len(names)
            arrays = [pa.array(column, pa.string()) for column in columns]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)
            batch = []
        if row:
            _refuse_errors(row, number, path)
            _refuse_unnamed(row, len(names), number, path)
            batch.append(_record(row, len(names), layout, mixed))


def _record(row: Row, width: int, layout: _Layout, mixed: Collection[int]) -> list[str | None]:
    """A row as texts; a record of missing values alone is an empty text in the first cell."""
    if len(row) == 1 and row[0] is not None and not row[0].text:
        return [None] * width
    values = [layout.text(cell) for cell in row[:width]]
    for position in mixed:
        cell = row[position] if position < len(values) else None
        if cell is not None:
            values[position] = f"{cell.kind} {values[position]}"
    return values + [None] * (width - len(values))


def _refuse_errors(row: Row, number: int, path: Path) -> None:
    """#N/A says that there is no value; the other errors say that a formula is wrong."""
    for column, cell in enumerate(row):
        if cell is not None and cell.kind == "error":
            raise BadData(
                f"the cell {coordinate(number, column)} of {path} has the error {cell.text}",
                code="error-cell",
                hint="correct its formula, or empty the cell",
            )


def _refuse_unnamed(row: Row, width: int, number: int, path: Path) -> None:
    """A value in a column without a name cannot be released or left out."""
    for column in range(width, len(row)):
        cell = row[column]
        if cell is not None and cell.text:
            raise BadData(
                f"the cell {coordinate(number, column)} of {path} has a value, but its column has"
                " no name",
                code="unnamed-column",
                hint="name the column in the row of the names, or empty it; `header: 3` says that"
                " the third row has the names",
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
