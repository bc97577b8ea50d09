"""The rows of a sheet of a workbook, parsed as a stream: each cell is its text and its kind.

A sheet may have a million rows, so a cell must cost little: equal cells are converted once, and
nothing is kept of rows that were given.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Literal, NamedTuple, TypeAlias
from xml.parsers import expat

MOST_ROWS = 1_048_576
MOST_COLUMNS = 16_384
"""What a sheet can hold."""

Kind: TypeAlias = Literal["text", "number", "boolean", "time", "error"]
Style: TypeAlias = Literal["date", "duration"]


class Cell(NamedTuple):
    """A cell that has a value: as DuckDB writes one of its type, and what it is in the workbook."""

    text: str
    kind: Kind


Row: TypeAlias = Sequence[Cell | None]

NOT_AVAILABLE = "#N/A"
"""The error that says that there is no value: such a cell is empty."""
OUT_OF_RANGE = "#VALUE!"
"""What a spreadsheet shows for a date that it does not know."""

_BLOCK = 1 << 16
_MOST_CACHED = 200_000
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_DAY = datetime.timedelta(days=1)
_MILLISECOND = datetime.timedelta(milliseconds=1)


class BrokenSheet(Exception):
    """The XML of a sheet says something that no sheet can have."""


class LocalNames(dict[str, str]):
    """The names of elements without their prefixes."""

    def __missing__(self, name: str) -> str:
        self[name] = name.rpartition(":")[2]
        return self[name]


def new_parser() -> expat.XMLParserType:
    """A parser that refuses a document type, and with it every entity of its own."""

    def refuse(*_: object) -> None:
        raise BrokenSheet

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.buffer_text = True
    return parser


def column_number(letters: str) -> int:
    """0 for `A`, 25 for `Z`, 26 for `AA`."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def coordinate(row: int, column: int) -> str:
    """`B3` for the third row and the second column; rows are counted from 1, columns from 0."""
    letters = ""
    while column >= 0:
        column, letter = divmod(column, 26)
        letters, column = chr(ord("A") + letter) + letters, column - 1
    return f"{letters}{row}"


def text_cell(text: str) -> Cell:
    """A text, with the characters for which `_xHHHH_` stands, since XML cannot hold them."""
    return Cell(_ESCAPE.sub(_character, text) if "_x" in text else text, "text")


def _character(escape: re.Match[str]) -> str:
    code = int(escape[1], 16)
    return escape[0] if 0xD800 <= code < 0xE000 else chr(code)


class Cells:
    """Makes cells of what a sheet has: the text of a value, its type and its style.

    `styles` are those that show a number as a date or a duration, `epoch` is the day before the
    first one: 1904-01-01 in old workbooks of a Mac.
    """

    def __init__(
        self, texts: Sequence[Cell], styles: Mapping[str, Style], epoch: datetime.datetime
    ) -> None:
        self._texts = texts
        self._styles = styles
        self._epoch = epoch
        self._cached: dict[tuple[str, str, str | None], Cell | None] = {}

    def cell(self, value: str, kind: str, style: str | None) -> Cell | None:
        """The cell; None where it is empty."""
        if kind == "s":
            return self._texts[int(value)]
        key = (value, kind, style)
        try:
            return self._cached[key]
        except KeyError:
            pass
        if len(self._cached) == _MOST_CACHED:
            self._cached.clear()
        self._cached[key] = found = self._made(value, kind, style)
        return found

    def _made(self, value: str, kind: str, style: str | None) -> Cell | None:
        match kind:
            case "inlineStr":
                return text_cell(value)
            case _ if not value:
                return None
            case "n":
                return self._number(value, self._styles.get(style or "0"))
            case "str":
                return text_cell(value)
            case "b":
                return Cell("true" if int(value) else "false", "boolean")
            case "e":
                return None if value == NOT_AVAILABLE else Cell(value, "error")
            case "d" if ":" in value[:3]:
                return Cell(str(datetime.time.fromisoformat(value)), "time")
            case "d":
                return Cell(_shown(datetime.datetime.fromisoformat(value)), "time")
        raise BrokenSheet

    def _number(self, value: str, style: Style | None) -> Cell:
        """Whole numbers without a fraction, others in their shortest form; dates by their style."""
        number = int(value) if re.fullmatch("[+-]?[0-9]+", value) else float(value)
        if style is not None:
            try:
                return Cell(_shown(_time(number, style, self._epoch)), "time")
            except (OverflowError, ValueError):
                return Cell(OUT_OF_RANGE, "error")
        if isinstance(number, float) and number.is_integer() and abs(number) < 1e15:
            number = int(number)
        return Cell(str(number), "number")


