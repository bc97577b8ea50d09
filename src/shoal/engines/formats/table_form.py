"""The form of a table in the first rows of a file: which row has the names, which decimal mark.

Rows are lists of texts, null or empty where a cell is. Nothing here raises on any input.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from shoal.engines.formats.csv import has_header
from shoal.engines.formats.decimals import Decimals

Row: TypeAlias = Sequence[str | None]

MOST_TITLES = 100
"""The names of the columns are looked for in so many rows."""
MOST_ROWS = 1_000
"""So many rows show whether the first is unlike the others."""
NEARLY_ALL = 0.75
"""A row may have the names if it has so many cells with a value, as a share of the fullest row."""
MOSTLY = 0.8
"""A column has numbers with a decimal mark if this share of its texts are such numbers."""

_NUMBER_OR_DATE = re.compile(r"[-+]?[0-9][0-9.,:/eE+\-T ]*%?")
_COMMA, _POINT = Decimals(","), Decimals(".")


@dataclass(frozen=True)
class NamesRow:
    """Where the names of the columns are: in a row, counted from 1, or nowhere (0)."""

    row: int
    reason: str

    @property
    def header(self) -> bool | int:
        """The key of a source that says so."""
        return self.row if self.row > 1 else bool(self.row)


def filled(row: Row) -> int:
    """How many cells of a row have a value."""
    return sum(1 for cell in row if cell is not None and cell.strip())


def names_row(rows: Sequence[Row]) -> NamesRow:
    """The first row that is about as full as the fullest of the first rows, if it names columns.

    Titles fill a cell or two. Names fill every column, and records nearly every.
    """
    head = rows[:MOST_TITLES]
    fullest = max(map(filled, head), default=0)
    enough = max(2, NEARLY_ALL * fullest)
    first = next((i for i, row in enumerate(head) if filled(row) >= enough), None)
    if first is None or (first > 0 and not _all_named(head, first)):
        first = next((i for i, row in enumerate(head) if filled(row)), 0)
        if first > 0 and fullest < 2:
            return NamesRow(first + 1, "It is the first row that is not empty.")
    if first > 0:
        return NamesRow(first + 1, "The rows above it are titles: they fill fewer columns.")
    texts = [[cell or "" for cell in row] for row in rows[:MOST_ROWS] if filled(row)]
    if texts and not has_header(texts, ()):
        return NamesRow(0, "The first row looks like the rows below it.")
    return NamesRow(1, "The first row looks unlike the rows below it, or could be names.")


def _all_named(rows: Sequence[Row], number: int) -> bool:
    """Whether the cells of a row could be names: distinct, and most are no numbers or dates."""
    cells = [cell.strip() for cell in rows[number] if cell and cell.strip()]
    numbers = sum(bool(_NUMBER_OR_DATE.fullmatch(cell)) for cell in cells)
    return len(set(cells)) == len(cells) and numbers <= len(cells) / 2


@dataclass(frozen=True)
class DecimalMark:
    """The mark before decimals, None where numbers need none or it is not clear."""

    mark: str | None
    reason: str


def decimal_mark(columns: Iterable[Mapping[str, int]]) -> DecimalMark:
    """The decimal mark of the columns, each given as the records that have each of its texts.

    A comma, or a point where commas are between thousands. None where points alone are used, which
    needs no key, and where some columns have commas and others points.
    """
    found = Counter(_mark_of(column) for column in columns)
    comma, point, thousands = found["comma"], found["point"], found["thousands"]
    if comma and (point or thousands):
        reason = "Some columns have decimal commas and others decimal points, so none is assumed."
        return DecimalMark(None, reason)
    if comma:
        columns_have = "column has" if comma == 1 else "columns have"
        return DecimalMark(",", f"{comma} {columns_have} numbers with a decimal comma.")
    if thousands:
        columns_have = "column has" if thousands == 1 else "columns have"
        return DecimalMark(".", f"{thousands} {columns_have} numbers with commas for thousands.")
    return DecimalMark(None, "Numbers have a decimal point, or no decimals.")


def _mark_of(column: Mapping[str, int]) -> str | None:
    """What the numbers of a column show: decimals after a comma or a point, or thousands."""
    texts = {text.strip(): number for text, number in column.items() if re.search("[0-9]", text)}
    records = sum(texts.values())
    marked = {text: number for text, number in texts.items() if re.search("[.,]", text)}
    for mark, decimals, other in (("comma", _COMMA, "."), ("point", _POINT, ",")):
        fitting = sum(number for text, number in texts.items() if decimals.is_number(text))
        if not marked or fitting < MOSTLY * records:
            continue
        if any(_shows(text, "," if mark == "comma" else ".") for text in marked):
            grouped = mark == "point" and any(_has_thousands(text, other) for text in marked)
            return "thousands" if grouped else mark
        if mark == "point" and any(text.count(",") > 1 for text in marked):
            return "thousands"
    return None


def _shows(text: str, mark: str) -> bool:
    """Whether a number has decimals after a mark that cannot be one between thousands."""
    other = {",": ".", ".": ","}[mark]
    if not re.fullmatch(rf"[-+]?[0-9{re.escape(other)}'’ \u00a0\u202f]*\{mark}[0-9]+", text):
        return False
    whole, _, decimals = text.lstrip("+-").rpartition(mark)
    return other in whole or len(decimals) != 3 or whole in ("", "0")


def _has_thousands(text: str, mark: str) -> bool:
    return re.fullmatch(rf"[-+]?[1-9][0-9]{{0,2}}(?:\{mark}[0-9]{{3}})+\.[0-9]+", text) is not None
