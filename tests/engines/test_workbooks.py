"""Workbooks as other programs write them: the rows are those that openpyxl reads."""

from __future__ import annotations

import datetime
import random
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.utils.datetime import MAC_EPOCH

from shoal.engines.formats.excel import ExcelReader
from shoal.engines.formats.sheet_rows import coordinate
from shoal.engines.formats.workbook import Workbook
from shoal.errors import BadData

FORMATS = (
    *("General", "0.00", "#,##0.00", "dd.mm.yyyy", "yyyy-mm-dd hh:mm", "h:mm", "[h]:mm:ss"),
    *('0.0 "days"', "[Red]0.00", "[$-407]d. mmmm yyyy", '"d"0', "[$EUR] 0.00", "mmm yy", "@"),
    *("0.0E+00", "0.00;[Red]dd", "\\d0", "[mm]:ss", "ss.000"),
)
BEGIN = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
END = "</sheetData></worksheet>"


def written(path: Path, epoch: datetime.datetime | None = None) -> Path:
    """Numbers in many formats, texts of many forms, and gaps between rows and cells."""
    dice = random.Random(4)
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    if epoch is not None:
        book.epoch = epoch
    values: list[float | int] = [
        0,
        0.5,
        1,
        58,
        59.25,
        60,
        61,
        1.0,
        45678,
        45678.123456,
        1e15,
        1e-7,
        -3,
    ]
    values += [2**60, 0.1, 99999999999, -0.5, 45678.999999999]
    for row, value in enumerate(values, 3):
        for column, code in enumerate(FORMATS, 2):
            if dice.random() < 0.9:
                sheet.cell(row, column, value).number_format = code
    texts: list[str | bool] = [
        "x",
        " two words ",
        "",
        "äöü €",
        "a\nb",
        "<&>",
        "007",
        "=1+1",
        "#N/A",
        True,
    ]
    for column, text in enumerate(texts, 1):
        sheet.cell(40, column * 3, text)
    sheet.merge_cells("A50:D51")
    sheet.cell(50, 1, "merged")
    book.create_sheet("Leer").sheet_state = "hidden"
    book.save(path)
    return path


def seen_by_openpyxl(path: Path) -> list[list[str | None]]:
    """The cells as the guide says that they are read."""

    def text(cell: Any) -> str | None:
        value = cell.value
        if value is None or value == "#N/A":
            return None
        if cell.data_type == "e":
            return str(value)
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        if isinstance(value, datetime.datetime) and value.time() == datetime.time():
            return str(value.date())
        return str(value)

    with path.open("rb") as file:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()
        return [[text(cell) for cell in row] for row in sheet.iter_rows()]


def seen(path: Path) -> list[list[str | None]]:
    with Workbook(path) as book:
        return [[cell and cell.text for cell in row] for row in book.rows(book.sheets[0])]


def without_ends(rows: list[list[str | None]]) -> list[list[str | None]]:
    for row in rows:
        while row and row[-1] is None:
            row.pop()
    return rows


@pytest.mark.filterwarnings("ignore:Cell:UserWarning")
@pytest.mark.parametrize("epoch", [None, MAC_EPOCH])
def test_rows_are_those_that_openpyxl_reads(
    epoch: datetime.datetime | None, tmp_path: Path
) -> None:
    path = written(tmp_path / "w.xlsx", epoch)
    expected = without_ends(seen_by_openpyxl(path))
    assert without_ends(seen(path)) == expected
    assert sum(len(row) for row in expected) > 300
    with Workbook(path) as book:
        assert [(s.name, s.is_shown) for s in book.sheets] == [("Sheet", True), ("Leer", False)]


def repacked(path: Path, to: Path, **parts: str) -> Path:
    """The workbook with other contents of some parts, named without their folder and ending.

    openpyxl shares no texts, and spreadsheets share all: the part with them is added.
    """
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"
    related = f'<Relationship Type="{kind}" Target="sharedStrings.xml" Id="texts"/></Relation'
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            stem = name.rpartition("/")[2].removesuffix(".xml")
            content = parts.get(stem, old.read(name).decode())
            if stem == "workbook.xml.rels":
                content = content.replace("</Relation", related)
            new.writestr(name, content)
        new.writestr("xl/sharedStrings.xml", parts.get("sharedStrings", "<sst/>"))
    return to