def _time(
    number: float, style: Style, epoch: datetime.datetime
) -> datetime.datetime | datetime.time | datetime.timedelta:
    """A number of days, to the millisecond; one below 1 is a time of day.

    Sheets count a 29 February 1900, which there was not: days before it are one later.
    """
    exact = number * _DAY
    rounded = round(exact / _MILLISECOND) * _MILLISECOND
    if style == "duration":
        return rounded
    if 0 <= number < 1 and rounded < _DAY:
        return (datetime.datetime.min + rounded).time()
    lost = _DAY if 0 < number < 60 and epoch.year == 1899 else datetime.timedelta()
    return epoch + rounded + lost


def _shown(value: datetime.datetime | datetime.time | datetime.timedelta) -> str:
    is_day = isinstance(value, datetime.datetime) and value.time() == datetime.time()
    return str(value.date() if is_day and isinstance(value, datetime.datetime) else value)


def sheet_rows(stream: IO[bytes], cells: Cells) -> Iterator[Row]:
    """Every row up to the last that the sheet has, empty ones too; a row ends with its last cell.

    BrokenSheet, ValueError and errors of expat say that the sheet is none.
    """
    found: list[Row] = []
    parser = new_parser()
    handle = _handlers(parser, cells.cell, found.append)
    parser.StartElementHandler, parser.EndElementHandler = handle
    while block := stream.read(_BLOCK):
        parser.Parse(block, False)
        yield from found
        found.clear()
    parser.Parse(b"", True)
    yield from found


def _handlers(
    parser: expat.XMLParserType,
    make: Callable[[str, str, str | None], Cell | None],
    give: Callable[[Row], None],
) -> tuple[Callable[[str, dict[str, str]], None], Callable[[str], None]]:
    """What is done at the start and at the end of an element.

    Of a cell, `v` is its value and `t` the text of an inline one; a formula and the reading of a
    text (`rPh`) are passed over. Local variables are used, since this runs for every element.
    """
    names, columns = LocalNames(), _ColumnNumbers()
    parts: list[str] = []
    row: list[Cell | None] = []
    number, column, kind, style = 0, -1, "n", None
    in_cell = is_reading = has_text = False

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal row, number, column, kind, style, in_cell, is_reading, has_text
        name = names[name]
        if name == "c":
            parts.clear()
            in_cell, has_text = True, False
            kind, style = attributes.get("t", "n"), attributes.get("s")
            place = attributes.get("r")
            column = column + 1 if place is None else columns[place.rstrip("0123456789")]
        elif name == "v" or (name == "t" and in_cell and not is_reading):
            parser.CharacterDataHandler = parts.append
            has_text = name == "t"
        elif name == "row":
            row, column = [], -1
            at = int(attributes.get("r", number + 1))
            if not number < at <= MOST_ROWS:
                raise BrokenSheet
            for _ in range(number + 1, at):
                give([])
            number = at
        elif name == "rPh":
            is_reading = True

    def end(name: str) -> None:
        nonlocal in_cell, is_reading
        name = names[name]
        if name == "c":
            in_cell = False
            if parts or has_text:
                if not len(row) <= column < MOST_COLUMNS:
                    raise BrokenSheet
                while len(row) < column:
                    row.append(None)
                row.append(make("".join(parts), kind, style))
        elif name in ("v", "t"):
            parser.CharacterDataHandler = None
        elif name == "row":
            give(row)
        elif name == "rPh":
            is_reading = False

    return start, end


class _ColumnNumbers(dict[str, int]):
    """The numbers of columns by their letters."""

    def __missing__(self, letters: str) -> int:
        if not re.fullmatch("[A-Z]{1,3}", letters):
            raise BrokenSheet
        self[letters] = column_number(letters)
        return self[letters]
