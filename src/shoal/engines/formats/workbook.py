"""What is in a workbook (.xlsx): its sheets, its shared texts, and which styles show dates.

A workbook is an archive of XML files, ISO/IEC 29500. Shared texts are held in memory, rows are not.
"""

from __future__ import annotations

import datetime
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from posixpath import dirname, join, normpath
from types import TracebackType
from typing import IO
from xml.parsers import expat

from shoal.engines.formats.sheet_rows import (
    BrokenSheet,
    Cell,
    Cells,
    LocalNames,
    Row,
    Style,
    new_parser,
    sheet_rows,
    text_cell,
)
from shoal.errors import BadData

SMALL, MOST_UNPACKED = 100_000_000, 200
"""A workbook with more bytes than this unpacks to at most so many times its size."""

_DATES = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
_DURATION = 46
"""Numbers of the built-in formats of dates and times, and of the one that shows a duration."""
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
"""Parts of a format that show no part of a value: quoted text, colours, conditions, locales."""
_BROKEN = (
    *(BrokenSheet, expat.ExpatError, ValueError, LookupError, zlib.error),
    *(zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError),
)
"""What reading a broken archive, or broken XML in it, raises."""
_EPOCH, _EPOCH_OF_MAC = datetime.datetime(1899, 12, 30), datetime.datetime(1904, 1, 1)


@dataclass(frozen=True)
class SheetName:
    """A sheet: its name, whether it is shown, and its part of the archive."""

    name: str
    is_shown: bool
    part: str


class Workbook:
    """An open workbook; close it, or use it in a `with` statement.

    What is broken is BadData, in whichever part of the archive it is.
    """

    def __init__(self, path: Path) -> None:
        check_unpacked_size(path)
        self._path = path
        self._archive = zipfile.ZipFile(path)
        try:
            self._open()
        except (*_BROKEN, StopIteration):
            self.close()
            raise unreadable(path) from None

    def _open(self) -> None:
        main = next(iter(self._related("").values()))
        related = self._related(main.part)
        epoch, sheets = _EPOCH, []
        for name, attributes in self._elements(main.part):
            if name == "workbookPr" and attributes.get("date1904") in ("1", "true"):
                epoch = _EPOCH_OF_MAC
            if name == "sheet":
                key = next(v for k, v in attributes.items() if k.rpartition(":")[2] == "id")
                shown = attributes.get("state", "visible") == "visible"
                if related[key].kind == "worksheet":
                    sheets.append(SheetName(attributes["name"], shown, related[key].part))
        self.sheets = tuple(sheets)
        parts = {each.kind: each.part for each in related.values()}
        styles = self._styles(parts["styles"]) if "styles" in parts else {}
        texts = self._texts(parts["sharedStrings"]) if "sharedStrings" in parts else []
        self._cells = Cells(texts, styles, epoch)

    def __enter__(self) -> Workbook:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._archive.close()

    def rows(self, sheet: SheetName) -> Iterator[Row]:
        """Every row of a sheet, empty ones too, as a stream."""
        try:
            with self._archive.open(sheet.part) as stream:
                yield from sheet_rows(stream, self._cells)
        except _BROKEN:
            raise unreadable(self._path) from None

    def _related(self, part: str) -> Mapping[str, _Related]:
        """The parts that a part refers to, by their keys; of the workbook itself, its main part."""
        folder, _, name = part.rpartition("/")
        found = {}
        for element, attributes in self._elements(join(folder, "_rels", f"{name}.rels")):
            kind = attributes.get("Type", "").rpartition("/")[2]
            if element == "Relationship" and (part or kind == "officeDocument"):
                target = normpath(join("/", dirname(part), attributes["Target"])).lstrip("/")
                found[attributes["Id"]] = _Related(kind, target)
        return found

    def _elements(self, part: str) -> Iterator[tuple[str, dict[str, str]]]:
        """The elements of a small part in their order, without prefixes, with their attributes."""
        found: list[tuple[str, dict[str, str]]] = []
        names = LocalNames()
        parser = new_parser()
        parser.StartElementHandler = lambda name, attributes: found.append(
            (names[name], attributes)
        )
        with self._archive.open(part) as stream:
            parser.ParseFile(stream)
        return iter(found)

    def _styles(self, part: str) -> dict[str, Style]:
        """The styles of cells, by their numbers, that show a date or a duration."""
        codes: dict[int, str] = {}
        found: dict[str, Style] = {}
        in_cells, number = False, 0
        for name, attributes in self._elements(part):
            if name == "numFmt" and "formatCode" in attributes:
                codes.setdefault(int(attributes.get("numFmtId", 0)), attributes["formatCode"])
            elif name == "cellXfs":
                in_cells = True
            elif in_cells and name == "xf":
                key = int(attributes.get("numFmtId", 0))
                style = _style_of(codes[key]) if key in codes else _built_in(key)
                if style is not None:
                    found[str(number)] = style
                number += 1
            elif in_cells and name in ("cellStyles", "dxfs", "tableStyles"):
                in_cells = False
        return found

    def _texts(self, part: str) -> list[Cell]:
        """The texts that cells share: the runs of each joined, without how they are read aloud."""
        found: list[Cell] = []
        with self._archive.open(part) as stream:
            _parse_texts(stream, found)
        return found


@dataclass(frozen=True)
class _Related:
    kind: str
    part: str


def _parse_texts(stream: IO[bytes], found: list[Cell]) -> None:
    names = LocalNames()
    parts: list[str] = []
    parser = new_parser()
    is_reading = False

    def start(name: str, _: dict[str, str]) -> None:
        nonlocal is_reading
        name = names[name]
        if name == "si":
            parts.clear()
        elif name == "t" and not is_reading:
            parser.CharacterDataHandler = parts.append
        elif name == "rPh":
            is_reading = True

    def end(name: str) -> None:
        nonlocal is_reading
        name = names[name]
        if name == "si":
            found.append(text_cell("".join(parts)))
        elif name == "t":
            parser.CharacterDataHandler = None
        elif name == "rPh":
            is_reading = False

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.ParseFile(stream)


def _built_in(number: int) -> Style | None:
    if number == _DURATION:
        return "duration"
    return "date" if number in _DATES else None


def _style_of(code: str) -> Style | None:
    """Whether a format shows a date or a duration: by the letters that stand for their parts."""
    shown = _LITERAL.sub("", code.partition(";")[0])
    if re.search(r"\[(h+|m+|s+)\]", shown, re.IGNORECASE):
        return "duration"
    if shown.strip().lower() == "general":
        return None
    return "date" if re.search("[dmhysDMHYS]", shown) else None


def check_unpacked_size(path: Path) -> None:
    """Refuse a workbook that unpacks to far more than it is: it would fill the memory.

    What is read of a part never exceeds the size that the archive states for it.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise unreadable(path) from None
    if unpacked > max(SMALL, MOST_UNPACKED * path.stat().st_size):
        raise BadData(
            f"{path} unpacks to {unpacked:,} bytes, far more than a workbook of its size has",
            code="unreadable-data",
            hint="open it in a spreadsheet and save it again, or give the table as CSV",
        )


def unreadable(path: Path) -> BadData:
    """The error for a file that is no workbook, or a broken one."""
    return BadData(
        f"{path} is not a workbook that can be read",
        code="unreadable-data",
        hint="check that the file is whole; an .xls file must be saved as .xlsx",
    )
