"""Files as stores: CSV, JSON, Parquet, Excel and XML, written and read without Shoal."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import openpyxl
import pyarrow.parquet as pq
from openpyxl.cell import WriteOnlyCell

from prove.arrow import arrow, read_arrow
from prove.tables import Grid, Store, Table, empty


def csv_file(path: Path) -> Store:
    def write(rng: Random, table: Table) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(column.name for column in table.columns)
            writer.writerows([_text(cell) for cell in row] for row in table.rows)

    return Store(str(path), write, lambda: read_csv(path))


def read_csv(path: Path) -> Grid:
    with path.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file, strict=True)
    return Grid(tuple(names), tuple(tuple(cell or None for cell in row) for row in rows))


def _text(cell: Any) -> str:
    return "" if empty(cell) else str(cell)


def json_file(path: Path) -> Store:
    def plain(cell: Any) -> Any:
        return None if empty(cell) else cell if isinstance(cell, int | float) else str(cell)

    def write(rng: Random, table: Table) -> None:
        names = [column.name for column in table.columns]
        records = [dict(zip(names, map(plain, row), strict=True)) for row in table.rows]
        lines = (json.dumps(record, ensure_ascii=rng.random() < 0.5) for record in records)
        if path.suffix == ".jsonl":
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        else:
            path.write_text(f"[{','.join(lines)}]", encoding="utf-8")

    return Store(str(path), write, lambda: read_json(path, lines=path.suffix == ".jsonl"))


def read_json(path: Path, *, lines: bool) -> Grid:
    """Numbers with the digits that are written; a file of `lines` has a record in each."""
    text = path.read_text(encoding="utf-8")
    if lines:
        records = [json.loads(line, parse_float=Decimal) for line in text.split("\n") if line]
    else:
        records = json.loads(text, parse_float=Decimal)
    names = tuple(dict.fromkeys(name for record in records for name in record))
    return Grid(names, tuple(tuple(record.get(name) for name in names) for record in records))


def parquet_file(path: Path) -> Store:
    def write(rng: Random, table: Table) -> None:
        pq.write_table(arrow(rng, table), path)

    return Store(str(path), write, lambda: read_arrow(pq.ParquetFile(path).read()))


def excel_file(path: Path) -> Store:
    """A workbook; texts are marked as such, so that openpyxl makes no formula of `=1+1`."""

    def write(rng: Random, table: Table) -> None:
        book = openpyxl.Workbook(write_only=True)
        sheet = book.create_sheet("people")
        sheet.append([column.name for column in table.columns])
        for row in table.rows:
            cells = []
            for value in row:
                cell = WriteOnlyCell(sheet, None if empty(value) else value)
                if isinstance(value, str):
                    cell.data_type = "s"
                cells.append(cell)
            sheet.append(cells)
        book.save(path)

    return Store(str(path), write, lambda: read_excel(path))


def read_excel(path: Path) -> Grid:
    """The first sheet: cells as numbers, texts, booleans and times; short rows are filled up."""
    book = openpyxl.load_workbook(path)
    names, *rows = book.worksheets[0].iter_rows(values_only=True)
    return Grid(tuple(map(str, names)), tuple(rows))


def xml_file(path: Path, fields: str) -> Store:
    """XML whose fields are `elements` or `attributes`; a missing one is left out or empty."""
    attributes = fields == "attributes"

    def write(rng: Random, table: Table) -> None:
        root = ElementTree.Element("people")
        for row in table.rows:
            record = ElementTree.SubElement(root, "person")
            for column, cell in zip(table.columns, row, strict=True):
                if empty(cell) and rng.random() < 0.5 and record is not root[0]:
                    continue
                if attributes:
                    record.set(column.name, _text(cell))
                else:
                    ElementTree.SubElement(record, column.name).text = _text(cell)
        ElementTree.ElementTree(root).write(path, encoding="utf-8")

    location = {"path": str(path), "options": {"fields": fields}}
    return Store(location, write, lambda: read_xml(path, attributes=attributes))


def read_xml(path: Path, *, attributes: bool) -> Grid:
    """All fields are texts; the first record has every field."""
    records = [
        dict(record.attrib) if attributes else {field.tag: field.text for field in record}
        for record in ElementTree.parse(path).getroot()
    ]
    names = tuple(dict.fromkeys(name for record in records for name in record))
    rows = tuple(tuple(record.get(name) or None for name in names) for record in records)
    return Grid(names, rows)