def small(path: Path) -> Path:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(["a", "b"])
    book.active.append(["shared", 1])
    book.save(path)
    return path


def test_prefixes_runs_readings_and_other_types_of_cells_are_known(tmp_path: Path) -> None:
    strings = (
        '<x:sst xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        "<x:si><x:r><x:t>al</x:t></x:r><x:r><x:t>pha</x:t></x:r>"
        "<x:rPh><x:t>never</x:t></x:rPh></x:si></x:sst>"
    )
    cells = (
        '<x:row><x:c t="s"><x:v>0</x:v></x:c>'
        '<x:c t="inlineStr"><x:is><x:r><x:t>be</x:t></x:r><x:r><x:t>ta</x:t></x:r>'
        "<x:rPh><x:t>never</x:t></x:rPh></x:is></x:c></x:row>"
        '<x:row r="3"><x:c r="B3" t="str"><x:f>"x"&amp;"y"</x:f><x:v>xy</x:v></x:c>'
        '<x:c r="D3" t="d"><x:v>2026-01-31T00:00:00</x:v></x:c><x:c t="d"><x:v>12:30</x:v></x:c>'
        '<x:c t="b"><x:v>0</x:v></x:c><x:c t="str"><x:f>1</x:f></x:c></x:row>'
    )
    sheet = (
        f"{BEGIN}{END}".replace("<", "<x:").replace("<x:/", "</x:").replace("xmlns=", "xmlns:x=")
    )
    sheet = sheet.replace("</x:sheetData>", f"{cells}</x:sheetData>")
    path = small(tmp_path / "plain.xlsx")
    path = repacked(path, tmp_path / "other.xlsx", sheet1=sheet, sharedStrings=strings)
    third = [None, "xy", None, "2026-01-31", "12:30:00", "false"]
    assert seen(path) == [["alpha", "beta"], [], third]


@pytest.mark.parametrize(
    "rows",
    [
        '<row r="2"/><row r="2"/>',
        '<row r="9999999"/>',
        '<row><c r="B1"><v>1</v></c><c r="A1"><v>1</v></c></row>',
        '<row><c r="1"><v>1</v></c></row>',
        '<row><c r="XFE1"><v>1</v></c></row>',
        "<row><c><v>many</v></c></row>",
        '<row><c t="s"><v>7</v></c></row>',
        '<row><c t="other"><v>7</v></c></row>',
        "<row><c><v>1</v></row>",
    ],
)
def test_a_sheet_that_cannot_be_one_is_refused(rows: str, tmp_path: Path) -> None:
    path = small(tmp_path / "plain.xlsx")
    path = repacked(path, tmp_path / "broken.xlsx", sheet1=f"{BEGIN}{rows}{END}")
    with pytest.raises(BadData) as caught:
        seen(path)
    assert caught.value.code == "unreadable-data"


@pytest.mark.parametrize("part", ["sheet1", "sharedStrings", "workbook", "styles"])
def test_no_part_may_have_a_document_type(part: str, tmp_path: Path) -> None:
    path = small(tmp_path / "plain.xlsx")
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>'
    with pytest.raises(BadData) as caught:
        seen(repacked(path, tmp_path / "bomb.xlsx", **{part: bomb}))
    assert caught.value.code == "unreadable-data"


def test_a_cut_workbook_is_refused_wherever_it_is_cut(tmp_path: Path) -> None:
    whole = small(tmp_path / "whole.xlsx").read_bytes()
    for end in range(0, len(whole), 211):
        (tmp_path / "cut.xlsx").write_bytes(whole[:end])
        with pytest.raises(BadData):
            list(ExcelReader().read(tmp_path / "cut.xlsx", {}))


def test_cells_are_named_as_spreadsheets_do() -> None:
    columns = (0, 25, 26, 51, 52, 701, 702, 16_383)
    names = ["A1", "Z1", "AA1", "AZ1", "BA1", "ZZ1", "AAA1", "XFD1"]
    assert [coordinate(1, column) for column in columns] == names
